"""How far a window is counted at one moment, and what was counted of it."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gates.models import Watch, Window
from ingest.selectors import counted, earliest, watermarks
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.stretches import floor
from orchid.engine.verdict.validity import Limits, limits_for
from policies.selectors import document_of

OTHER = {"candidate": "incumbent", "incumbent": "candidate"}


@dataclass(frozen=True)
class Reading:
    """A window as it is read at one moment: whole steps up to the watermark that was reached."""

    window: Window
    watch: Watch
    now: datetime
    document: PolicyDocument
    step: timedelta
    reached: datetime | None
    opened: datetime
    end: datetime
    # The live edges by name, and how far each has told; None before it told anything.
    told: tuple[tuple[str, datetime | None], ...]
    # Parts, costs and guardrails often ask for the same stretch; it is read once, and the same.
    _read: dict[tuple[datetime, datetime, str], Counted] = field(default_factory=dict)

    @property
    def closed(self) -> bool:
        return self.window.closes_at is not None and self.end >= self.window.closes_at

    @property
    def behind(self) -> tuple[str, ...]:
        """The live edges that have told something, and not all up to the end."""
        late = {name for name, at in self.told if at and floor(at, self.step) < self.end}
        return tuple(sorted(late))

    @property
    def limits(self) -> Limits:
        gates = self.document.gates
        return limits_for(gates.step_s, gates.attainment.window_ms)

    def counted(self, start: datetime, end: datetime | None = None, cohort: str = "") -> Counted:
        """What was counted of the window's own requests, or of the other cohort's."""
        stretch = (start, end or self.end, cohort or self.window.cohort)
        if stretch not in self._read:
            self._read[stretch] = self._counted(*stretch)
        return self._read[stretch]

    def _counted(self, start: datetime, end: datetime, cohort: str) -> Counted:
        window = self.window
        digest = window.digest if cohort == window.cohort else digest_beside(window)
        return counted(window.product, digest, window.publication, cohort, start, end)


def reading(window: Window, watch: Watch, now: datetime) -> Reading:
    """Look how far the records are counted; first, so that all that it promises is there."""
    document = document_of(window.digest)
    step = timedelta(seconds=document.gates.step_s)
    told = tuple(watermarks(window.product, now))
    reached = earliest(told)
    opened = floor(window.opens_at, step)
    # Nothing that was judged is taken back: without a live edge it goes as far as it did before.
    end = max(watch.judged_to or opened, floor(reached, step) if reached else opened)
    return Reading(window, watch, now, document, step, reached, opened, end, told)


def farther(read: Reading) -> Reading | None:
    """A stage as far as any edge has told: beyond the watermark, where others are behind.

    What is known there is not all, so that it may stop a stage and let nothing pass. None where
    there is no such stretch, or nothing waits for the verdict.
    """
    if read.closed or read.window.live_from is not None:
        return None
    most = max((moment for _, moment in read.told if moment is not None), default=read.end)
    end = floor(min(most, read.now), read.step)  # a clock may be ahead
    return replace(read, end=end) if end > read.end else None


def running(read: Reading) -> tuple[tuple[str, int], ...]:
    """Violations in the steps that are not over yet, by dimensions."""
    if read.closed:
        return ()
    until = floor(read.now, read.step) + read.step
    if until <= read.end:
        return ()
    found = read.counted(read.end, until)
    seen: dict[str, int] = {}
    for name, count in zip(found.cells, found.of("violation").tolist(), strict=True):
        if count:
            seen[name.dims_key] = seen.get(name.dims_key, 0) + count
    return tuple(sorted(seen.items()))


def digest_beside(window: Window) -> str:
    """The generation that the other cohort runs; empty before its window is open."""
    other = Window.objects.filter(
        product=window.product, publication=window.publication, cohort=OTHER[window.cohort]
    )
    return other.values_list("digest", flat=True).first() or ""
