"""What commands that move something share: who is meant, why, and on which state it rests."""

from collections.abc import Iterable
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import more, table

number_argument = click.argument("number", type=click.IntRange(min=1))
reason_option = click.option(
    "--reason", required=True, help="Why; it stays in the audit trail for whoever is next."
)


def moved(api: Api, at: str, move: str, **body: Any) -> Json:
    """The move on what stands now: if it changes in between, the move is refused."""
    version = api.get(at)["version"]
    return api.post(f"{at}/{move}", {"expected_version": version, **body})


def listing(answer: Json, headings: Iterable[str], *names: str, none: str) -> str:
    """A page of rows by these names, and that there are more."""
    if not answer["items"]:
        return none
    rows = [[row.get(name) for name in names] for row in answer["items"]]
    return table(tuple(headings), rows) + more(answer)
