"""What one attempt holds, and from whom it was taken."""

import msgspec

from orchid.engine.admission.budgets import Account
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Pool
from orchid.engine.admission.replica import Replica
from orchid.engine.admission.request import Decision, Offer
from orchid.engine.admission.shares import Buckets


class Reservation(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What one attempt holds, under the generation it was admitted by and settles by."""

    attempt_id: str
    policy: CompiledPolicy
    decision: Decision
    offer: Offer
    reserved_ms: float
    expires_ms: float
    pool: Pool
    replica: Replica | None
    buckets: Buckets
    accounts: tuple[Account, ...]

    @property
    def tenant(self) -> str:
        return self.decision.shape.request.tenant
