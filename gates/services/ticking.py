"""The tick: every window of which the judgement can have changed, the longest unseen first.

A tick has a budget of time and leaves the rest to the next, which begins with those that waited
longest: many windows never starve one. Two ticks at once share the work, since a window that is
being judged is passed over.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from django.db.models import F, Q

from gates.models import Watch, Window
from gates.services.asking import asked_windows
from gates.services.evaluation import evaluate_free
from gates.services.reading import farther, reading, running
from ingest.selectors import came_late
from orchid.engine.verdict.validity import State

#: Of windows that have closed, how long late records may still change the judgement.
LATE = timedelta(minutes=10)
#: What is looked at again although nothing told of a change; so its freshness is known as well.
LOOK_AGAIN = timedelta(seconds=20)
#: A tick begins no further window after so long: less than the time between two.
BUDGET = timedelta(milliseconds=1500)


def tick(clock: Callable[[], datetime], budget: timedelta = BUDGET) -> int:
    """Judge what is due; returns how many windows were judged."""
    begun = clock()
    judged = 0
    for window in _due(begun):
        now = clock()
        if judged and now - begun > budget:
            break
        judged += evaluate_free(window.pk, now) is not None
    return judged


def _due(now: datetime) -> Iterator[Window]:
    asked = asked_windows()
    still = Q(closes_at=None) | Q(closes_at__gte=now - LATE) | Q(pk__in=asked)
    windows = Window.objects.filter(still).select_related("product", "watch")
    for window in windows.order_by(F("watch__looked_at").asc(nulls_first=True), "pk"):
        if window.pk in asked or is_due(window, now):
            yield window


def is_due(window: Window, now: datetime) -> bool:
    """The watermark moved a step, records came late for what was judged, time alone may have
    changed the validity, or harm is in sight, also where not every edge has told everything."""
    watch: Watch | None = getattr(window, "watch", None)
    if watch is None or watch.looked_at is None or watch.state != State.OK:
        return True
    if now - watch.looked_at > LOOK_AGAIN or watch.judged_to is None:
        return True
    read = reading(window, watch, now)
    if read.end > watch.judged_to or watch.watched_to != read.end or read.reached is None:
        return True
    if now - read.reached > read.limits.hold_after:
        return True
    if sum(count for _, count in running(read)) != watch.running_violations:
        return True
    stream = (window.product, window.digest, window.publication, window.cohort)
    beyond = farther(read)
    until = beyond.end if beyond else watch.judged_to
    return came_late(*stream, (read.opened, until), watch.looked_at)
