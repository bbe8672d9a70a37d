"""`orchid rollback`: back to what was live before, or a rehearsal of it."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, short, show, table
from orchid.cli.product import named, product_option

PASS, FAIL, INCONCLUSIVE = 0, 1, 2
ASK_EVERY_S = 0.25
EXIT = {"passed": PASS, "failed": FAIL}
READY = {"ready": PASS, "not_ready": FAIL}


@click.command()
@product_option
@click.option("--reason", help="Why; it stays in the audit trail. A rollback needs one.")
@click.option("--to", type=int, help="Number of a publication; default: the one before.")
@click.option("--drill", is_flag=True, help="Rehearse it with every edge; nothing is published.")
@click.option("--ready", is_flag=True, help="Only look whether the way back is ready.")
@json_option
def rollback(
    product: str | None,
    reason: str | None,
    to: int | None,
    drill: bool,
    ready: bool,
    as_json: bool,
) -> int:
    """Publish what was live before as a new admission generation.

    With --drill it is rehearsed: exit code 0 when every edge could have activated it, 1 when one
    would refuse it, 2 when one didn't answer. With --ready it is looked at: 0 ready, 1 not, 2
    unknown.
    """
    if (drill or ready) and to:
        raise click.UsageError("--drill and --ready are about the next rollback; without --to.")
    api, slug = Api(), named(product)
    if ready:
        found = api.get(f"/api/v1/products/{slug}/rollback-readiness")
        show(found, lambda: ready_text(found), as_json=as_json)
        return READY.get(found["readiness"] or "not_ready", INCONCLUSIVE)
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


def ready_text(found: Json) -> str:
    """What would be restored, and each fact that its readiness rests on."""
    if found["restores"] is None:
        return f"Nothing to roll back: {found['why_not']}"
    lines = [
        f"{found['readiness'].replace('_', ' ').capitalize()}: generation {found['generation']}"
        f" ({short(found['restores'])}) on pool {found['pool']} would be restored."
    ]
    rows = [(one["name"], one["state"].replace("_", " "), one["text"]) for one in found["checks"]]
    return "\n".join([*lines, table(("check", "state", "found"), rows)])


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
