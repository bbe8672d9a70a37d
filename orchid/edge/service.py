"""Admission at this edge: decide, promise, keep the books, write down what happened."""

import asyncio
import uuid
from collections.abc import Callable

from orchid.edge import records
from orchid.edge.active import Active
from orchid.edge.ask import Admit, Cancel, Settle, Tell, to_ms
from orchid.edge.fleet import Fleet
from orchid.edge.journal import Journal, JournalError
from orchid.edge.line import Line
from orchid.edge.metrics import Metrics
from orchid.edge.pools import Endpoints
from orchid.edge.problems import request_ended, unknown_attempt
from orchid.edge.questions import Question, first_question, next_question, refuse_difference
from orchid.edge.requests import Requests, may_try_again
from orchid.edge.shadow import Shadow
from orchid.edge.standing import (
    Answer,
    Deferred,
    Granted,
    OpenAttempt,
    Refused,
    Resting,
    Settled,
    charged,
    without_room,
)
from orchid.edge.tables import DeferredRow
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Decision
from orchid.engine.admission.state import AdmissionState
from orchid.engine.wire.records import RequestRecord

GRACE_MS = 30_000.0
REMEMBERED_MS = 3_600_000.0  # an arrival may be that old, so an id is known for as long


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
        self.requests = Requests(journal)
        self.fleet = Fleet(self.state, metrics, lambda: self.now_ms())
        self.line = Line(self.state, self.fleet, lambda: self.now_ms())
        self.shadow = Shadow(product, self.state, metrics, lambda: self.now_ms())
        self._asking: dict[str, tuple[Admit, asyncio.Task[Answer]]] = {}

    async def restore(self) -> None:
        """Take over what was open when the last process ended; it can be settled and retried."""
        await self.requests.restore()

    def activate(self, active: Active) -> None:
        """Decide by another publication from now on."""
        self.active = active
        self.fleet.govern(active.policies)
        self.shadow.follow(active)
        self.shadow.use_replicas(self.fleet.in_service())
        self.line.changed()

    def use_pools(self, endpoints: Endpoints) -> None:
        """Take over which replicas are ready and what they say; time itself may change a turn."""
        if self.fleet.use_pools(endpoints):
            self.line.rearranged()
        self.fleet.observe_all()
        if self.shadow.mode is not None:
            self.shadow.use_replicas(self.fleet.in_service())
        self.line.changed()

    def tell(self, tell: Tell) -> None:
        """Hear a replica. Raises EdgeError for one that isn't known."""
        self.fleet.tell(tell)
        self.line.changed()

    async def admit(self, ask: Admit, *, explain: bool = False) -> Answer:
        """Decide a request, once: the same id again joins the decision or the open attempt.

        Between two attempts it is the request's next one. Raises EdgeError when it is over, and
        for who asks as another tenant or class: no answer is for them.
        """
        if (asking := self._asking.get(ask.request_id)) is not None:
            refuse_difference(ask, asking[0])
            return await asyncio.shield(asking[1])
        if (granted := self.requests.granted.get(ask.request_id)) is not None:
            refuse_difference(ask, granted.record)
            return granted
        return await asyncio.shield(self._begin(ask, explain=explain))

    def _begin(self, ask: Admit, *, explain: bool) -> asyncio.Task[Answer]:
        """Ask on behalf of all who come with this id until there is an answer."""
        if self.requests.is_over(ask.request_id):
            raise request_ended(ask.request_id)
        task = asyncio.create_task(self._admit(ask, explain=explain))
        self._asking[ask.request_id] = ask, task
        task.add_done_callback(lambda _: self._asking.pop(ask.request_id, None))
        return task

    async def _admit(self, ask: Admit, *, explain: bool) -> Answer:
        arrived_ms = to_ms(ask.arrived_at) if ask.arrived_at else self.now_ms()
        key = f"asks {ask.request_id}"
        self.requests.arrivals[key] = arrived_ms
        try:
            if self.active is None:
                return await self._refuse_unpublished(ask, arrived_ms)
            if (resting := self.requests.resting.get(ask.request_id)) is not None:
                return await self._attempted_again(ask, self.active, resting, explain=explain)
            with self.requests.taking_up(ask, self.now_ms()) as first_arrived_ms:
                question = first_question(
                    ask, self.active, arrived_ms, first_arrived_ms, explain=explain
                )
                return await self._answered(question)
        finally:
            del self.requests.arrivals[key]

    async def _attempted_again(
        self, ask: Admit, active: Active, resting: Resting, *, explain: bool
    ) -> Answer:
        """The next attempt. A request whose generation is gone is over."""
        first_ms = self.requests.first_arrived_ms(resting.record)
        question = next_question(ask, active, resting, first_ms, explain=explain)
        if question is None:
            await self._end(resting.record)
            raise request_ended(ask.request_id)
        return await self._answered(question)

    async def _answered(self, question: Question) -> Answer:
        asked = self.shadow.asks(question)
        decision = await self.line.decision(question)
        if asked is not None:
            self.shadow.answered(asked, decision)
        self.metrics.decided(decision)
        if decision.offer is not None:
            return await self._promise(question, decision)
        if decision.deferral is not None and self.requests.may_defer:
            return await self._defer(question, decision)
        return await self._refuse(question, without_room(decision))

    async def _promise(self, question: Question, decision: Decision) -> Granted:
        offer, policy, now_ms = decision.offer, question.policy, self.now_ms()
        assert offer is not None
        attempt_id, expires_ms = uuid.uuid4().hex, decision.shape.due_ms + GRACE_MS
        self.state.reserve(attempt_id, decision, policy, now_ms, expires_ms)
        begun = question.resting.record if question.resting else self._begun(question, decision)
        begun_ms = max(0.0, now_ms - question.request.arrived_ms)
        record = records.with_attempt(begun, attempt_id, decision, policy, begun_ms)
        granted = Granted(attempt_id, record, offer.early_stop, decision.explained)
        opened = OpenAttempt(record, expires_ms, policy)
        try:
            await self.requests.promise(granted, opened, question.ask.continues)
        except JournalError:
            # Nobody was told of it, so nothing runs.
            self.state.cancel_undispatched(attempt_id, self.now_ms())
            self.line.changed()
            raise
        self.metrics.attempted(question.request.attempt)
        return granted

    async def _defer(self, question: Question, decision: Decision) -> Deferred:
        """Put work off under an id; it and the record are on disk before the client is told."""
        deferral, request = decision.deferral, question.request
        assert deferral is not None
        row = DeferredRow(
            deferral.id,
            request.tenant,
            request.class_,
            request.first_arrived_ms or request.arrived_ms,
            deferral.until_ms,
        )
        await self._end(self._over(question, decision), deferred=row)
        return Deferred(decision, deferral, question.policy.digest)

    async def _refuse(self, question: Question, decision: Decision) -> Refused:
        """Refuse. A request that rests goes on doing so while it may still come back."""
        assert decision.refusal is not None
        if question.resting is None or not decision.refusal.retryable:
            await self._end(self._over(question, decision))
        return Refused(decision, question.policy.digest)

    def _over(self, question: Question, decision: Decision) -> RequestRecord:
        """The whole record of a request that gets no (further) attempt."""
        if question.resting is None:
            return self._begun(question, decision)
        return records.not_continued(question.resting.record, decision)

    def _begun(self, question: Question, decision: Decision) -> RequestRecord:
        return records.begun(
            question.ask,
            decision,
            question.policy,
            edge=self.edge,
            publication=question.publication,
            cohort=question.cohort,
            admission_ms=max(0.0, self.now_ms() - question.request.arrived_ms),
            load_state=self.fleet.ladder(question.policy).name,
        )

    async def _refuse_unpublished(self, ask: Admit, arrived_ms: float) -> Refused:
        record = records.unpublished(
            ask, product=self.product, edge=self.edge, arrived_ms=arrived_ms
        )
        self.metrics.refused_without_bundle()
        await self._end(record)
        return Refused(None, None)

    async def settle(self, settle: Settle) -> Settled:
        """End an attempt, and its request with it unless another attempt may follow."""
        held = self._closed(settle.attempt_id, settle.output_tokens)
        if held is None:
            self._refuse_unknown(settle.attempt_id)
            return Settled(now=False)
        now_ms = self.now_ms()
        reservation, charge = self.state.live.get(settle.attempt_id), None
        if reservation is not None:
            unknown = settle.output_tokens is None
            used = reservation.offer.output_tokens if unknown else settle.output_tokens or 0
            self.fleet.judge(reservation, held.record, settle)
            self.state.settle(settle.attempt_id, used, now_ms)
            charge = charged(reservation, used)
        ended_ms = max(0.0, now_ms - to_ms(held.record.arrived_at))
        policy = held.policy or self._policy_of(held.record)
        record = records.finished(held.record, settle, policy, ended_ms)
        if settle.final or not may_try_again(record, policy, now_ms):
            await self._end(record, settle.attempt_id)
            return Settled(now=True, charge=charge)
        self.line.changed()
        until_ms = await self.requests.rest(record, settle.attempt_id, now_ms)
        return Settled(now=True, until_ms=until_ms, charge=charge)

    def _policy_of(self, record: RequestRecord) -> CompiledPolicy | None:
        """Of a promise from before a restart: its generation, while that is served."""
        return self.active.policy_of(record.digest) if self.active is not None else None

    async def cancel(self, cancel: Cancel) -> str:
        """Note that the client gave up; what was never dispatched is given back at once."""
        held = self.requests.open.get(cancel.attempt_id)
        if held is None:
            self._refuse_unknown(cancel.attempt_id)
            return "ended"
        asked_ms = max(0.0, self.now_ms() - to_ms(held.record.arrived_at))
        if cancel.dispatched:
            held.record = records.cancel_asked(held.record, asked_ms)
            return "asked"
        self._closed(cancel.attempt_id, 0)
        self.state.cancel_undispatched(cancel.attempt_id, self.now_ms())
        await self._end(records.cancelled(held.record, asked_ms), cancel.attempt_id)
        return "released"

    def _closed(self, attempt_id: str, output_tokens: int | None = None) -> OpenAttempt | None:
        """The attempt, open no more; that it was there is remembered, though a process ago."""
        held = self.requests.open.pop(attempt_id, None)
        if held is not None:
            self.state.ended.put(attempt_id, True)
            attempt = len(held.record.attempts)
            self.shadow.ended(held.record.request_id, attempt, output_tokens)
        return held

    def _refuse_unknown(self, attempt_id: str) -> None:
        """Raise EdgeError for an attempt that is neither open nor over."""
        if attempt_id not in self.state.ended:
            raise unknown_attempt(attempt_id)

    async def expire(self) -> int:
        """End attempts that nobody settled in time, and requests whose next one never came."""
        now_ms = self.now_ms()
        self.state.expire(now_ms)
        lost = [key for key, held in self.requests.open.items() if held.expires_ms <= now_ms]
        ended = 0
        for attempt_id in lost:
            if (held := self._closed(attempt_id)) is not None:  # settled while the disk was busy
                await self._end(held.record, attempt_id)
                ended += 1
        rested = [key for key, rest in self.requests.resting.items() if rest.expires_ms <= now_ms]
        for request_id in rested:
            resting = self.requests.resting.get(request_id)
            if resting is not None and request_id not in self._asking:
                await self._end(resting.record)
                ended += 1
        return ended

    async def forget(self) -> None:
        """Let go of ids and deferrals that nobody can come back to."""
        await self.requests.forget(self.now_ms() - REMEMBERED_MS)

    async def _end(
        self,
        record: RequestRecord,
        attempt_id: str | None = None,
        deferred: DeferredRow | None = None,
    ) -> None:
        self.line.changed()
        await self.requests.end(record, self.now_ms(), attempt_id, deferred)
        if record.attempts:
            self.metrics.ended(record)
