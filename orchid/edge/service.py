"""Admission at this edge: decide, promise, keep the books, write down what happened."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from orchid.edge import records
from orchid.edge.active import Active, Cohort
from orchid.edge.ask import Admit, Cancel, Settle, to_ms
from orchid.edge.journal import Journal, JournalError
from orchid.edge.metrics import Metrics
from orchid.edge.pools import PoolEndpoint
from orchid.edge.queue import Turns, latest_start_ms
from orchid.engine.admission.decide import decide
from orchid.engine.admission.overload import NORMAL, Ladder, Sample, ladder_rules, observe
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.admission.state import AdmissionState
from orchid.engine.wire.records import RequestRecord, encode_record, parse_record

GRACE_MS = 30_000.0


@dataclass(slots=True)
class OpenAttempt:
    """A promise that is not ended. Without a policy it was made before this process began."""

    record: RequestRecord
    expires_ms: float
    policy: CompiledPolicy | None = None


@dataclass(frozen=True, slots=True)
class Granted:
    """An admitted request: the attempt, and where it is served."""

    attempt_id: str
    decision: Decision
    record: RequestRecord
    endpoint: PoolEndpoint | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request; without a decision there was no generation to decide by."""

    decision: Decision | None
    digest: str | None


class Service:
    """One edge's admission. It lives on one event loop, which is what makes its moves atomic."""

    def __init__(
        self,
        product: str,
        edge: str,
        journal: Journal,
        metrics: Metrics,
        now_ms: Callable[[], float],
    ) -> None:
        self.product, self.edge = product, edge
        self.journal, self.metrics, self.now_ms = journal, metrics, now_ms
        self.active: Active | None = None
        self.state = AdmissionState()
        self.open: dict[str, OpenAttempt] = {}
        self.endpoints: dict[str, PoolEndpoint] = {}
        self._ladder: Ladder = NORMAL
        self._turns = Turns()
        self._asking: dict[str, asyncio.Task[Granted | Refused]] = {}
        self._granted: dict[str, Granted] = {}  # by request id, while its attempt is open
        self._arrivals: dict[str, float] = {}  # of requests on their way to an open row or a record

    async def restore(self) -> None:
        """Take over attempts that were open when the last process ended; they can be settled."""
        for row in await self.journal.open_rows():
            record = parse_record(row.record)
            self.open[row.attempt_id] = OpenAttempt(record, row.expires_ms)

    async def admit(self, ask: Admit) -> Granted | Refused:
        """Decide a request, once: the same id again joins the decision or the open attempt."""
        if ask.request_id in self._granted:
            return self._granted[ask.request_id]
        task = self._asking.get(ask.request_id)
        if task is None:
            task = asyncio.create_task(self._admit(ask))
            self._asking[ask.request_id] = task
            task.add_done_callback(lambda _: self._asking.pop(ask.request_id, None))
        return await asyncio.shield(task)

    async def _admit(self, ask: Admit) -> Granted | Refused:
        arrived_ms = to_ms(ask.arrived_at) if ask.arrived_at else self.now_ms()
        self._arrivals[ask.request_id] = arrived_ms
        try:
            return await self._decided(ask, arrived_ms)
        finally:
            del self._arrivals[ask.request_id]

    async def _decided(self, ask: Admit, arrived_ms: float) -> Granted | Refused:
        active = self.active
        if active is None:
            return await self._refuse_unpublished(ask, arrived_ms)
        request = _request(ask, arrived_ms)
        policy, cohort = active.policy_for(request, ask.session)
        decision = await self._decide(request, policy)
        record = self._begun(ask, decision, policy, active.bundle.publication, cohort)
        self.metrics.decided(decision)
        if decision.offer is None:
            await self.journal.ended(None, arrived_ms, encode_record(record))
            return Refused(decision, policy.digest)
        return await self._promise(decision, policy, record)

    async def _decide(self, request: AdmissionRequest, policy: CompiledPolicy) -> Decision:
        """Decide, or wait in the queue and ask again at each release and at the last moment."""
        pool = self.state.pools.get(policy.pool)
        if pool is not None:
            room = float(policy.document.admission.max_queued_teu) or 1.0
            wait_ms, queued = pool.wait_ms(self.now_ms()), float(pool.queued_teu()) / room
            held = self.state.live_tokens(pool=policy.pool) / policy.live_tokens_of_pool
            rules, sample = ladder_rules(policy.document), Sample(wait_ms, queued, held)
            self._ladder = observe(self._ladder, sample, rules, self.now_ms())
            self.state.compact_first = bool(self._ladder.compact)
        try:
            while True:
                decision = decide(request, self.state, policy, self.now_ms())
                if decision.offer is None or not decision.offer.wait:
                    return decision
                self.state.enqueue(decision, decision.offer)
                until_ms = latest_start_ms(decision, decision.offer, policy.reserve_ms)
                await self._turns.next_change(until_ms - self.now_ms() + 1.0)
        finally:
            if pool is not None and request.request_id in pool.queued:
                self.state.leave_queue(pool.name, request.request_id)
                self._turns.wake()

    async def _promise(
        self, decision: Decision, policy: CompiledPolicy, record: RequestRecord
    ) -> Granted:
        attempt_id, now_ms = uuid.uuid4().hex, self.now_ms()
        expires_ms = decision.shape.due_ms + GRACE_MS
        self.state.reserve(attempt_id, decision, policy, now_ms, expires_ms)
        record = records.with_attempt(record, attempt_id, decision, policy)
        self.open[attempt_id] = OpenAttempt(record, expires_ms, policy)
        granted = Granted(attempt_id, decision, record, self.endpoints.get(policy.pool))
        self._granted[record.request_id] = granted
        try:
            await self.journal.opened(attempt_id, expires_ms, encode_record(record))
        except JournalError:
            self._take_back(attempt_id, record.request_id)
            raise
        return granted

    def _take_back(self, attempt_id: str, request_id: str) -> None:
        """Unmake a promise that could not be written down: nobody was told of it."""
        del self.open[attempt_id]
        self._granted.pop(request_id, None)
        self.state.cancel_undispatched(attempt_id, self.now_ms())
        self._turns.wake()

    async def settle(self, settle: Settle) -> bool | None:
        """End an attempt: True now, False when it had ended before, None when nobody knows it."""
        held = self.open.pop(settle.attempt_id, None)
        if held is None:
            return False if settle.attempt_id in self.state.ended else None
        now_ms = self.now_ms()
        reservation = self.state.live.get(settle.attempt_id)
        if reservation is not None:
            unknown = settle.output_tokens is None
            used = reservation.offer.output_tokens if unknown else settle.output_tokens or 0
            self.state.settle(settle.attempt_id, used, now_ms)
        ended_ms = max(0.0, now_ms - to_ms(held.record.arrived_at))
        record = records.finished(held.record, settle, held.policy, ended_ms)
        await self._end(settle.attempt_id, record)
        return True

    async def cancel(self, cancel: Cancel) -> str | None:
        """Note that the client gave up; what was never dispatched is given back at once."""
        held = self.open.get(cancel.attempt_id)
        if held is None:
            return "ended" if cancel.attempt_id in self.state.ended else None
        asked_ms = max(0.0, self.now_ms() - to_ms(held.record.arrived_at))
        if cancel.dispatched:
            held.record = records.cancel_asked(held.record, asked_ms)
            return "asked"
        del self.open[cancel.attempt_id]
        self.state.cancel_undispatched(cancel.attempt_id, self.now_ms())
        await self._end(cancel.attempt_id, records.cancelled(held.record, asked_ms))
        return "released"

    async def expire(self) -> int:
        """End attempts that nobody settled in time: they are lost, and say so."""
        now_ms = self.now_ms()
        self.state.expire(now_ms)
        due = [key for key, held in self.open.items() if held.expires_ms <= now_ms]
        for attempt_id in due:
            await self._end(attempt_id, self.open.pop(attempt_id).record)
        return len(due)

    def use_pools(self, endpoints: dict[str, PoolEndpoint]) -> None:
        """Take over which pools are ready."""
        if endpoints == self.endpoints:
            return
        self.endpoints = endpoints
        ready = ((e.pool, e.slots, frozenset(e.models)) for e in endpoints.values())
        self.state.replace_pools(ready, self.now_ms())
        self._turns.wake()

    def open_sequences(self) -> dict[str, int]:
        """Attempts still open under each digest."""
        digests = (held.record.digest for held in self.open.values())
        return dict(Counter(digest for digest in digests if digest is not None))

    def earliest_unwritten_ms(self) -> float | None:
        """The earliest arrival of a request that has no finished record yet."""
        arrivals = [to_ms(held.record.arrived_at) for held in self.open.values()]
        return min([*arrivals, *self._arrivals.values()], default=None)

    async def _refuse_unpublished(self, ask: Admit, arrived_ms: float) -> Refused:
        record = records.unpublished(
            ask, product=self.product, edge=self.edge, arrived_ms=arrived_ms
        )
        self.metrics.refused_without_bundle()
        await self.journal.ended(None, arrived_ms, encode_record(record))
        return Refused(None, None)

    def _begun(
        self,
        ask: Admit,
        decision: Decision,
        policy: CompiledPolicy,
        publication: int,
        cohort: Cohort,
    ) -> RequestRecord:
        return records.begun(
            ask,
            decision,
            policy,
            edge=self.edge,
            publication=publication,
            cohort=cohort,
            admission_ms=max(0.0, self.now_ms() - decision.shape.request.arrived_ms),
            load_state=self._ladder.name,
        )

    async def _end(self, attempt_id: str, record: RequestRecord) -> None:
        arrived_ms = self._arrivals[attempt_id] = to_ms(record.arrived_at)
        self._granted.pop(record.request_id, None)
        self._turns.wake()
        try:
            await self.journal.ended(attempt_id, arrived_ms, encode_record(record))
        except JournalError:
            # Its record is kept, due at once: each round of expiry tries to write it again.
            self.open[attempt_id] = OpenAttempt(record, self.now_ms())
            raise
        finally:
            del self._arrivals[attempt_id]
        self.metrics.ended(record)


def _request(ask: Admit, arrived_ms: float) -> AdmissionRequest:
    return AdmissionRequest(
        request_id=ask.request_id,
        class_=ask.class_,
        arrived_ms=arrived_ms,
        tenant=ask.tenant,
        tenant_class=ask.tenant_class,
        region=ask.region,
        segment=ask.segment,
        input_tokens=ask.input_tokens,
        max_output_tokens=ask.max_output_tokens,
        cached_input_tokens=ask.cached_input_tokens,
        deadline_ms=ask.deadline_ms,
    )
