"""Two documents over the same recorded requests: what each would have decided."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from orchid.engine.decision_diff.arrivals import Arrival, Arrivals, in_order
from orchid.engine.decision_diff.course import Course
from orchid.engine.decision_diff.fleet import policy_of
from orchid.engine.decision_diff.recorded import Recorded, moment_text
from orchid.engine.decision_diff.result import Answer, DecisionDiff, Mode
from orchid.engine.decision_diff.tally import Tally, Unreadable
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.records import Rejected, RequestRecord

Given = Recorded | RequestRecord | Rejected
PROGRESS_EVERY = 2000
BATCH = 512


def decision_diff(
    before: PolicyDocument,
    after: PolicyDocument,
    records: Iterable[Given],
    *,
    mode: Mode = "traffic",
    slots: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> DecisionDiff:
    """What changes when `after` decides instead of `before`.

    Pure and deterministic: the same documents and records give an equal result. Records are taken
    one by one, so any number of them needs the same memory. `slots` is how many requests a replica
    of either fleet runs at once; without it, as many as the document's concurrency allows one.
    `progress` is told now and then how many records were read.
    """
    return _Comparison(before, after, mode, slots, progress).over(records)


class _Comparison:
    """The two courses and what is known of requests that only one of them has decided."""

    def __init__(
        self,
        before: PolicyDocument,
        after: PolicyDocument,
        mode: Mode,
        slots: int | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        policies = policy_of(before), policy_of(after)
        self.mode, self.progress = mode, progress
        self.arrivals = Arrivals(before)
        self.tally = Tally()
        self.unreadable = Unreadable()
        self.shadow = self.out_of_order = 0
        self.first_ms: float | None = None
        self.last_ms: float | None = None
        alone = mode == "shape"
        self.before = Course(policies[0], slots, alone=alone)
        self.after = Course(policies[1], slots, alone=alone)
        self._waiting: dict[int, tuple[Arrival, Answer | None, Answer | None]] = {}

    def over(self, records: Iterable[Given]) -> DecisionDiff:
        arrivals, number = in_order(self._readable(records)), 0
        while batch := tuple(islice(arrivals, BATCH)):
            self._meet(number, batch)
            number += len(batch)
        self._late(self.before.finish(), self.after.finish())
        return self._result()

    def _readable(self, records: Iterable[Given]) -> Iterator[Arrival]:
        """The arrivals of those that are offered requests; the others are counted."""
        for read, record in enumerate(records, start=1):
            if self.progress is not None and read % PROGRESS_EVERY == 0:
                self.progress(read)
            if isinstance(record, Rejected):
                self.unreadable.add(record)
            elif record.cohort == "shadow":
                self.shadow += 1
            else:
                yield self.arrivals.of(record)

    def _meet(self, first: int, batch: tuple[Arrival, ...]) -> None:
        """Decide a batch by one document after the other, which a processor's caches like best."""
        self._watch_time(batch)
        one = [self.before.arrive(n, arrival) for n, arrival in enumerate(batch, first)]
        other = [self.after.arrive(n, arrival) for n, arrival in enumerate(batch, first)]
        for number, arrival in enumerate(batch):
            before, after = one[number], other[number]
            if before is not None and after is not None:
                self.tally.add(arrival, before, after)
            else:
                self._waiting[first + number] = (arrival, before, after)
        self._late(self.before.take(), self.after.take())

    def _watch_time(self, batch: tuple[Arrival, ...]) -> None:
        for arrival in batch:
            at_ms = arrival.request.arrived_ms
            if self.first_ms is None:
                self.first_ms = at_ms
            if self.last_ms is not None and at_ms < self.last_ms:
                self.out_of_order += 1
            else:
                self.last_ms = at_ms

    def _late(self, before: list[tuple[int, Answer]], after: list[tuple[int, Answer]]) -> None:
        """Requests that waited and were decided since: each joins its other decision."""
        for number, answer in before:
            arrival, _, other = self._waiting[number]
            self._waiting[number] = (arrival, answer, other)
            self._join(number)
        for number, answer in after:
            arrival, one, _ = self._waiting[number]
            self._waiting[number] = (arrival, one, answer)
            self._join(number)

    def _join(self, number: int) -> None:
        arrival, one, other = self._waiting[number]
        if one is not None and other is not None:
            del self._waiting[number]
            self.tally.add(arrival, one, other)

    def _result(self) -> DecisionDiff:
        tally = self.tally
        return DecisionDiff(
            mode=self.mode,
            n=tally.n,
            changed=tally.changed,
            changed_action=tally.changed_action,
            pairs=tally.pairs(),
            examples=tally.examples(),
            segments=tally.segments.shown(),
            tenants=tally.tenants.shown(),
            before=self.before.sums.side(),
            after=self.after.sums.side(),
            first_arrival=None if self.first_ms is None else moment_text(self.first_ms),
            last_arrival=None if self.last_ms is None else moment_text(self.last_ms),
            out_of_order=self.out_of_order,
            left_out={"shadow": self.shadow} if self.shadow else {},
            unreadable=self.unreadable.result(),
        )
