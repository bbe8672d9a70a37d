"""Findings about rollout and approvals: what is watched, how long, and who answers for it."""

from typing import get_args

from orchid.engine.document.checks_gates import arrivals_in
from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.operation import StageKind
from orchid.engine.document.values import duration_text, figure

ORDER: tuple[str, ...] = get_args(StageKind)


def stage_without_hold(subject: Subject) -> Told:
    for i, stage in enumerate(subject.document.rollout.stages):
        if stage.hold_ms is None:
            yield (
                f"/rollout/stages/{i}",
                f"the canary of {stage.fraction:.0%} has no hold, so nothing would be watched",
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
