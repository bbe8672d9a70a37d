"""What the edge answers, as HTTP bodies."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.responses import Response

from orchid.edge.fleet import Fleet
from orchid.edge.pools import PoolEndpoint
from orchid.edge.problems import EdgeError
from orchid.edge.requests import due_ms
from orchid.edge.standing import Answer, Deferred, Granted, Refused, Settled
from orchid.engine.admission.request import Constraint, Decision

NO_BUNDLE_AFTER_MS = 2000


def answered(answer: Answer, fleet: Fleet, *, explain: bool) -> Response:
    """200 with the attempt, 202 with the deferral, else orchid.refusal/v1 under its status."""
    if isinstance(answer, Granted):
        endpoint = fleet.endpoint(answer.record.attempts[-1])
        body = _grant(answer, endpoint)
        return as_json(body | _constraints(answer.explained, explain=explain))
    if isinstance(answer, Deferred):
        return _deferral(answer, explain=explain)
    return _refusal(answer, explain=explain)


def _grant(granted: Granted, endpoint: PoolEndpoint | None) -> dict[str, Any]:
    record, decided = granted.record, granted.record.decision
    attempt = record.attempts[-1]
    assert decided is not None
    return {
        "attempt_id": granted.attempt_id,
        "attempt": len(record.attempts),
        "action": decided.action,
        "reason": decided.reason,
        "route": decided.route,
        "model": decided.route,
        "pool": attempt.pool,
        "replica": attempt.replica,
        "endpoints": {
            "grpc": endpoint.grpc if endpoint else None,
            "http": endpoint.http if endpoint else None,
        },
        "input_tokens": record.input_tokens,
        "max_output_tokens": decided.output_tokens,
        "early_stop": granted.early_stop,
        "reserved_teu": str(decided.teu),
        "deadline_at": moment(due_ms(record)),
        "publication": record.publication,
        "digest": record.digest,
        "cohort": record.cohort,
    }


def _deferral(deferred: Deferred, *, explain: bool) -> Response:
    """Kept under its id: ask again with `continues` after `after_ms` and up to `until`."""
    deferral = deferred.deferral
    body = {
        "deferred": deferral.id,
        "reason": deferred.decision.reason,
        "after_ms": deferral.after_ms,
        "until": moment(deferral.until_ms),
        "generation": deferred.digest,
    }
    body |= _constraints(deferred.decision.explained, explain=explain)
    return as_json(body, 202, _retry_after(deferral.after_ms))


def _refusal(refused: Refused, *, explain: bool) -> Response:
    """orchid.refusal/v1: the reason, whether and when to come back, whose limit it was.

    A refused request is over: who comes back does so under a new request_id.
    """
    decision = refused.decision
    refusal = decision.refusal if decision else None
    after_ms = refusal.after_ms if refusal else NO_BUNDLE_AFTER_MS
    body = {
        "schema": "orchid.refusal/v1",
        "reason": refusal.reason if refusal else "no_bundle",
        "retryable": refusal.retryable if refusal else True,
        "after_ms": after_ms,
        "budget": refusal.budget if refusal else None,
        "scope": refusal.scope if refusal else "fleet",
        "generation": refused.digest,
        "explained": _reasons(decision),
    }
    if decision is not None:
        body |= _constraints(decision.explained, explain=explain)
    return as_json(body, refusal.status if refusal else 503, _retry_after(after_ms))


def _reasons(decision: Decision | None) -> dict[str, str]:
    """The reason of each option that fell out."""
    if decision is None:
        return {}
    return {one.option: one.reason for one in decision.explained if one.reason is not None}


def _constraints(explained: tuple[Constraint, ...], *, explain: bool) -> dict[str, Any]:
    """Each question put to each option with its arithmetic, for who asked to see it."""
    return {"constraints": [_constraint(one) for one in explained]} if explain else {}


def _constraint(one: Constraint) -> dict[str, Any]:
    return {"option": one.option, "step": one.step, "reason": one.reason, "text": one.text}


def _retry_after(after_ms: int | None) -> dict[str, str]:
    return {"Retry-After": str(-(-after_ms // 1000))} if after_ms is not None else {}


def moment(unix_ms: float) -> str:
    """RFC 3339, in UTC."""
    return datetime.fromtimestamp(unix_ms / 1000.0, UTC).isoformat()


def problem(found: EdgeError) -> Response:
    """RFC 9457."""
    body = {
        "type": f"urn:orchid:problem:{found.code}",
        "title": found.title,
        "status": found.status,
        "code": found.code,
        "detail": found.detail,
    }
    return Response(msgspec.json.encode(body), found.status, media_type="application/problem+json")


def charge_of(settled: Settled) -> dict[str, Any]:
    """TEU of an ended attempt: reserved, used, given back, and used beyond the reservation."""
    charge = settled.charge
    if charge is None:
        return {}
    figures = {
        "reserved_teu": charge.reserved,
        "used_teu": charge.used,
        "refunded_teu": charge.refunded,
        "over_cap_teu": charge.over_cap,
    }
    return {"charge": {name: str(teu) for name, teu in figures.items()}}


def as_json(
    body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
