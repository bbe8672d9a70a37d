"""`orchid drills`: every rehearsal of a rollback, and what each edge answered."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, more, short, show, table
from orchid.cli.product import named, product_option
from orchid.cli.rollback import drill_text


@click.command()
@click.argument("number", type=click.IntRange(min=1), required=False)
@product_option
@cursor_option
@json_option
def drills(number: int | None, product: str | None, cursor: str | None, as_json: bool) -> None:
    """Rehearsals, newest first; with NUMBER that one and every edge's answer."""
    if number:
        if cursor:
            raise click.UsageError("--cursor is about the list; without NUMBER.")
        one = Api().get(f"/api/v1/drills/{number}")
        show(one, lambda: drill_text(one), as_json=as_json)
        return
    answer = Api().get(f"/api/v1/products/{named(product)}/drills", cursor=cursor)
    show(answer, lambda: _table(answer), as_json=as_json)


def _table(answer: Json) -> str:
    if not answer["items"]:
        return "Nothing was rehearsed yet: orchid rollback --drill."
    head = ("number", "state", "digest", "pool", "took ms", "edges", "started at", "by", "reason")
    rows = [
        (
            one["id"],
            one["state"],
            short(one["digest"]),
            one["pool"],
            None if one["took_ms"] is None else f"{one['took_ms']:,.0f}",
            len(one["answers"]),
            one["started_at"],
            one["actor"],
            one["reason"],
        )
        for one in answer["items"]
    ]
    return table(head, rows) + more(answer)
