"""What the gates say of a segment at its own stage: a fresh valid pass over the whole hold."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gates.models import Evaluation, Verdict, Watch
from gates.states import Action, VerdictState
from releases.models import Override
from releases.selectors.progress import clock
from releases.selectors.progress.condition import Condition, Stand
from releases.services.override import in_force

FRESH_FOR = timedelta(seconds=60)  # what nobody looked at since says nothing of the fleet as it is
SHOWN = 8  # reasons of one judgement that are worth a line each


def gates(stand: Stand) -> Iterator[Condition]:
    """The judgement of everything, where no segment stands apart."""
    watch, found = stand.watch, stand.evaluation
    if watch is None or found is None:
        yield _unjudged()
    elif override := in_force(stand.rollout, found):
        yield from _overridden(stand, override, watch, clock.hold_until(stand, stand.stage))
    elif found.verdict != VerdictState.PASS:
        label = VerdictState(found.verdict).label.lower()
        yield Condition("gates", False, f"The gates say: {label}.", label, "pass")
        yield from (Condition("gate", False, f"{why}.") for why in found.reasons[:SHOWN])
    elif found.action != Action.ADVANCE:
        said = f"The gates pass and hold: {found.why}."
        until = _yet_to_come(clock.hold_until(stand, stand.stage), stand.now)
        yield Condition("gates", False, said, "pass", "pass over the whole hold", until)
    else:
        yield _fresh(watch, stand.now, passes=True)


def gates_of(
    stand: Stand, segment: str, apart: frozenset[str], until: datetime | None
) -> Iterator[Condition]:
    """The judgement of one segment, or ("") of all that is not in `apart`.

    `until` is the end of its own hold, which the records must cover.
    """
    watch, found = stand.watch, stand.evaluation
    if watch is None or found is None:
        yield _unjudged()
        return
    if override := in_force(stand.rollout, found):
        yield from _overridden(stand, override, watch, until)
        return
    valid = found.validity.get("state") == "ok"
    if not valid:
        yield from _held(found)
    rows = _rows(found, segment, apart)
    for row in rows:
        if row.verdict != VerdictState.PASS:
            said = f"{_where(row)}: {row.message}."
            now = f"{VerdictState(row.verdict).label.lower()} on {row.n:,}"
            yield Condition(row.metric, False, said, now, "pass", of=row.segment or "whole")
    if not rows:
        yield Condition("gates", False, f"No gate judged {segment or 'the rest'}.", "none", "pass")
    yield from _uncovered(found, until, stand.now)
    passes = valid and bool(rows) and all(row.verdict == VerdictState.PASS for row in rows)
    yield _fresh(watch, stand.now, passes=passes)


def _overridden(
    stand: Stand, override: Override, watch: Watch, until: datetime | None
) -> Iterator[Condition]:
    """Two people took it upon them that this judgement is enough; the hold is not theirs to cut."""
    asked, confirmed = override.asked_by, override.confirmed_by
    said = f"Inconclusive, overridden by {asked} and {confirmed}: {override.reason}"
    yield Condition("gates", True, said, "inconclusive", "pass")
    if watch.evaluation is not None:
        yield from _uncovered(watch.evaluation, until, stand.now)
    yield _fresh(watch, stand.now, passes=False)


def _uncovered(found: Evaluation, until: datetime | None, now: datetime) -> Iterator[Condition]:
    if until is None or found.watermark < until:
        said, seen = "The records do not cover the hold yet.", f"to {found.watermark:%H:%M:%S}"
        yield Condition("gates", False, said, seen, until=_yet_to_come(until, now))


def _yet_to_come(until: datetime | None, now: datetime) -> datetime | None:
    """As long as time alone is missing; afterwards the records are."""
    return until if until and until > now else None


def _unjudged() -> Condition:
    said = "The gates have not been evaluated on this publication."
    return Condition("gates", False, said, "no data", "pass")


def _held(found: Evaluation) -> Iterator[Condition]:
    for check in found.validity.get("checks", []):
        if check["state"] != "ok":
            yield Condition("gates", False, f"{check['name']}: {check['message']}.")


def _rows(found: Evaluation, segment: str, apart: frozenset[str]) -> list[Verdict]:
    """A segment's own rows; of the rest, those of the whole and of every segment that is in it."""
    rows = Verdict.objects.filter(evaluation=found)
    if segment:
        return list(rows.filter(segment=segment))
    return list(rows.exclude(segment__in=apart))


def _where(row: Verdict) -> str:
    return f"{row.metric}, " + (f"segment {row.segment}" if row.segment else "whole")


def _fresh(watch: Watch, now: datetime, *, passes: bool) -> Condition:
    """That it was looked at of late; a pass is claimed only where everything asked of it passes."""
    asked = "looked at within a minute"
    if watch.looked_at is None or now - watch.looked_at > FRESH_FOR:
        return Condition(
            "gates", False, "The last evaluation is too old to go on by.", "stale", asked
        )
    if passes:
        return Condition("gates", True, "A fresh valid pass.", "pass", "pass")
    return Condition("gates", True, "The evaluation is of the last minute.", "fresh", asked)
