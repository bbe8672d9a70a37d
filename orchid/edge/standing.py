"""How a request stands at this edge, and what its client is answered."""

from dataclasses import dataclass

from msgspec.structs import replace

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Constraint, Decision, Deferral, Reason, Refusal
from orchid.engine.admission.reservation import Reservation
from orchid.engine.pricing import Charge
from orchid.engine.wire.records import RequestRecord


@dataclass(slots=True)
class OpenAttempt:
    """A promise that is not ended. Without a policy it was made before this process began."""

    record: RequestRecord
    expires_ms: float
    policy: CompiledPolicy | None = None


@dataclass(frozen=True, slots=True)
class Resting:
    """A request between two attempts, and until when its client may begin the next."""

    record: RequestRecord
    expires_ms: float


@dataclass(frozen=True, slots=True)
class Granted:
    """An admitted request with its open attempt: what its record says is what was promised.

    After a restart the explanation is gone, and no early stop is allowed.
    """

    attempt_id: str
    record: RequestRecord
    early_stop: str | None = None
    explained: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Deferred:
    """Asynchronous work that is put off, under an id that outlives this process."""

    decision: Decision
    deferral: Deferral
    digest: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request; without a decision there was no generation to decide by."""

    decision: Decision | None
    digest: str | None


Answer = Granted | Deferred | Refused


@dataclass(frozen=True, slots=True)
class Settled:
    """Whether an attempt ended by this very word, and how long its request stays open.

    `charge` is None where nothing was reserved any more, so that nothing could be charged.
    """

    now: bool
    until_ms: float | None = None
    charge: Charge | None = None


def charged(held: Reservation, output_tokens: int) -> Charge:
    """What the attempt reserved against what it used, under the generation it was admitted by."""
    offer, policy = held.offer, held.policy
    used = policy.teu(policy.routes[offer.route], offer.input_tokens, output_tokens)
    return Charge(offer.teu, used)


def without_room(decision: Decision) -> Decision:
    """The decision without its deferral, for which there is no room."""
    if decision.deferral is None:
        return decision
    after_ms = decision.deferral.after_ms
    full = Refusal(Reason.QUEUE_FULL, True, after_ms, "deferred", 503)
    return replace(decision, deferral=None, refusal=full)
