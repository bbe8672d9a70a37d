"""Findings about rollout and approvals: what is watched, how long, and who answers for it."""

from typing import get_args

from orchid.engine.document.checks_gates import arrivals_in
from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Covered, StageKind
from orchid.engine.document.values import duration_text, figure, percent
from orchid.engine.segments import Where, may_overlap
from orchid.engine.wall_clock import UnknownZone, zone

ORDER: tuple[str, ...] = get_args(StageKind)


def stage_without_hold(subject: Subject) -> Told:
    for i, stage in enumerate(subject.document.rollout.stages):
        if subject.document.rollout.hold_of(stage) is None:
            yield (
                f"/rollout/stages/{i}",
                f"the canary of {percent(stage.fraction)} has no hold, so nothing would be watched",
            )


def stage_hold_short(subject: Subject) -> Told:
    """A hold in which fewer requests come than a verdict needs waits for them beyond its time."""
    document = subject.document
    gates = document.gates
    needed = max(gates.completion_p95_ms.minimum_sample, gates.attainment.minimum_sample)
    rate = arrivals_in(subject, document.contract.eligible)
    for i, stage in enumerate(document.rollout.stages):
        if stage.canary is None or stage.hold is None:
            continue
        seen = rate * stage.canary * stage.hold / 1000
        if seen < needed:
            yield (
                f"/rollout/stages/{i}/hold",
                f"{figure(rate)} requests a second x {stage.canary:g} x "
                f"{duration_text(stage.hold)} = {figure(seen)}, under the {needed:,} that a "
                "verdict needs",
            )


def stage_without_bound(subject: Subject) -> Told:
    """A stage that no client sees has no gates of its own, so without a bound it ends by hand."""
    for i, stage in enumerate(subject.document.rollout.stages):
        if not stage.is_bounded:
            yield (
                f"/rollout/stages/{i}",
                f"{stage.kind} names no figure that lets it go on, so it waits for a person",
            )


def whole_without_cover(subject: Subject) -> Told:
    """A rollout of one stage has nothing before the whole that could cover any of it."""
    rollout = subject.document.rollout
    missing = [one for one in get_args(Covered) if one not in rollout.before_whole]
    if missing and len(rollout.stages) > 1:
        names = ", ".join(one.replace("_", " ") for one in missing)
        yield "/rollout/before_whole", f"nothing asks for {names} before everybody is served"


def stage_shrinks(subject: Subject) -> Told:
    stages = subject.document.rollout.stages
    for i in range(1, len(stages)):
        if stages[i].fraction < stages[i - 1].fraction:
            yield (
                f"/rollout/stages/{i}",
                f"exposure falls from {stages[i - 1].fraction:g} to {stages[i].fraction:g}",
            )


def stages_out_of_order(subject: Subject) -> Told:
    """What no client sees comes before what some do."""
    kinds = [stage.kind for stage in subject.document.rollout.stages]
    for i in range(1, len(kinds)):
        if ORDER.index(kinds[i]) < ORDER.index(kinds[i - 1]):
            yield (
                f"/rollout/stages/{i}",
                f"{kinds[i]} comes after {kinds[i - 1]}: the order is {', '.join(ORDER)}",
            )


def cycles_of_unknown_length(subject: Subject) -> Told:
    rollout = subject.document.rollout
    if rollout.cache_cycle_ms is not None:
        return
    for i, stage in enumerate(rollout.stages):
        if stage.cache_cycles is not None:
            yield f"/rollout/stages/{i}/cache_cycles", "there is no cache_cycle that they count"


def minimum_without_strata(subject: Subject) -> Told:
    rollout = subject.document.rollout
    for i, stage in enumerate(rollout.stages):
        if stage.minimum_per_stratum is not None and not rollout.strata:
            yield f"/rollout/stages/{i}/minimum_per_stratum", "there are no strata that have one"


def apart_without_gates(subject: Subject) -> Told:
    """A segment moves by its own verdicts, so it has to have some."""
    for i, name in enumerate(subject.document.rollout.apart):
        if name not in _gated(subject.document):
            yield f"/rollout/apart/{i}", f"{name} is no segment of gates"


def apart_across_strata(subject: Subject) -> Told:
    """A stratum has one fraction, so a segment apart has to be made of whole strata."""
    document = subject.document
    gated = _gated(document)
    for i, name in enumerate(document.rollout.apart):
        across = set(gated.get(name, {})) - set(document.rollout.strata)
        if across:
            yield (
                f"/rollout/apart/{i}",
                f"{name} is told by {', '.join(sorted(across))}, which strata do not tell apart",
            )


def apart_overlaps(subject: Subject) -> Told:
    gated = _gated(subject.document)
    names = [name for name in subject.document.rollout.apart if name in gated]
    for i, name in enumerate(names):
        for other in names[:i]:
            if may_overlap(gated[name], gated[other]):
                yield f"/rollout/apart/{i}", f"a request can be in {other} and in {name}"


def _gated(document: PolicyDocument) -> dict[str, Where]:
    return {segment.name: segment.where for segment in document.gates.segments}


def rollout_incomplete(subject: Subject) -> Told:
    last = subject.document.rollout.stages[-1]
    if last.fraction < 1:
        yield "/rollout/stages", f"the last stage exposes {last.fraction:g} of eligible demand"


def shadow_without_reserve(subject: Subject) -> Told:
    """Shadow work runs only on what the declared demand leaves."""
    load = subject.trials["steady"]
    for i, stage in enumerate(subject.document.rollout.stages):
        if stage.kind == "shadow" and load.spare_teu_per_s <= 0:
            yield (
                f"/rollout/stages/{i}",
                f"demand of {figure(load.demand_teu_per_s)} TEU/s leaves nothing of "
                f"{figure(load.capacity_teu_per_s)} for shadow work",
            )


def approvals_without_evidence(subject: Subject) -> Told:
    if not subject.document.approvals.evidence_required:
        yield "/approvals/evidence_required", "a proposal can be approved without any evidence"


def approvals_of_zero(subject: Subject) -> Told:
    approvals = subject.document.approvals
    asked = (
        ("quality", approvals.quality),
        ("cost", approvals.cost),
        ("capacity", approvals.capacity),
    )
    for category, roles in asked:
        if not roles:
            yield f"/approvals/{category}", f"nobody has to approve a change of {category}"


def freeze_zone_unknown(subject: Subject) -> Told:
    for i, freeze in enumerate(subject.document.rollout.freezes):
        try:
            zone(freeze.zone)
        except UnknownZone:
            yield (
                f"/rollout/freezes/{i}/zone",
                f"{freeze.zone} is no time zone: the database has names such as Europe/Berlin",
            )


def freeze_repeated(subject: Subject) -> Told:
    """A freeze is known by its name where it keeps something waiting."""
    named: dict[str, int] = {}
    for i, freeze in enumerate(subject.document.rollout.freezes):
        first = named.setdefault(freeze.name, i)
        if first != i:
            yield f"/rollout/freezes/{i}/name", f"freeze {first} is called {freeze.name} as well"
