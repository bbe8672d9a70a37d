"""`orchid policy what-if`: a scenario on a document's declared demand and fleet."""

from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.reading import document_argument, loaded, number
from orchid.engine.capacity import WhatIf, examine
from orchid.engine.document.values import decimal_text
from orchid.engine.relief import Relief
from orchid.engine.scenario import EXAMPLES, ScenarioError, parse_scenario

CLOSES = {True: "yes", False: "no"}


@click.command("what-if", epilog="Scenarios: " + "; ".join(EXAMPLES) + ".")
@click.argument("file", type=document_argument)
@click.argument("scenario", nargs=-1, required=True)
@json_option
@click.pass_context
def what_if(ctx: click.Context, file: Path, scenario: tuple[str, ...], as_json: bool) -> None:
    """Load of FILE's fleet in a SCENARIO, and what would close a gap.

    Several scenarios are combined; where they don't fit, what to renegotiate is listed. Exit code:
    0 it fits, 1 it doesn't, 3 the words can't be read.
    """
    document = loaded(file).document
    try:
        found = examine(document, parse_scenario(scenario, document))
    except ScenarioError as error:
        raise click.ClickException(str(error)) from error
    data = {"product": document.product, **as_data(found)}
    show(data, lambda: what_if_text(data), as_json=as_json)
    ctx.exit(int(not found.fits))


def as_data(found: WhatIf) -> dict[str, Any]:
    """The figures as decimal text; a deficit of 0 is the fit."""
    load = found.load
    return {
        "classes": {
            name: {
                "requests_per_s_before": decimal_text(change.requests_per_s_before),
                "requests_per_s": decimal_text(change.requests_per_s),
                "teu_per_s_before": decimal_text(change.teu_per_s_before),
                "teu_per_s": decimal_text(change.teu_per_s),
            }
            for name, change in found.classes.items()
        },
        "demand_teu_per_s_before": decimal_text(found.before.demand_teu_per_s),
        "demand_teu_per_s": decimal_text(load.demand_teu_per_s),
        "capacity_teu_per_s_before": decimal_text(found.before.capacity_teu_per_s),
        "capacity_teu_per_s": decimal_text(load.capacity_teu_per_s),
        "spare_teu_per_s": decimal_text(load.spare_teu_per_s),
        "deficit_teu_per_s": decimal_text(load.deficit_teu_per_s),
        "fits": found.fits,
        "lost_routes": list(found.lost_routes),
        "allowed": [_relief(relief) for relief in found.allowed],
        "renegotiate": [_relief(relief) for relief in found.renegotiate],
    }


def _relief(relief: Relief) -> dict[str, Any]:
    return {
        "what": relief.what,
        "teu_per_s": decimal_text(relief.teu_per_s),
        "closes": relief.closes,
        "text": relief.text,
    }


def what_if_text(data: dict[str, Any]) -> str:
    parts = [f"{data['product']}: {_verdict(data)}", _classes(data)]
    if data["lost_routes"]:
        parts.append(f"No replica is left of {', '.join(data['lost_routes'])}.")
    for heading, key in (("The policy allows", "allowed"), ("To renegotiate", "renegotiate")):
        if data[key]:
            rows = [(CLOSES[r["closes"]], r["text"]) for r in data[key]]
            parts.append(table(("closes alone", heading), rows))
    return "\n\n".join(parts)


def _verdict(data: dict[str, Any]) -> str:
    demand, capacity = number(data["demand_teu_per_s"]), number(data["capacity_teu_per_s"])
    over = data["deficit_teu_per_s"] != "0"
    last = (
        "deficit " + number(data["deficit_teu_per_s"])
        if over
        else ("spare " + number(data["spare_teu_per_s"]))
    )
    return f"demand {demand} TEU/s, capacity {capacity}, {last}"


def _classes(data: dict[str, Any]) -> str:
    rows = [
        (
            name,
            number(c["requests_per_s_before"]),
            number(c["requests_per_s"]),
            number(c["teu_per_s_before"]),
            number(c["teu_per_s"]),
        )
        for name, c in data["classes"].items()
    ]
    total = ("together", "", "", *(number(data[f"demand_teu_per_s{w}"]) for w in ("_before", "")))
    return table(("class", "requests/s", "then", "TEU/s", "then"), [*rows, total])
