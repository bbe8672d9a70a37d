"""`orchid publications`: every admission generation of a product, with who made it and why."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, more, short, show, table
from orchid.cli.product import named, product_option


@click.command()
@product_option
@cursor_option
@json_option
def publications(product: str | None, cursor: str | None, as_json: bool) -> None:
    """Publications, newest first: their numbers are what `orchid rollback --to` takes."""
    answer = Api().get(f"/api/v1/products/{named(product)}/publications", cursor=cursor)
    show(answer, lambda: _table(answer), as_json=as_json)


def _table(answer: Json) -> str:
    if not answer["items"]:
        return "Nothing is published yet."
    head = ("number", "kind", "serves", "candidate", "exposure", "published at", "by", "reason")
    rows = [
        (
            one["number"],
            one["kind"],
            short(one["incumbent_digest"]),
            short(one["candidate_digest"]),
            f"{100 * one['fraction']:g} %" if one["candidate_digest"] else None,
            one["published_at"],
            one["actor"],
            one["reason"],
        )
        for one in answer["items"]
    ]
    return table(head, rows) + more(answer)
