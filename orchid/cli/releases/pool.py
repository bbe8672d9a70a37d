"""`orchid pool`: what pools still hold, and letting one go."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, short, show, table
from orchid.cli.product import named, product_option
from orchid.cli.releases.moving import reason_option


@click.group()
def pool() -> None:
    """Look at reconciliation: open sequences by pool, and release one."""


@pool.command("list")
@product_option
@json_option
def listed(product: str | None, as_json: bool) -> None:
    """Each pool with its open sequences, and what keeps it."""
    answer = Api().get(f"/api/v1/products/{named(product)}/reconciliation")
    show(answer, lambda: _table(answer["items"]), as_json=as_json)


@pool.command()
@click.argument("generation", type=click.IntRange(min=1))
@product_option
@reason_option
@json_option
def release(generation: int, product: str | None, reason: str, as_json: bool) -> None:
    """Let the pool of GENERATION go; refused while a sequence is open or a cost isn't counted."""
    api, at = Api(), f"/api/v1/products/{named(product)}"
    found = api.get(f"{at}/reconciliation")["items"]
    of_it = [one for one in found if one["generation"] == generation]
    if not of_it:
        raise click.ClickException(
            f"No pool is of generation {generation}; orchid pool list shows them."
        )
    asked = {"digest": of_it[0]["digest"], "reason": reason}
    done = api.post(f"{at}/pool-releases", asked)
    said = f"Pool {done['pool']} of generation {generation} is released."
    show(done, lambda: said, as_json=as_json)


def _table(rows: list[Json]) -> str:
    if not rows:
        return "No pool is held."
    head = ("pool", "generation", "digest", "role", "open sequences", "kept by")
    shown = [
        (
            one["pool"],
            one["generation"],
            short(one["digest"]),
            one["role"],
            one["open_sequences"],
            "; ".join(kept["text"].rstrip(".") for kept in one["blockers"]),
        )
        for one in rows
    ]
    return table(head, shown)
