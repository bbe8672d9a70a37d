"""The requests of this edge by where they stand: open, resting, deferred or over.

Each move is made in memory at once, so nothing else comes between, and in the journal before its
client is told. A move that can't be written down is taken back, or tried again until it is.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from orchid.edge.ask import Admit, to_ms
from orchid.edge.journal import Journal, JournalError
from orchid.edge.problems import deferral_over, deferral_taken, unknown_deferral
from orchid.edge.standing import Granted, OpenAttempt, Resting
from orchid.edge.tables import DeferredRow, Ending, OpenRow, RestingRow
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.wire.records import RequestRecord, encode_record, parse_record

ENDED_REMEMBERED = 100_000
DEFERRED_LIMIT = 50_000
ATTEMPTS_RECORDED = 64  # what one record holds


class Requests:
    """Where each request stands, in memory and on disk."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.open: dict[str, OpenAttempt] = {}  # by attempt id
        self.granted: dict[str, Granted] = {}  # by request id, while its attempt is open
        self.resting: dict[str, Resting] = {}  # by request id
        self.deferred: dict[str, DeferredRow] = {}  # by deferral id
        self.ended: dict[str, float] = {}  # by request id: when
        self.arrivals: dict[str, float] = {}  # of what is on its way to the journal
        self._claims: dict[str, str] = {}  # deferral ids that a request now asks to run

    async def restore(self) -> None:
        """Take over what was open when the last process ended."""
        for row in await self._journal.open_rows():
            record = parse_record(row.record)
            self.open[row.attempt_id] = OpenAttempt(record, row.expires_ms)
            self.granted[record.request_id] = Granted(row.attempt_id, record)
        for rest in await self._journal.resting_rows():
            self.resting[rest.request_id] = Resting(parse_record(rest.record), rest.expires_ms)
        self.deferred = {row.id: row for row in await self._journal.deferred_rows()}
        self.ended = dict((await self._journal.ended_ids())[-ENDED_REMEMBERED:])

    async def promise(self, granted: Granted, opened: OpenAttempt, continues: str | None) -> None:
        """An attempt begins. Raises JournalError, and then nothing has changed."""
        request_id, attempt_id = opened.record.request_id, granted.attempt_id
        rested = self.resting.pop(request_id, None)
        self.open[attempt_id], self.granted[request_id] = opened, granted
        row = OpenRow(attempt_id, opened.expires_ms, encode_record(opened.record))
        try:
            await self._journal.opened(row, request_id, continues)
        except JournalError:
            del self.open[attempt_id], self.granted[request_id]
            if rested is not None:
                self.resting[request_id] = rested
            raise
        if continues in self.deferred:
            self.deferred[continues] = self.deferred[continues].taken_up(request_id)

    async def rest(self, record: RequestRecord, attempt_id: str, now_ms: float) -> float:
        """An attempt ended and its request stays open for another: up to its deadline."""
        request_id, expires_ms = record.request_id, due_ms(record)
        self.granted.pop(request_id, None)
        rests = self.resting[request_id] = Resting(record, expires_ms)
        try:
            row = RestingRow(request_id, expires_ms, encode_record(record))
            await self._journal.rested(attempt_id, row)
        except JournalError:
            # On disk it is an open attempt still: it ends by expiry, at once and as it is.
            if self.resting.get(request_id) is rests:
                del self.resting[request_id]
                self.open[attempt_id] = OpenAttempt(record, now_ms)
                self._use_up(request_id, now_ms)
            raise
        return expires_ms

    async def end(
        self,
        record: RequestRecord,
        now_ms: float,
        attempt_id: str | None = None,
        deferred: DeferredRow | None = None,
    ) -> None:
        """A request is over: its record is written, and its id is used up."""
        request_id, arrived_ms = record.request_id, to_ms(record.arrived_at)
        key = attempt_id or f"over {request_id}"
        self.arrivals[key] = arrived_ms
        self.granted.pop(request_id, None)
        rested = self.resting.pop(request_id, None)
        self._use_up(request_id, now_ms)  # now: nobody begins it anew while the disk is busy
        line = encode_record(record)
        try:
            await self._journal.ended(
                Ending(request_id, now_ms, arrived_ms, line, attempt_id, deferred)
            )
        except JournalError:
            # Its record is kept, due at once: each round of expiry tries to write it again.
            if attempt_id is not None:
                self.open[attempt_id] = OpenAttempt(record, now_ms)
            elif rested is not None:
                self.resting[request_id] = Resting(rested.record, now_ms)
            else:
                del self.ended[request_id]
            raise
        finally:
            del self.arrivals[key]
        if deferred is not None:
            self.deferred[deferred.id] = deferred

    def is_over(self, request_id: str) -> bool:
        """Whether the id is used up. That of deferred work is for as long as the work is kept."""
        return request_id in self.ended or request_id in self.deferred

    def first_arrived_ms(self, record: RequestRecord) -> float | None:
        """Of the deferred work that an open request runs, while that is remembered."""
        row = self.deferred.get(record.continues or "")
        return row.first_arrived_ms if row is not None else None

    @contextmanager
    def taking_up(self, ask: Admit, now_ms: float) -> Iterator[float | None]:
        """While a request asks to run deferred work, no other may: yields the first arrival."""
        if ask.continues is None:
            yield None
            return
        row = self._runnable(ask.continues, ask, now_ms)
        self._claims[row.id] = ask.request_id
        try:
            yield row.first_arrived_ms
        finally:
            del self._claims[row.id]

    def _runnable(self, name: str, ask: Admit, now_ms: float) -> DeferredRow:
        row = self.deferred.get(name)
        if row is None or (row.tenant, row.class_) != (ask.tenant, ask.class_):
            raise unknown_deferral(name)
        run = row.run or self._claims.get(name)
        if run is not None:
            raise deferral_taken(name, run)
        if row.until_ms < now_ms:
            raise deferral_over(name)
        return row

    @property
    def may_defer(self) -> bool:
        """Whether there is room to remember one more deferral."""
        return len(self.deferred) < DEFERRED_LIMIT

    def _use_up(self, request_id: str, at_ms: float) -> None:
        self.ended[request_id] = at_ms
        if len(self.ended) > ENDED_REMEMBERED:
            del self.ended[next(iter(self.ended))]

    async def forget(self, before_ms: float) -> None:
        """Drop ids that ended and deferrals that were over before a moment."""
        while self.ended and next(iter(self.ended.values())) < before_ms:
            del self.ended[next(iter(self.ended))]
        over = [row.id for row in self.deferred.values() if row.until_ms < before_ms]
        for name in over:
            del self.deferred[name]
        full = len(self.ended) >= ENDED_REMEMBERED
        oldest_ms = next(iter(self.ended.values())) if full else before_ms
        await self._journal.forget(oldest_ms, before_ms)

    def open_sequences(self) -> dict[str, int]:
        """Requests still open under each digest, between two attempts too."""
        digests = (record.digest for record in self._unwritten())
        return dict(Counter(digest for digest in digests if digest is not None))

    def open_manifests(self) -> dict[str, dict[str, int]]:
        """Of those that have an attempt, how many under each manifest of each digest."""
        counted: dict[str, Counter[str]] = {}
        for record in self._unwritten():
            manifest = record.attempts[-1].manifest if record.attempts else None
            if record.digest is not None and manifest is not None:
                counted.setdefault(record.digest, Counter())[manifest] += 1
        return {digest: dict(counts) for digest, counts in counted.items()}

    def earliest_unwritten_ms(self) -> float | None:
        """The earliest arrival of a request that has no finished record yet."""
        arrivals = (to_ms(record.arrived_at) for record in self._unwritten())
        return min(chain(arrivals, self.arrivals.values()), default=None)

    def _unwritten(self) -> Iterator[RequestRecord]:
        yield from (held.record for held in self.open.values())
        yield from (held.record for held in self.resting.values())


def due_ms(record: RequestRecord) -> float:
    """The request's deadline as a moment."""
    return to_ms(record.arrived_at) + (record.deadline_ms or 0.0)


def may_try_again(record: RequestRecord, policy: CompiledPolicy | None, now_ms: float) -> bool:
    """Whether a request has an attempt left, and a moment for it."""
    allowed = ATTEMPTS_RECORDED
    if policy is not None:
        allowed = min(allowed, policy.retry.attempts_per_request)
    return len(record.attempts) < allowed and now_ms < due_ms(record)
