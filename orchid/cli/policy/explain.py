"""`orchid policy explain`: what a document promises and costs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.reading import document_argument, figure, loaded, share
from orchid.engine.capacity import Load, group_loss, steady
from orchid.engine.document.load import LoadedDocument
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.pricing import demand_by_class


@click.command()
@click.argument("file", type=document_argument)
@json_option
def explain(file: Path, as_json: bool) -> None:
    """What FILE promises and costs: demand, capacity, headroom and the price of a success."""
    data = explained(loaded(file))
    show(data, lambda: explained_text(data), as_json=as_json)


def explained(loaded_document: LoadedDocument) -> dict[str, Any]:
    document = loaded_document.document
    ledger, bound = hourly_ledger_usd(document), document.gates.cost_per_success_usd.max
    return {
        "product": document.product,
        "digest": loaded_document.digest,
        "demand": {name: asdict(demand) for name, demand in demand_by_class(document).items()},
        "capacity": {"steady": load(steady(document)), "group_loss": load(group_loss(document))},
        "ledger_usd_per_h": ledger,
        "cost_per_success_max_usd": bound,
        # At the bound, this rate of successes just pays the hour.
        "successes_needed_per_s": ledger / bound / 3600,
    }


def load(found: Load) -> dict[str, Any]:
    return {**asdict(found), "headroom": found.headroom, "fits": found.fits}


def explained_text(data: dict[str, Any]) -> str:
    demand = [
        (
            name,
            figure(d["teu_per_request"]),
            figure(d["requests_per_s"]),
            figure(d["teu_per_s"]),
            share(d["share_of_teu"]),
        )
        for name, d in data["demand"].items()
    ]
    capacity = [
        (
            name,
            figure(c["demand_teu_per_s"]),
            figure(c["capacity_teu_per_s"]),
            share(c["headroom"]),
            "yes" if c["fits"] else "no",
        )
        for name, c in data["capacity"].items()
    ]
    return "\n\n".join(
        [
            f"{data['product']} {data['digest']}",
            table(("class", "TEU a request", "requests/s", "TEU/s", "share of TEU"), demand),
            table(("case", "demand TEU/s", "capacity TEU/s", "headroom", "fits"), capacity),
            f"The fleet costs {data['ledger_usd_per_h']} USD an hour. A success may cost"
            f" {data['cost_per_success_max_usd']} USD, so {figure(data['successes_needed_per_s'])}"
            " successes a second pay for it.",
        ]
    )
