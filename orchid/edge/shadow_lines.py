"""What is decided twice, as notes that a request leaves on its way and as lines to be sent."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from orchid.edge.active import Active
from orchid.edge.metrics import Metrics
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.admission.state import AdmissionState
from orchid.engine.shadow.differences import difference
from orchid.engine.shadow.sides import budget_used, side_of
from orchid.engine.wire.shadow import Mode, PassedOver, ShadowRecord, Side, encode_shadow

MOST_LINES = 5_000  # some megabytes


@dataclass(slots=True)
class Asked:
    """A request that is decided twice. `other` is the decision that did not hold.

    `era` names the candidate that is asked, so that no later one answers for it.
    """

    request: AdmissionRequest
    publication: int
    at_ms: float
    era: int
    decision: Decision | None = None
    other: Decision | None = None
    was_asked: bool = False
    is_written: bool = False


@dataclass(slots=True)
class Ended:
    """An attempt that is over, as the candidate's state has to know."""

    request_id: str
    attempt: int
    output_tokens: int | None
    at_ms: float


@dataclass(frozen=True, slots=True)
class Judge:
    """Who decided, and on what: a tenant's use of its budgets is read there."""

    policy: CompiledPolicy
    state: AdmissionState

    def side(self, decision: Decision, tenant: str, now_ms: float) -> Side:
        used = budget_used(self.state, self.policy, tenant, now_ms)
        return side_of(decision, used)


class ShadowLines:
    """Lines that wait to be sent, in bounded memory, and what was left out since the last one."""

    def __init__(self, product: str, metrics: Metrics, now_ms: Callable[[], float]) -> None:
        self._product, self._metrics, self._now_ms = product, metrics, now_ms
        self._passed_over: Counter[PassedOver] = Counter()
        self.waiting: deque[bytes] = deque()

    def begin(self) -> None:
        """Another candidate: what was left out of the last one's is not counted to it."""
        self._passed_over.clear()

    def pass_over(self, why: PassedOver) -> None:
        """Count a request that was to be decided twice and is not."""
        self._passed_over[why] += 1
        self._metrics.passed_over(why)

    def write(
        self, active: Active, asked: Asked, beside: Judge | None, state: AdmissionState
    ) -> None:
        """A line of both decisions; `beside` is the candidate where it has a state of its own."""
        decision, other, candidate = asked.decision, asked.other, active.candidate
        if decision is None or other is None or candidate is None or asked.is_written:
            return
        asked.is_written = True
        if len(self.waiting) >= MOST_LINES:
            self.pass_over("unsent")
            return
        tenant, now_ms = asked.request.tenant, self._now_ms()
        if beside is not None:
            incumbent = Judge(active.incumbent, state).side(decision, tenant, now_ms)
            sides = incumbent, beside.side(other, tenant, now_ms)
        else:
            alone = Judge(active.alone or active.incumbent, state)
            limited = Judge(active.incumbent, state).side(decision, tenant, now_ms)
            sides = alone.side(other, tenant, now_ms), limited
        mode: Mode = "shadow" if beside is not None else "hard_limits"
        self._metrics.decided_twice(mode, difference(*sides))
        record = self._record(asked, decision, mode, (active.incumbent, candidate), sides)
        self.waiting.append(encode_shadow(record))
        self._passed_over.clear()

    def _record(
        self,
        asked: Asked,
        decision: Decision,
        mode: Mode,
        policies: tuple[CompiledPolicy, CompiledPolicy],
        sides: tuple[Side, Side],
    ) -> ShadowRecord:
        request, shape = asked.request, decision.shape
        return ShadowRecord(
            mode=mode,
            request_id=request.request_id,
            product=self._product,
            publication=asked.publication,
            incumbent_digest=policies[0].digest,
            candidate_digest=policies[1].digest,
            at=datetime.fromtimestamp(asked.at_ms / 1000.0, UTC),
            class_=request.class_,
            incumbent=sides[0],
            candidate=sides[1],
            attempt=request.attempt,
            tenant=request.tenant,
            segment=dict(shape.dimensions),
            deadline_ms=shape.deadline_ms,
            input_tokens=shape.input_tokens,
            max_output_tokens=shape.output_tokens,
            passed_over=dict(self._passed_over),
        )
