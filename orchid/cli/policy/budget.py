"""`orchid policy budget`: does a feature fit its deadline, and what does it cost?"""

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import folded, json_option, show, table
from orchid.cli.policy.figures import MILLISECONDS, MOST_TOKENS, SHARE, TOKENS
from orchid.cli.policy.reading import document_argument, figure, loaded, share
from orchid.engine.cascade import Work, both_calls
from orchid.engine.document.model import PolicyDocument
from orchid.engine.feature_cost import CostTable, Repeats, cost_table
from orchid.engine.latency_budget import Feature, LatencyBudget, latency_budget
from orchid.engine.pricing import CapCrossed, class_price, cross_cap, reserve, settle
from orchid.engine.routing import class_route
from orchid.engine.timing import deadline_ms

BOUNDS = "Every term is a bound; percentiles of stages are never added up."


@click.command()
@click.argument("file", type=document_argument)
@click.option("--class", "name", help="One class; default: all.")
@click.option("--cached", default=0, type=TOKENS, help="Prompt tokens in a prefix cache.")
@click.option("--input", "input_tokens", type=TOKENS, help="Instead of the class's.")
@click.option(
    "--output", "output_tokens", type=click.IntRange(1, MOST_TOKENS), help="Instead of its cap."
)
@click.option("--network-ms", default=0.0, type=MILLISECONDS, help="Between services.")
@click.option("--retrieval-ms", default=0.0, type=MILLISECONDS, help="Before the model.")
@click.option("--queue-ms", type=MILLISECONDS, help="Default: the wait that FILE aims at.")
@click.option("--prefix", default=0, type=TOKENS, help="Tokens of a stable prefix.")
@click.option("--hit-rate", default="0.9", show_default=True, type=SHARE, help="Of the prefix.")
@click.option("--escalation", default="0.25", show_default=True, type=SHARE, help="To large.")
@json_option
def budget(
    file: Path,
    name: str | None,
    cached: int,
    prefix: int,
    hit_rate: Decimal,
    escalation: Decimal,
    as_json: bool,
    **asked: Any,
) -> None:
    """Time to an answer against its deadline, and its cost by route."""
    document = loaded(file).document
    if name is not None and name not in document.classes:
        raise click.UsageError(f"{name} is no class of it: {', '.join(document.classes)}")
    names = [name] if name is not None else list(document.classes)
    feature = Feature(cached_tokens=cached, **asked)
    repeats = Repeats(prefix, hit_rate, escalation)
    data = {
        "product": document.product,
        "note": BOUNDS,
        "classes": {one: of_class(document, one, feature, repeats) for one in names},
    }
    show(data, lambda: budget_text(data), as_json=as_json)


def of_class(
    document: PolicyDocument, name: str, feature: Feature, repeats: Repeats
) -> dict[str, Any]:
    found = latency_budget(document, name, feature)
    return {
        "route": class_route(document, name),
        "latency": found and latency(found),
        "both_calls": both(document, name, feature),
        "charge": charge(document, name),
        "cost": cost(cost_table(document, name, repeats)),
    }


def latency(found: LatencyBudget) -> dict[str, Any]:
    return {
        **asdict(found),
        "total_ms": found.total_ms,
        "spare_ms": found.spare_ms,
        "fits": found.fits,
        "dominant": found.dominant.name,
    }


def both(document: PolicyDocument, name: str, feature: Feature) -> dict[str, Any] | None:
    """Room for the small call and then the large one, where the document cascades this class."""
    cascade, traffic = document.routing.cascade, document.classes[name]
    if cascade is None or class_route(document, name) != cascade.large:
        return None
    tokens = feature.input_tokens if feature.input_tokens is not None else traffic.input_tokens
    cap = feature.output_tokens or traffic.max_output_tokens
    deadline = float(deadline_ms(document, name))
    calls = both_calls(document, cascade, Work(tokens, cap, deadline, feature.cached_tokens))
    if calls is None:
        return None
    return {**asdict(calls), "spare_ms": calls.spare_ms, "fits": calls.fits}


def charge(document: PolicyDocument, name: str) -> dict[str, Any] | None:
    """What admission holds, what comes back from a short answer, and the price of going on."""
    traffic, demand = document.classes[name], document.demand
    route, held = class_price(document, name)
    if route not in demand.model_factor:
        return None
    tokens, cap = traffic.input_tokens, traffic.max_output_tokens
    short = cap // 2
    half = settle(demand, reserve(demand, route, tokens, cap), route, tokens, short)
    crossed: CapCrossed = cross_cap(demand, half, route, tokens, cap, cap)
    return {
        "reserved_teu": held,
        "short_output_tokens": short,
        "used_teu": half.used,
        "refunded_teu": half.refunded,
        "continuation_teu": crossed.continuation.reserved,
        "continuation_input_tokens": crossed.input_tokens,
    }


def cost(found: CostTable) -> dict[str, Any]:
    return {**asdict(found), "cascade_pays": found.cascade_pays}


def budget_text(data: dict[str, Any]) -> str:
    parts = [class_text(name, found) for name, found in data["classes"].items()]
    return "\n\n".join([f"{data['product']}. {data['note']}", *parts])


def class_text(name: str, found: dict[str, Any]) -> str:
    lines = [f"{name} on {found['route']}"]
    lines += latency_lines(found["latency"])
    if calls := found["both_calls"]:
        room = f"{calls['spare_ms']:,.0f} ms spare" if calls["fits"] else "they don't both fit"
        lines.append(
            f"  small and then large: {calls['small_ms']:,.0f} + {calls['large_ms']:,.0f} ms"
            f" of {calls['deadline_ms']:,.0f}: {room}"
        )
    if held := found["charge"]:
        lines.append(
            f"  reserves {figure(held['reserved_teu'])} TEU; an answer of"
            f" {held['short_output_tokens']} tokens gives {figure(held['refunded_teu'])} back;"
            f" past the cap it stops, and going on costs {figure(held['continuation_teu'])} afresh"
        )
    lines += cost_lines(found["cost"])
    return "\n".join(folded(line, 4) for line in "\n".join(lines).splitlines())


def latency_lines(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return ["  its route declares no timing"]
    rows = [(t["name"], f"{t['ms']:,.1f}", t["text"]) for t in found["terms"]]
    rows.append(("together", f"{found['total_ms']:,.1f}", f"of {found['deadline_ms']:,.0f} ms"))
    word = "spare" if found["fits"] else "missing"
    return [
        indented(table(("term", "ms at most", ""), rows)),
        f"  {abs(found['spare_ms']):,.1f} ms {word}; {found['dominant']} takes most;"
        f" first token by {found['first_token_ms']:,.1f} ms, last by"
        f" {found['completion_ms']:,.1f} ms",
        f"  fits: an output of {found['largest_output']:,} tokens with this prompt,"
        f" or a prompt of {found['largest_input']:,} with this output",
    ]


def cost_lines(found: dict[str, Any]) -> list[str]:
    rows = [(r["way"], f"{r['uncached']:,.1f}", f"{r['cached']:,.1f}") for r in found["rows"]]
    lines = [indented(table((f"in input tokens of {found['large']}", "uncached", "cached"), rows))]
    if found["break_even"] is not None:
        pays = "pays" if found["cascade_pays"] else "costs more than it saves"
        lines.append(
            f"  {found['small']} first {pays}: {share(found['escalation'])} escalate,"
            f" break-even {share(found['break_even'])}"
        )
    if found["prefix_saving"] is not None:
        uses = found["prefix_from_use"]
        begins = f"from its use {uses}" if uses else "never"
        lines.append(
            f"  the prefix pays {begins}: {share(found['prefix_saving'])} less over"
            f" {found['uses']} uses"
        )
    return lines


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
