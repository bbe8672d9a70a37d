"""Stored requests as admission saw them, for whoever decides them once more."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q, QuerySet

from ingest.models import RequestRow
from orchid.engine.decision_diff import Recorded
from orchid.engine.decision_diff.recorded import RecordedAttempt, RecordedDecision
from policies.models import Product

#: Rows fetched at a time: a megabyte, however many there are.
CHUNK = 2_000
PLAIN = (
    "request_id",
    "arrived_at",
    "outcome",
    "cohort",
    "deadline_ms",
    "admission_ms",
    "completion_ms",
    "input_tokens",
    "max_output_tokens",
    "output_tokens",
)
#: The record's own objects, as it was sent.
INSIDE = ("segment", "decision_text", "attempts_text")


class _Decision(msgspec.Struct, gc=False):
    """Of a decision what a second one is compared with."""

    route: str | None = None


class _Attempt(msgspec.Struct, gc=False):
    route: str | None = None
    start_ms: float | None = None
    released_ms: float | None = None


_segment = msgspec.json.Decoder(dict[str, str]).decode
_decision = msgspec.json.Decoder(_Decision | None).decode
_attempts = msgspec.json.Decoder(list[_Attempt]).decode


def recorded_requests(product: Product, *, until: datetime, limit: int) -> Iterator[Recorded]:
    """The newest `limit` requests that arrived up to `until`, oldest first, streamed."""
    newest = RequestRow.objects.filter(product_id=product.pk, arrived_at__lte=until)
    rows = (
        newest.filter(_since(newest, limit))
        .order_by("arrived_at", "id")
        .values_list("class_name", "tenant", "tenant_class", "action", *INSIDE, *PLAIN)
    )
    for row in rows.iterator(chunk_size=CHUNK):
        yield _recorded(*row)


def _since(newest: QuerySet[RequestRow], limit: int) -> Q:
    """From the `limit`-th newest on; everything where there are fewer."""
    places = newest.order_by("-arrived_at", "-id").values_list("day", "arrived_at", "id")
    last = next(iter(places[limit - 1 : limit]), None)
    if last is None:
        return Q()
    day, arrived_at, row_id = last
    same = Q(arrived_at=arrived_at, id__gte=row_id)
    return Q(day__gte=day) & (Q(arrived_at__gt=arrived_at) | same)


def _recorded(
    class_name: str,
    tenant: str,
    tenant_class: str,
    action: Any,
    segment: str,
    decision_text: str,
    attempts_text: str,
    *plain: Any,
) -> Recorded:
    decision, attempts = _decision(decision_text), _attempts(attempts_text)
    last = attempts[-1] if attempts else None
    return Recorded(
        class_=class_name,
        tenant=tenant or None,
        tenant_class=tenant_class or None,
        segment=_segment(segment),
        decision=RecordedDecision(action, decision.route) if decision else None,
        attempts=(RecordedAttempt(last.route, last.start_ms, last.released_ms),) if last else (),
        **dict(zip(PLAIN, plain, strict=True)),
    )
