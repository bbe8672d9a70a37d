"""The rungs of the overload ladder: in which order work is shed, and when each begins and ends."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Discriminator, Field, Tag

from orchid.engine.document.values import DurationMs, Section, Share

OverloadRung = Literal[
    "stop_shadow", "defer_async", "cap_optional_output", "compact_fallback", "reject_infeasible"
]


class Thresholds(Section):
    """Bounds on what waits and what is held; never on utilisation or total latency."""

    queue_wait_ms: DurationMs | None = Field(default=None, alias="queue_wait")
    """Longest wait in the queue."""
    queued: Share | None = None
    """Queued work as a part of `admission.max_queued_teu`."""
    live_tokens: Share | None = None
    """Tokens held, as a part of what the pool's devices hold."""


class OverloadStep(Section):
    """One rung with its own way in and out."""

    rung: OverloadRung
    """What it does."""
    enter: Thresholds | None = None
    """Reaching any of them enters the rung; absent keys keep the rung's default."""
    leave: Thresholds | None = None
    """All must be undercut before the rung is left; absent keys keep the rung's default."""
    dwell_ms: DurationMs = Field(default=2_000, alias="dwell")
    """The rung lasts at least so long."""
    steady_for_ms: DurationMs = Field(default=2_000, alias="steady_for")
    """How long the leave thresholds must have held."""


def _form(value: object) -> str:
    return "name" if isinstance(value, str) else "settings"


Overload = Annotated[
    tuple[
        Annotated[
            Annotated[OverloadRung, Tag("name")] | Annotated[OverloadStep, Tag("settings")],
            Discriminator(_form),
        ],
        ...,
    ],
    Field(max_length=5),
]


class _Default(NamedTuple):
    """Thresholds of a rung that names none; the wait is a part of the contract's deadline."""

    wait: float
    queued: float
    live_tokens: float

    def thresholds(self, deadline_ms: int) -> Thresholds:
        wait_ms = max(1, round(self.wait * deadline_ms))
        return Thresholds(queue_wait=wait_ms, queued=self.queued, live_tokens=self.live_tokens)


#: (enter, leave): later rungs need more. The last refuses whoever would have to wait, so it begins
#: only where nothing that waits can be in time any more, and ends as soon as half of it could.
DEFAULTS: Mapping[OverloadRung, tuple[_Default, _Default]] = {
    "stop_shadow": (_Default(0.15, 0.20, 0.80), _Default(0.05, 0.10, 0.60)),
    "defer_async": (_Default(0.18, 0.30, 0.85), _Default(0.05, 0.10, 0.65)),
    "cap_optional_output": (_Default(0.21, 0.40, 0.90), _Default(0.05, 0.10, 0.70)),
    "compact_fallback": (_Default(0.25, 0.50, 0.93), _Default(0.05, 0.10, 0.75)),
    "reject_infeasible": (_Default(1.00, 1.00, 0.97), _Default(0.50, 0.50, 0.85)),
}


def step_of(item: OverloadRung | OverloadStep, deadline_ms: int) -> OverloadStep:
    """The item with every threshold filled in, for a contract of this deadline."""
    step = OverloadStep(rung=item) if isinstance(item, str) else item
    enter, leave = (default.thresholds(deadline_ms) for default in DEFAULTS[step.rung])
    return step.model_copy(
        update={"enter": _filled(step.enter, enter), "leave": _filled(step.leave, leave)}
    )


def _filled(given: Thresholds | None, default: Thresholds) -> Thresholds:
    if given is None:
        return default
    named = {name: getattr(given, name) for name in given.model_fields_set}
    return default.model_copy(update={k: bound for k, bound in named.items() if bound is not None})
