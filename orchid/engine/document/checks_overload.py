"""Findings about what overload sheds: the rungs, and outputs that may be cut."""

from typing import get_args

from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.overload import OverloadRung

ORDER: tuple[str, ...] = get_args(OverloadRung)
THRESHOLDS = {"queue_wait_ms": "queue_wait", "queued": "queued", "live_tokens": "live_tokens"}


def rung_repeated(subject: Subject) -> Told:
    first: dict[str, int] = {}
    for i, step in enumerate(subject.document.overload_steps):
        if first.setdefault(step.rung, i) != i:
            yield f"/overload/{i}", f"{step.rung} is already /overload/{first[step.rung]}"


def rungs_out_of_order(subject: Subject) -> Told:
    """What costs users least is shed first."""
    rungs = [step.rung for step in subject.document.overload_steps]
    for i in range(1, len(rungs)):
        if ORDER.index(rungs[i]) < ORDER.index(rungs[i - 1]):
            yield (
                f"/overload/{i}",
                f"{rungs[i]} after {rungs[i - 1]}: the order of shedding is {', '.join(ORDER)}",
            )


def leave_over_enter(subject: Subject) -> Told:
    """A rung that is left where it is entered flaps."""
    for i, step in enumerate(subject.document.overload_steps):
        for name, key in THRESHOLDS.items():
            enter, leave = getattr(step.enter, name), getattr(step.leave, name)
            if enter is not None and leave is not None and leave >= enter:
                yield (
                    f"/overload/{i}",
                    f"{step.rung} is entered at {key} {enter} and left under {leave}",
                )


def rungs_not_growing(subject: Subject) -> Told:
    steps = subject.document.overload_steps
    for i in range(1, len(steps)):
        for name, key in THRESHOLDS.items():
            earlier, later = getattr(steps[i - 1].enter, name), getattr(steps[i].enter, name)
            if earlier is not None and later is not None and later < earlier:
                yield (
                    f"/overload/{i}",
                    f"{steps[i].rung} is entered at {key} {later}, before {steps[i - 1].rung} at "
                    f"{earlier}",
                )


def capped_under_minimum(subject: Subject) -> Told:
    for name, traffic in subject.document.classes.items():
        capped, least = traffic.capped_output_tokens, traffic.min_output_tokens
        if capped is not None and least is not None and capped < least:
            yield (
                f"/classes/{name}/capped_output_tokens",
                f"overload caps it at {capped:,} tokens, its smallest useful output is {least:,}",
            )


def cap_never(subject: Subject) -> Told:
    caps = any(step.rung == "cap_optional_output" for step in subject.document.overload_steps)
    for name, traffic in subject.document.classes.items():
        capped, most = traffic.capped_output_tokens, traffic.max_output_tokens
        if capped is not None and capped >= most:
            yield (
                f"/classes/{name}/capped_output_tokens",
                f"a cap of {capped:,} tokens on an output of at most {most:,} cuts nothing",
            )
        elif capped is not None and not caps:
            yield (
                f"/classes/{name}/capped_output_tokens",
                "no overload rung cap_optional_output applies it",
            )


def reserve_over_cap(subject: Subject) -> Told:
    """A percentile of the output is reserved to hold less than its cap."""
    for name, traffic in subject.document.classes.items():
        reserve, most = traffic.reserve, traffic.max_output_tokens
        if reserve is not None and reserve.output_tokens >= most:
            yield (
                f"/classes/{name}/reserve/output_tokens",
                f"{reserve.output_tokens:,} tokens reserved of an output of at most {most:,} spare "
                "nothing",
            )


def bound_not_accepted(subject: Subject) -> Told:
    if "bounded" in subject.document.contract.accepts:
        return
    for name, traffic in subject.document.classes.items():
        least = traffic.min_output_tokens
        if least is not None and least < traffic.max_output_tokens:
            yield (
                f"/classes/{name}/min_output_tokens",
                "it may be bounded, but the contract accepts no bounded answer as a success",
            )
