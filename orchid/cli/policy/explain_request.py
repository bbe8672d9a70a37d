"""`orchid policy explain --request`: one request decided, with every constraint it meets."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

import click

from orchid.cli.output import table
from orchid.cli.policy.reading import unknown_class
from orchid.engine.admission.request import Constraint, Decision
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
from orchid.engine.explanation import AskedError, Explanation, explain, read_asked
from orchid.engine.pricing import UnpricedModelError

LENGTHS = "An undeclared class has no lengths: give input_tokens and max_output_tokens."


def request_explained(document: PolicyDocument, words: str) -> dict[str, Any]:
    """The decision of `class=...,deadline_in_ms=...` as JSON values; ClickException for others."""
    try:
        found = explain(document, read_asked(_pairs(words), document))
    except (AskedError, UnpricedModelError) as error:
        raise click.ClickException(str(error)) from error
    data, unknown = as_data(found), unknown_class(found.asked.cls, document)
    if unknown is not None:
        data["unknown_class"] = f"{unknown} {LENGTHS}"
    return data


def _pairs(words: str) -> dict[str, str]:
    parts = [part for part in words.split(",") if part.strip()]
    bare = next((part for part in parts if "=" not in part), None)
    if bare is not None:
        raise AskedError(f"{bare.strip()!r} is no key=value; for example class=chat,load=80")
    return {key: value for key, _, value in (part.partition("=") for part in parts)}


def as_data(found: Explanation) -> dict[str, Any]:
    decision = found.decision
    return {
        "asked": asdict(found.asked),
        "fleet": {"running": found.running, "waiting": found.waiting, "places": found.places},
        "action": str(decision.action),
        "reason": str(decision.reason),
        "requested_route": decision.shape.route,
        "segment": dict(decision.shape.dimensions),
        "offer": _offer(decision),
        "refusal": _refusal(decision),
        "constraints": [_constraint(one) for one in decision.explained],
    }


def _offer(decision: Decision) -> dict[str, Any] | None:
    offer = decision.offer
    if offer is None:
        return None
    return {
        "route": offer.route,
        "replica": offer.replica,
        "waits": offer.wait,
        "output_tokens": offer.output_tokens,
        "teu": decimal_text(offer.teu),
        "live_tokens": offer.live_tokens,
        "queue_ms": offer.prediction.queue_ms,
        "completion_ms": offer.completion_ms,
        "deadline_ms": decision.shape.deadline_ms,
    }


def _refusal(decision: Decision) -> dict[str, Any] | None:
    refusal = decision.refusal
    if refusal is None:
        return None
    return {
        "retryable": refusal.retryable,
        "after_ms": refusal.after_ms,
        "budget": refusal.budget,
        "status": refusal.status,
    }


def _constraint(one: Constraint) -> dict[str, Any]:
    reason = None if one.reason is None else str(one.reason)
    return {"option": one.option, "step": one.step, "reason": reason, "text": one.text}


def request_text(data: dict[str, Any]) -> str:
    fleet = data["fleet"]
    lines = [
        f"{data['action']}: {data['reason'].replace('_', ' ')}",
        f"fleet: {fleet['running']:,} running in {fleet['places']:,} places,"
        f" {fleet['waiting']:,} waiting",
    ]
    if offer := data["offer"]:
        lines.append(
            f"served by {offer['route']}: {Decimal(offer['teu']):,f} TEU,"
            f" {offer['live_tokens']:,} live tokens,"
            f" {offer['completion_ms']:,.0f} of {offer['deadline_ms']:,.0f} ms"
            f" ({offer['queue_ms']:,.0f} ms in the queue)"
        )
    if refusal := data["refusal"]:
        after = refusal["after_ms"]
        waits = refusal["retryable"] and after is not None
        again = f"may come back after {after:,} ms" if waits else "should not try it again"
        lines.append(f"HTTP {refusal['status']}; the client {again}")
    if "unknown_class" in data:
        lines.append(data["unknown_class"])
    if not data["constraints"]:
        return "\n".join(lines)
    rows = [
        (c["option"], c["step"], c["reason"] or "passed", c["text"]) for c in data["constraints"]
    ]
    told = table(("option", "question", "answer", "arithmetic"), rows)
    return "\n".join([*lines, "", told])
