"""`orchid rollback`: back to what was live before, or a rehearsal of it."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, short, show, table
from orchid.cli.product import named, product_option

PASS, FAIL, INCONCLUSIVE = 0, 1, 2
ASK_EVERY_S = 0.25
EXIT = {"passed": PASS, "failed": FAIL}


@click.command()
@product_option
@click.option("--reason", help="Why; it stays in the audit trail. A rollback needs one.")
@click.option("--to", type=int, help="Number of a publication; default: the one before.")
@click.option("--drill", is_flag=True, help="Rehearse it with every edge; nothing is published.")
@json_option
def rollback(
    product: str | None, reason: str | None, to: int | None, drill: bool, as_json: bool
) -> int:
    """Publish what was live before as a new admission generation.

    With --drill it is rehearsed: exit code 0 when every edge could have activated it, 1 when one
    would refuse it, 2 when one didn't answer.
    """
    if drill and to:
        raise click.UsageError("A drill rehearses the next rollback; it takes no --to.")
    api, slug = Api(), named(product)
    if drill:
        return _rehearsed(api, slug, reason or "", as_json)
    if not reason:
        raise click.UsageError("A rollback needs a --reason for whoever is next.")
    asked: Json = {"reason": reason} | ({"to": to} if to else {})
    made = api.post(f"/api/v1/products/{slug}/rollbacks", asked)
    show(made, lambda: rollback_text(made), as_json=as_json)
    return PASS


def rollback_text(made: Json) -> str:
    digest = short(made["incumbent_digest"])
    return f"Admission generation {made['number']} ({made['kind']}) serves {digest} again."


def _rehearsed(api: Api, slug: str, reason: str, as_json: bool) -> int:
    """Start a drill, or join the one that runs, and wait for its answers or its deadline."""
    drill = api.post(f"/api/v1/products/{slug}/drills", {"reason": reason})
    while drill["state"] == "running":
        api.pause(ASK_EVERY_S)
        drill = api.get(f"/api/v1/drills/{drill['id']}")
    show(drill, lambda: drill_text(drill), as_json=as_json)
    return EXIT.get(drill["state"], INCONCLUSIVE)


def drill_text(drill: Json) -> str:
    """The verdict in a line, then every edge."""
    took = drill["took_ms"]
    measured = f": {took:,.0f} ms to the last of {len(drill['answers'])} edges" if took else ""
    lines = [
        f"Drill {drill['id']} {drill['state']}{measured}; {short(drill['digest'])} on pool "
        f"{drill['pool']}, nothing was published."
    ]
    if drill["silent"]:
        lines.append(f"Not asked, for they were silent: {', '.join(drill['silent'])}.")
    headings = ("edge", "answer", "after ms", "fetch ms", "prepare ms", "replicas", "reason")
    rows = [
        (
            one["edge"],
            one["state"],
            _ms(one["after_ms"]),
            _ms(one["fetch_ms"]),
            _ms(one["prepare_ms"]),
            one["replicas"],
            one["reason"],
        )
        for one in drill["answers"]
    ]
    return "\n".join([*lines, table(headings, rows)])


def _ms(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
