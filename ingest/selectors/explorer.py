"""One request with all its attempts, and what engines and clients tell of each."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Q, QuerySet

from controlplane.errors import NotFound
from ingest.models import ClientCall, EngineAttempt, RequestRow
from ingest.selectors.agreement import ANSWERED
from policies.models import Product

#: Requests that a search without an id looks through, the newest first.
SEARCHED = 200_000
#: Executions of one request that are shown: a loop of calls would fill the page.
SHOWN_EXECUTIONS = 200


@dataclass(frozen=True)
class Sought:
    """What a search asks for; what is empty asks nothing."""

    request_id: str = ""
    attempt_id: str = ""
    route: str = ""
    outcome: str = ""
    reason: str = ""
    tenant_class: str = ""
    dimension: str = ""
    value: str = ""

    @property
    def by_id(self) -> bool:
        return bool(self.request_id or self.attempt_id)


def sought(product: Product, asked: Sought) -> QuerySet[RequestRow]:
    """Requests that match; page them newest first by (arrived_at, id).

    An id is looked up in its index. Any other search stops at a bound, so that a rare value costs
    no reading of the whole past.
    """
    mine = RequestRow.objects.filter(product_id=product.pk)
    found = mine.filter(_matches(asked))
    if asked.by_id or asked == Sought():
        return found
    oldest = _oldest(mine)
    return found if oldest is None else found.filter(day__gte=oldest[0], arrived_at__gte=oldest[1])


def _matches(asked: Sought) -> Q:
    plain = ("request_id", "route", "outcome", "reason", "tenant_class")
    match = Q(**{name: getattr(asked, name) for name in plain if getattr(asked, name)})
    if asked.attempt_id:
        match &= Q(attempt_ids__contains=[asked.attempt_id])
    if asked.dimension and asked.value:
        match &= Q(segment__contains=_within_json({asked.dimension: asked.value}))
    return match


def _within_json(pairs: dict[str, str]) -> str:
    """The pairs as they stand in the text of an object of texts."""
    return json.dumps(pairs, separators=(",", ":"), ensure_ascii=False)[1:-1]


def _oldest(mine: QuerySet[RequestRow]) -> tuple[Any, Any] | None:
    """Day and arrival of the last request that a search looks at; None where there are fewer."""
    places = mine.order_by("-arrived_at", "-id").values_list("day", "arrived_at")
    return next(iter(places[SEARCHED : SEARCHED + 1]), None)


def request_row(product: Product, day: date, pk: int) -> RequestRow:
    """One request of the product; raises NotFound."""
    row = RequestRow.objects.filter(product_id=product.pk, day=day, id=pk).first()
    return _there(row)


def newest_request(product: Product, request_id: str) -> RequestRow:
    """The request of that id that arrived last; raises NotFound."""
    found = RequestRow.objects.filter(product_id=product.pk, request_id=request_id)
    return _there(found.order_by("-day").first())


def _there(row: RequestRow | None) -> RequestRow:
    if row is None:
        raise NotFound("not_found", "This product has no such request, or it is past retention.")
    return row


@dataclass(frozen=True)
class Execution:
    """One execution in an engine; `depth` is 0 for what the gateway called itself."""

    attempt: EngineAttempt
    depth: int
    root: EngineAttempt

    @property
    def answered(self) -> bool:
        return self.attempt.ending == "answered"


@dataclass(frozen=True)
class Explored:
    """A request as its gateway, the engines and its client each tell it."""

    row: RequestRow
    decision: dict[str, Any] | None
    attempts: Sequence[dict[str, Any]]
    executions: Sequence[Execution]
    calls: Sequence[ClientCall]

    def executions_of(self, attempt_id: str) -> list[Execution]:
        return [one for one in self.executions if one.root.attempt_id == attempt_id]

    @property
    def unseen(self) -> list[str]:
        """Attempts of the gateway that no engine told of."""
        told = {one.root.attempt_id for one in self.executions}
        return [attempt_id for attempt_id in self.row.attempt_ids if attempt_id not in told]

    @property
    def engine_answered(self) -> bool:
        return any(one.answered for one in self.executions if not one.depth)

    @property
    def disagreement(self) -> str:
        """In words, where engine and gateway end the request differently; else empty."""
        if not self.executions:
            return ""
        is_answer = self.row.outcome in ANSWERED
        if is_answer == self.engine_answered:
            return ""
        engine = "answered" if self.engine_answered else "gave no answer"
        return (
            f"The gateway says {self.row.outcome.replace('_', ' ')}, the engine {engine}. "
            "The gateway's outcome counts."
        )


def explored(product: Product, row: RequestRow) -> Explored:
    """Everything that is known of one request; three queries and one for each depth of calls."""
    decision, attempts = decision_and_attempts(row)
    return Explored(
        row, decision, attempts, _executions(product, row.attempt_ids), _calls(product, row)
    )


def decision_and_attempts(row: RequestRow) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The record's own objects."""
    return row.decision, row.attempts


def _calls(product: Product, row: RequestRow) -> list[ClientCall]:
    ids = [row.request_id, *row.attempt_ids]
    found = ClientCall.objects.filter(product=product, request_id__in=ids)
    return list(found.select_related("source").order_by("sent_at", "pk")[:SHOWN_EXECUTIONS])


def _executions(product: Product, attempt_ids: Sequence[str]) -> list[Execution]:
    """Executions under these attempt ids, each followed by those that it called."""
    ids = [attempt_id for attempt_id in attempt_ids if attempt_id]
    found = _bounded(EngineAttempt.objects.filter(product=product, attempt_id__in=ids))
    known = {(one.source_id, one.key): one for one in found}
    while layer := _called(product, found):
        found = [one for one in layer if (one.source_id, one.key) not in known]
        known |= {(one.source_id, one.key): one for one in found}
        if len(known) >= SHOWN_EXECUTIONS:
            break
    return _nested(list(known.values()))


def _bounded(found: QuerySet[EngineAttempt]) -> list[EngineAttempt]:
    return list(found.select_related("source").order_by("first_ns", "pk")[:SHOWN_EXECUTIONS])


def _called(product: Product, parents: Sequence[EngineAttempt]) -> list[EngineAttempt]:
    """Those that the parents called, whether or not they carry the request's id themselves."""
    match = Q()
    for one in parents:
        match |= Q(source=one.source_id, parent_key=one.key)
    return _bounded(EngineAttempt.objects.filter(match, product=product)) if match else []


def _nested(found: Sequence[EngineAttempt]) -> list[Execution]:
    keys = {(one.source_id, one.key) for one in found}
    below: dict[tuple[int, str], list[EngineAttempt]] = {}
    for one in found:
        below.setdefault((one.source_id, one.parent_key), []).append(one)
    roots = [one for one in found if (one.source_id, one.parent_key) not in keys]
    return [row for root in sorted(roots, key=_first) for row in _family(root, root, 0, below)]


def _family(
    one: EngineAttempt,
    root: EngineAttempt,
    depth: int,
    below: dict[tuple[int, str], list[EngineAttempt]],
) -> Iterable[Execution]:
    yield Execution(one, depth, root)
    for child in sorted(below.get((one.source_id, one.key), ()), key=_first):
        yield from _family(child, root, depth + 1, below)


def _first(one: EngineAttempt) -> tuple[int, int]:
    return one.first_ns, one.pk
