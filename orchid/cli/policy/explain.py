"""`orchid policy explain`: what a document promises and costs."""

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.explain_request import request_explained, request_text
from orchid.cli.policy.figures import DECIMAL
from orchid.cli.policy.reading import document_argument, figure, loaded, number, share
from orchid.engine.capacity import (
    Load,
    equal_price_share,
    safe_teu_per_s,
    trials,
)
from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import card, hourly_ledger_usd
from orchid.engine.headroom import headroom_ledger
from orchid.engine.pricing import demand_by_class, offered_requests_per_s

EXAMPLE = "class=chat,deadline_in_ms=900,load=80 (and tokens, tenant, any dimension)."


@click.command()
@click.argument("file", type=document_argument)
@click.option("--successes-per-s", type=DECIMAL, help="Default: what the attainment gate asks.")
@click.option("--request", "words", help=f"Decide one instead: {EXAMPLE}")
@json_option
def explain(file: Path, successes_per_s: Decimal | None, words: str | None, as_json: bool) -> None:
    """What FILE promises and costs, or what it does to one request.

    Demand, capacity, headroom and the price of a success.

    With --request: what would happen to one request, and every constraint that it meets.
    """
    document = loaded(file)
    if words is not None:
        answer = request_explained(document.document, words)
        show(answer, lambda: request_text(answer), as_json=as_json)
        return
    data = explained(document, successes_per_s)
    show(data, lambda: explained_text(data), as_json=as_json)


def explained(
    loaded_document: LoadedDocument, successes_per_s: Decimal | None = None
) -> dict[str, Any]:
    document = loaded_document.document
    least = Decimal(str(document.gates.attainment.min)) * offered_requests_per_s(document)
    priced = card(document, least if successes_per_s is None else successes_per_s)
    ledger, bound = hourly_ledger_usd(document), document.gates.cost_per_success_usd.max
    return {
        "product": document.product,
        "digest": loaded_document.digest,
        "demand": demand(document),
        "equal_price_share": equal_price_share(document),
        "capacity": {name: load(found) for name, found in trials(document).items()},
        "headroom": headroom(document),
        "ledger_usd_per_h": ledger,
        "cost_per_success_max_usd": bound,
        # At the bound, this rate of successes just pays the hour.
        "successes_needed_per_s": ledger / bound / 3600 if bound else None,
        "card": priced and {**asdict(priced), "within": priced.within},
    }


def demand(document: PolicyDocument) -> dict[str, dict[str, Any]]:
    """By class, with what one request takes of a second of the whole safe fleet."""
    capacity = safe_teu_per_s(document.fleet)
    return {
        name: {**asdict(found), "fleet_second_share": found.teu_per_request / capacity}
        for name, found in demand_by_class(document).items()
    }


def headroom(document: PolicyDocument) -> dict[str, Decimal]:
    """The declared lines of what isn't promised, in TEU a second."""
    ledger = headroom_ledger(document.fleet)
    return {line: ledger.teu_per_s(line) for line in ledger.lines} if ledger else {}


def load(found: Load) -> dict[str, Any]:
    return {**asdict(found), "headroom": found.headroom, "fits": found.fits}


def explained_text(data: dict[str, Any]) -> str:
    parts = [f"{data['product']} {data['digest']}", demand_text(data), capacity_text(data)]
    if data["headroom"]:
        rows = [(line, number(teu_per_s)) for line, teu_per_s in data["headroom"].items()]
        parts.append(table(("headroom kept for", "TEU/s"), rows))
    return "\n\n".join([*parts, price_text(data)])


def demand_text(data: dict[str, Any]) -> str:
    rows = [
        (
            name,
            figure(d["teu_per_request"]),
            figure(d["requests_per_s"]),
            figure(d["teu_per_s"]),
            share(d["share_of_teu"]),
            share(d["fleet_second_share"]),
        )
        for name, d in data["demand"].items()
    ]
    heads = ("class", "TEU a request", "requests/s", "TEU/s", "share of TEU", "of a fleet second")
    told = table(heads, rows)
    equal = share(data["equal_price_share"])
    return told if equal is None else f"{told}\nCounted alike, every request would be {equal}."


def capacity_text(data: dict[str, Any]) -> str:
    rows = [
        (
            name.replace("_", " "),
            figure(c["demand_teu_per_s"]),
            figure(c["capacity_teu_per_s"]),
            share(c["headroom"]),
            "yes" if c["fits"] else "no",
        )
        for name, c in data["capacity"].items()
    ]
    return table(("case", "demand TEU/s", "capacity TEU/s", "headroom", "fits"), rows)


def price_text(data: dict[str, Any]) -> str:
    told = (
        f"The fleet costs {data['ledger_usd_per_h']} USD an hour. A success may cost"
        f" {data['cost_per_success_max_usd']} USD"
    )
    needed = data["successes_needed_per_s"]
    if needed is None:
        return f"{told}, so no rate of successes pays for it."
    return f"{told}, so {figure(needed)} successes a second pay for it.{card_text(data['card'])}"


def card_text(priced: dict[str, Any] | None) -> str:
    """The policy card's line: its figures end after eight digits and are never rounded up."""
    if priced is None:
        return ""
    word = "reserve" if priced["within"] else "over the gate by"
    return (
        f"\nAt {number(priced['successes_per_s'])} successes a second"
        f" ({share(priced['attainment']) or 'no'} attainment): card ${priced['card_usd']:f},"
        f" {word} {abs(priced['card_reserve_usd']):f}."
    )
