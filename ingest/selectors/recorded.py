"""Stored requests as admission saw them, for whoever decides them once more."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT

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
#: Of the record's own objects the database gives the few fields: to read them whole takes longer
#: than to decide the request.
INSIDE = (
    KT("decision__route"),
    KT("attempts__-1__route"),
    KT("attempts__-1__start_ms"),
    KT("attempts__-1__released_ms"),
)


def recorded_requests(product: Product, *, until: datetime, limit: int) -> Iterator[Recorded]:
    """The newest `limit` requests that arrived up to `until`, oldest first, streamed."""
    newest = RequestRow.objects.filter(product_id=product.pk, arrived_at__lte=until)
    rows = (
        newest.filter(_since(newest, limit))
        .order_by("arrived_at", "id")
        .values_list("class_name", "tenant", "tenant_class", "dims", "action", *INSIDE, *PLAIN)
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
    dims: dict[str, str],
    action: Any,
    route: str | None,
    attempt_route: str | None,
    start_ms: str | None,
    released_ms: str | None,
    *plain: Any,
) -> Recorded:
    attempt = RecordedAttempt(attempt_route, _number(start_ms), _number(released_ms))
    return Recorded(
        class_=class_name,
        tenant=tenant or None,
        tenant_class=tenant_class or None,
        segment=dims,
        decision=RecordedDecision(action, route) if action else None,
        attempts=(attempt,) if attempt_route or start_ms or released_ms else (),
        **dict(zip(PLAIN, plain, strict=True)),
    )


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
