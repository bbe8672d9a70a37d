"""Whether a window's evidence may carry a verdict at all, before any verdict is looked at.

Missing completeness only holds: it keeps a pass from counting and never hides harm. Broken
attribution (a split that is off, a unit that both generations answered, a wrong clock) holds
everything, because nobody knows whose figures these are. Traffic that stopped is first a hold, and
past its deadline no data: the last good figure is not carried forward.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from orchid.engine.segments import dims_of, matches
from orchid.engine.verdict import exposure
from orchid.engine.verdict.case import Apart, Exposed, Facts, Stratum, Subject
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.verdict.wording import share_text

#: An edge whose clock is off by more than this may put requests into steps of other windows.
CLOCK_BOUND = timedelta(seconds=5)
#: What is read of a check that holds, in front of the result that it holds.
_NAMED = 8


class State(StrEnum):
    """What a check does to the verdict."""

    OK = "ok"
    HOLD = "hold"
    BROKEN = "broken"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of valid evidence, in words that name the count or the moment that is off."""

    name: str
    state: State
    message: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How long figures may lag or traffic may pause before a hold, and before there is no data."""

    hold_after: timedelta
    expires_after: timedelta

    def silence(self, lasted: timedelta) -> State:
        """What it means that no eligible request came for so long."""
        if lasted > self.expires_after:
            return State.EXPIRED
        return State.HOLD if lasted > self.hold_after else State.OK


def limits_for(step_s: int, window_ms: int) -> Limits:
    """Three steps, at least half a minute, hold; the attainment gate's window is the deadline."""
    hold = max(timedelta(seconds=3 * step_s), timedelta(seconds=30))
    return Limits(hold, max(hold, timedelta(milliseconds=window_ms)))


def check_all(
    subject: Subject,
    facts: Facts,
    end: datetime,
    exposed: Exposed | None,
    apart: Sequence[Apart] = (),
    behind: Sequence[str] = (),
) -> list[Check]:
    """Every check of a window; a closed one can no longer lag or fall silent, only lack records."""
    checks = [_opened(subject, end), _completeness(facts, behind)]
    if not facts.closed:
        checks += [_watermark(facts, end), _traffic(subject, facts)]
    checks.append(_clock(facts))
    if exposed is not None:
        checks += [_split(exposed, subject.canary, apart), _double(exposed)]
    return checks


def apply(verdict: Verdict, checks: Sequence[Check]) -> Verdict:
    """The verdict that the checks leave standing."""
    states = {check.state for check in checks}
    if State.EXPIRED in states:
        return Verdict.NO_DATA
    if State.BROKEN in states and verdict is not Verdict.NO_DATA:
        return Verdict.INCONCLUSIVE
    if State.HOLD in states and verdict is Verdict.PASS:
        return Verdict.INCONCLUSIVE
    return verdict


def held(result: Result, checks: Sequence[Check]) -> Result:
    """One gate as the checks leave it standing, and in front of its words what holds it."""
    verdict = apply(result.verdict, checks)
    if verdict is result.verdict:
        return result
    why = "; ".join(check.message for check in checks if check.state is worst(checks))
    if verdict is Verdict.NO_DATA:
        message = f"no data: {why}"
        return Result(
            result.metric, result.segment, verdict, result.bound, message, minimum=result.minimum
        )
    said = result.message.partition(": ")[2]
    return replace(
        result, verdict=verdict, message=f"inconclusive: held, {why}; {said}", fragile=False
    )


def worst(checks: Sequence[Check]) -> State:
    """The gravest state among the checks; OK without any."""
    order = (State.EXPIRED, State.BROKEN, State.HOLD)
    return next((s for s in order if any(c.state is s for c in checks)), State.OK)


def _opened(subject: Subject, end: datetime) -> Check:
    if end <= subject.opens_at:
        said = f"opened at {_time(subject.opens_at)}, nothing counted yet"
        return Check("window", State.HOLD, said)
    return Check("window", State.OK, f"from {_time(subject.opens_at)} to {_time(end)}")


def _completeness(facts: Facts, behind: Sequence[str]) -> Check:
    """What is in no figure may be what is bad: nothing may pass without it."""
    lacking = list(_lacking(facts, behind))
    if lacking:
        return Check("completeness", State.HOLD, "; ".join(lacking))
    whole = "all that was sent is counted" if facts.closed else "every edge of the window reports"
    return Check("completeness", State.OK, whole)


def _lacking(facts: Facts, behind: Sequence[str]) -> Iterator[str]:
    if facts.silent and not facts.closed:
        yield f"silent, so its requests are missing: {', '.join(facts.silent)}"
    if behind:
        yield f"has not told yet of all up to here: {', '.join(behind[:_NAMED])}"
    for edge, count in sorted(facts.missing.items()):
        yield f"records of {edge} that never came: {count:,}"
    if facts.waiting:
        yield f"deliveries not yet counted: {facts.waiting:,}"
    if facts.set_aside:
        yield f"deliveries set aside: {facts.set_aside:,}"


def _watermark(facts: Facts, end: datetime) -> Check:
    if not facts.heard:
        said = "no gateway population: no live edge says how far its records are counted"
        return Check("watermark", State.HOLD, said)
    if facts.stalled_at is not None:
        said = f"records are counted no further than {_time(facts.stalled_at)}"
        return Check("watermark", State.HOLD, said)
    return Check("watermark", State.OK, f"records are counted up to {_time(end)}")


def _traffic(subject: Subject, facts: Facts) -> Check:
    state = State(facts.quiet)
    since = facts.last_request_at or subject.opens_at
    said = f"no eligible request since {_time(since)}"
    if state is State.EXPIRED:
        return Check("traffic", state, f"{said}: past the deadline, no data")
    if state is State.HOLD:
        return Check("traffic", state, said)
    if facts.last_request_at is None:
        return Check("traffic", state, f"no eligible request yet since {_time(since)}")
    return Check("traffic", state, f"last eligible request at {_time(since)}")


def _clock(facts: Facts) -> Check:
    """A request of an edge with a wrong clock may be counted in another step than it arrived in."""
    if not facts.clocks:
        bound = CLOCK_BOUND.total_seconds()
        return Check("clock", State.OK, f"no edge's clock is known to be off by {bound:g} s")
    said = "; ".join(
        f"the clock of {one.edge} is {abs(one.skew_ms) / 1000:,.1f} s "
        f"{'ahead' if one.skew_ms > 0 else 'behind'}"
        for one in facts.clocks[:_NAMED]
    )
    return Check("clock", State.BROKEN, said)


def _split(exposed: Exposed, fraction: float, apart: Sequence[Apart]) -> Check:
    """Each part that has one fraction, then its strata at a level that allows for how many."""
    if not _sum(exposed.strata).total:
        return Check("split", State.OK, f"no {exposed.what} yet in either cohort")
    what = f"{exposed.what}{_sampled(exposed)}"
    parts = _by_fraction(exposed.strata, fraction, apart)
    alpha = exposure.ALPHA / max(1, len(parts))
    wholes = {part: _sum(strata) for part, strata in parts.items()}
    found = [
        exposure.check(one.candidate, one.total, part, alpha)
        for part, one in wholes.items()
        if one.total
    ]
    off = [one.message for one in found if not one.holds]
    off = off or [said for part, strata in parts.items() for said in _off(strata, part)]
    if off:
        return Check("split", State.BROKEN, f"{what}: " + "; ".join(off[:_NAMED]))
    return Check("split", State.OK, f"{what}: " + "; ".join(one.message for one in found))


def _by_fraction(
    strata: Sequence[Stratum], fraction: float, apart: Sequence[Apart]
) -> dict[float, list[Stratum]]:
    """The strata by the part of them that is the candidate's."""
    parts: dict[float, list[Stratum]] = {}
    for stratum in strata:
        dims = dims_of(stratum.name) if apart else {}
        own = next((one.fraction for one in apart if matches(one.where, dims)), fraction)
        parts.setdefault(own, []).append(stratum)
    return parts


def _off(strata: Sequence[Stratum], fraction: float) -> Iterator[str]:
    if len(strata) < 2:
        return
    alpha = exposure.ALPHA / len(strata)
    for stratum in strata:
        found = exposure.check(stratum.candidate, stratum.total, fraction, alpha)
        if not found.holds:
            yield f"stratum {stratum.name or 'without a name'}: {found.message}"


def _double(exposed: Exposed) -> Check:
    """The split gives a unit to one generation, so that a unit of both is a defect."""
    whole = _sum(exposed.strata)
    what = f"{exposed.what}{_sampled(exposed)}"
    if exposed.what == REQUESTS:
        return Check("double_exposure", State.OK, "not looked at: no records of single units came")
    if not whole.both:
        return Check("double_exposure", State.OK, f"0 of {whole.total:,} {what} in both cohorts")
    where = ", ".join(s.name or "all" for s in exposed.strata if s.both)
    said = f"{whole.both:,} of {whole.total:,} {what} in both cohorts (stratum {where})"
    return Check("double_exposure", State.BROKEN, said)


#: What a split is counted in where no edge told single units.
REQUESTS = "requests of rollups"


def _sum(strata: Sequence[Stratum]) -> Stratum:
    return Stratum(
        "",
        sum(s.candidate for s in strata),
        sum(s.incumbent for s in strata),
        sum(s.both for s in strata),
    )


def _sampled(exposed: Exposed) -> str:
    return "" if exposed.share >= 1 else f" (those that are followed, {share_text(exposed.share)})"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
