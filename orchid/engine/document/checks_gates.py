"""Findings about gates: what can't pass, can't fail, or never gets enough to judge."""

from collections import defaultdict

from orchid.engine.clocks import CLOCK_OF_GATE, latency_gates
from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.values import duration_text, figure
from orchid.engine.segments import Where, both, may_overlap, where_key

WINDOWED = (*CLOCK_OF_GATE, "cost_per_success_usd", "utility", "attainment", "violations")
#: Which gates judge the clock that a contract names.
CLOCK_GATES = {
    "completion": ("completion_p95_ms",),
    "first_token": ("first_token_p95_ms",),
    "inter_token": ("inter_token_gap_p95_ms", "time_per_output_token_p95_ms"),
}


def attainment_unprovable(subject: Subject) -> Told:
    """A bound on a proportion stays under 1, however many requests succeed."""
    if subject.document.gates.attainment.min >= 1:
        yield "/gates/attainment/min", "no number of successes shows that every request succeeds"


def gate_never_fails(subject: Subject) -> Told:
    for name in ("utility", "attainment"):
        if getattr(subject.document.gates, name).min == 0:
            yield f"/gates/{name}/min", "nothing is under 0: the gate could not fail"


def confidence_disagrees(subject: Subject) -> Told:
    alpha = subject.document.gates.alpha_pass
    for name, gate in latency_gates(subject.document).items():
        if abs(gate.confidence + alpha - 1) > 1e-9:
            yield (
                f"/gates/{name}/confidence",
                f"confidence {gate.confidence} beside alpha_pass {alpha}: verdicts use alpha_pass",
            )


def clock_without_gate(subject: Subject) -> Told:
    clock = subject.document.contract.clock
    judging = CLOCK_GATES[clock]
    if not any(getattr(subject.document.gates, name) for name in judging):
        yield "/contract/clock", f"the clock is {clock}, but no gate {' or '.join(judging)} is set"


def gate_looser_than_deadline(subject: Subject) -> Told:
    bound, deadline = (
        subject.document.gates.completion_p95_ms.max,
        subject.document.contract.deadline_ms,
    )
    if bound > deadline:
        yield (
            "/gates/completion_p95_ms/max",
            f"{bound:,} ms is over the deadline of {deadline:,} ms: what is between them passes "
            "the gate and is no success",
        )


def gate_window_under_step(subject: Subject) -> Told:
    gates = subject.document.gates
    for name in WINDOWED:
        gate = getattr(gates, name)
        if gate is not None and gate.window_ms < gates.step_s * 1000:
            yield (
                f"/gates/{name}/window",
                f"{duration_text(gate.window_ms)} is shorter than one step of {gates.step_s} s",
            )


def gate_window_short(subject: Subject) -> Told:
    """A window in which fewer requests arrive than a verdict needs never gets one."""
    gates, eligible = subject.document.gates, subject.document.contract.eligible
    needed: list[tuple[str, int, int, Where]] = [
        (f"/gates/{name}", gate.window_ms, gate.minimum_sample, eligible)
        for name, gate in latency_gates(subject.document).items()
    ]
    whole, cost = gates.attainment, gates.cost_per_success_usd
    needed.append(("/gates/attainment", whole.window_ms, whole.minimum_sample, eligible))
    needed.append(("/gates/cost_per_success_usd", cost.window_ms, cost.minimum_successes, eligible))
    needed += [
        (
            f"/gates/segments/{i}",
            gates.completion_p95_ms.window_ms,
            segment.minimum_sample,
            both(segment.where, eligible),
        )
        for i, segment in enumerate(gates.segments)
    ]
    for pointer, window_ms, minimum, where in needed:
        rate = arrivals_in(subject, where)
        if rate * window_ms / 1000 < minimum:
            yield (
                f"{pointer}",
                f"{figure(rate)} requests a second x {duration_text(window_ms)} = "
                f"{figure(rate * window_ms / 1000)}, under the {minimum:,} that a verdict needs",
            )


def arrivals_in(subject: Subject, where: Where) -> float:
    """Most requests a second that can match: a dimension the caller brings is counted whole."""
    return sum(
        float(traffic.arrivals_per_s)
        for traffic in subject.document.classes.values()
        if may_overlap(traffic.dimensions, where)
    )


def eligible_never(subject: Subject) -> Told:
    eligible = subject.document.contract.eligible
    if not subject.arriving.overlapping(eligible):
        yield (
            "/contract/eligible",
            f"no declared request is in {where_key(eligible)}: every denominator stays empty",
        )


def gated_segment_never(subject: Subject) -> Told:
    for i, segment in enumerate(subject.document.gates.segments):
        where = both(segment.where, subject.document.contract.eligible)
        if not subject.arriving.overlapping(where):
            yield (
                f"/gates/segments/{i}",
                f"no declared request is in {where_key(segment.where)}: it never has data, and no "
                "data never passes",
            )


def gated_segment_repeated(subject: Subject) -> Told:
    first: dict[str, int] = {}
    for i, segment in enumerate(subject.document.gates.segments):
        if first.setdefault(segment.name, i) != i:
            yield (
                f"/gates/segments/{i}/name",
                f"{segment.name} is already /gates/segments/{first[segment.name]}",
            )


def ambiguous_gated_segments(subject: Subject) -> Told:
    """One population under two names would be tested twice and failed by either."""
    same: dict[frozenset[tuple[str, frozenset[str]]], list[int]] = defaultdict(list)
    for i, segment in enumerate(subject.document.gates.segments):
        same[_content(segment.where)].append(i)
    for first, *others in same.values():
        for i in others:
            yield (
                f"/gates/segments/{i}/where",
                f"selects what /gates/segments/{first} does",
            )


def _content(where: Where) -> frozenset[tuple[str, frozenset[str]]]:
    return frozenset(
        (name, frozenset([value] if isinstance(value, str) else value))
        for name, value in where.items()
    )
