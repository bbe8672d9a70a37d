"""Trials and recorded traffic: lists, one of each, what a trial can support, arrivals in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, IntegerField, QuerySet

from controlplane.errors import Conflict, NotFound
from ingest.models import ArrivalTrace, Trial
from ingest.states import TraceHolds
from orchid.engine.trial_evidence import Fact, Support, support
from orchid.formats.arrivals import compact
from orchid.formats.arrivals.shape import Arrival, Window
from orchid.formats.arrivals.statistics import after_warm_up
from policies.models import Product

#: Files of one run that are shown side by side.
MOST_VIEWS = 40


def trials(product: Product) -> QuerySet[Trial]:
    """Trials without their points, of which `size` counts; page them by (created_at, id)."""
    size = Func(F("points"), function="jsonb_array_length", output_field=IntegerField())
    found = Trial.objects.filter(product=product).select_related("source")
    return found.annotate(size=size).defer("points")


def trial_of(product: Product, pk: int) -> Trial:
    """One trial of the product; raises NotFound."""
    trial = Trial.objects.filter(product=product, pk=pk).select_related("source", "product").first()
    if trial is None:
        raise NotFound("not_found", "This product has no such trial.")
    return trial


def run_of(trial: Trial) -> list[Trial]:
    """Every file of the same named run, this trial too; alone where the run has no name."""
    if not trial.source.server_run:
        return [trial]
    found = Trial.objects.filter(source_id=trial.source_id).order_by("title", "pk")
    return list(found[:MOST_VIEWS])


@dataclass(frozen=True)
class Declaration:
    """One fact of a trial: what its file tells, what was declared, and which of them holds."""

    fact: Fact
    told: str
    declared: str

    @property
    def value(self) -> str:
        return self.told or self.declared

    @property
    def disagrees(self) -> bool:
        """Only answers are compared: prose of a file and of a person differ anyway."""
        return self.fact is Fact.LOOP and bool(self.told and self.declared) and not self._same

    @property
    def _same(self) -> bool:
        return self.told == self.declared


def declarations(trial: Trial) -> list[Declaration]:
    """All facts in order; the file is believed before a declaration."""
    return [
        Declaration(fact, trial.told.get(fact, ""), trial.declared.get(fact, "")) for fact in Fact
    ]


def support_of(trial: Trial) -> Support:
    """Whether the trial can support an advance, and why not."""
    counts = [point["requests"] for point in trial.points if point["requests"] is not None]
    return support(
        {one.fact: one.value for one in declarations(trial)},
        simulated=trial.simulated,
        whole=trial.whole,
        requests=sum(counts) if counts else None,
    )


def arrival_traces(product: Product) -> QuerySet[ArrivalTrace]:
    """Traces without their arrivals; page them by (created_at, id)."""
    found = ArrivalTrace.objects.filter(product=product).select_related("source")
    return found.defer("content", "rates")


def arrival_trace_of(product: Product, pk: int) -> ArrivalTrace:
    """One trace of the product; raises NotFound."""
    found = ArrivalTrace.objects.filter(product=product).select_related("source").defer("content")
    trace = found.filter(pk=pk).first()
    if trace is None:
        raise NotFound("not_found", "This product has no such trace.")
    return trace


def arrivals(trace_pk: int) -> Iterator[Arrival]:
    """The arrivals of a trace in order, after its warm-up; raises Conflict where it has none."""
    trace = ArrivalTrace.objects.get(pk=trace_pk)
    if trace.holds != TraceHolds.ARRIVALS:
        raise Conflict("no_arrivals", f"This trace has {trace.get_holds_display().lower()}.")
    every = list(compact.arrivals_of(bytes(trace.content)))
    return iter(after_warm_up(every, trace.warm_up_requests, trace.warm_up_s))


def traffic_windows(trace_pk: int) -> list[Window]:
    """The windows of a traffic model, in order; empty for recorded arrivals."""
    content: Any = ArrivalTrace.objects.values_list("content", flat=True).get(pk=trace_pk)
    return compact.windows_of(bytes(content))
