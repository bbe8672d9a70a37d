"""`orchid notice`: what was told of a product, to whom, and telling it again."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, more, show, table
from orchid.cli.product import named, product_option


@click.group()
def notice() -> None:
    """Look at what was told and whether it arrived; send a delivery again."""


@notice.command("list")
@product_option
@cursor_option
@json_option
def listed(product: str | None, cursor: str | None, as_json: bool) -> None:
    """Notices, newest first, each with its deliveries: their numbers are what `resend` takes."""
    answer = Api().get(f"/api/v1/products/{named(product)}/notices", cursor=cursor)
    show(answer, lambda: _table(answer), as_json=as_json)


@notice.command()
@click.argument("delivery", type=click.IntRange(min=1))
@product_option
@json_option
def resend(delivery: int, product: str | None, as_json: bool) -> None:
    """Begin the tries of DELIVERY anew. For product owners."""
    at = f"/api/v1/products/{named(product)}/deliveries/{delivery}/resend"
    row = Api().post(at, {})
    show(row, lambda: f"Delivery {row['id']} to {row['to']} is sent again.", as_json=as_json)


def _table(answer: Json) -> str:
    """A line for each delivery, for that is what has a state; a notice to nobody has one too."""
    if not answer["items"]:
        return "Nothing was told yet."
    head = ("made at", "kind", "delivery", "to", "state", "tries", "answer", "title")
    nobody: Json = dict.fromkeys(("id", "to", "state", "tries", "words"))
    rows = [
        (
            one["made_at"],
            one["kind"],
            *(sent[name] for name in nobody),
            one["title"],
        )
        for one in answer["items"]
        for sent in one["deliveries"] or [nobody]
    ]
    return table(head, rows) + more(answer)
