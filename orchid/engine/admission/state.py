"""What admission knows and holds: pools, reservations by attempt id, shares and budgets.

Everything that a reservation takes is named in its own record, and returned from there exactly
once: by settling, by cancelling before dispatch, or by expiring. No counter exists beside these
sets that could disagree with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from orchid.engine.admission.budgets import Budgets, Usage
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Pool, Queued
from orchid.engine.admission.request import Decision, Offer, Shape
from orchid.engine.admission.shares import Buckets

ENDED_REMEMBERED = 100_000


@dataclass(slots=True)
class Reservation:
    """What one attempt holds, under the generation it was admitted by and settles by."""

    attempt_id: str
    policy: CompiledPolicy
    decision: Decision
    offer: Offer
    share_path: tuple[int, ...]
    reserved_ms: float
    expires_ms: float
    cancel_requested_ms: float | None = None

    @property
    def tenant(self) -> str:
        return self.decision.shape.request.tenant

    @property
    def request_id(self) -> str:
        return self.decision.shape.request.request_id


@dataclass(slots=True)
class AdmissionState:
    """The whole of it. One thread moves it; `decide` only reads."""

    pools: dict[str, Pool] = field(default_factory=dict)
    live: dict[str, Reservation] = field(default_factory=dict)
    ended: dict[str, None] = field(default_factory=dict)
    shares: dict[str, Buckets] = field(default_factory=dict)  # by digest
    budgets: Budgets = field(default_factory=Budgets)
    compact_first: bool = False  # the overload rung compact_fallback is in force

    def buckets(self, policy: CompiledPolicy) -> Buckets:
        """The share buckets of a generation; full ones when it was never charged."""
        return self.shares.get(policy.digest) or Buckets(policy.shares)

    def live_tokens(self, *, pool: str | None = None, tenant: str | None = None) -> int:
        """Tokens whose cache is held now, of a pool or of a tenant."""
        return sum(
            held.offer.live_tokens
            for held in self.live.values()
            if pool in (None, held.offer.pool) and tenant in (None, held.tenant)
        )

    def enqueue(self, decision: Decision, offer: Offer) -> None:
        """Take a place in the bounded queue of the offer's pool. Nothing else is held for it."""
        request_id = decision.shape.request.request_id
        service_ms = offer.prediction.service_ms or 0.0
        self.pools[offer.pool].queued[request_id] = Queued(offer.teu, service_ms)

    def leave_queue(self, pool: str, request_id: str) -> None:
        self.pools[pool].queued.pop(request_id, None)

    def reserve(
        self,
        attempt_id: str,
        decision: Decision,
        policy: CompiledPolicy,
        now_ms: float,
        expires_ms: float,
    ) -> Reservation:
        """Hold what an admitted decision promised. Refuses a second use of an attempt id."""
        offer = decision.offer
        if offer is None or attempt_id in self.live or attempt_id in self.ended:
            raise ValueError(f"attempt {attempt_id} can't be reserved")
        path = policy.shares.path(share_levels(decision.shape, offer.route, offer.pool))
        held = Reservation(attempt_id, policy, decision, offer, path, now_ms, expires_ms)
        self.live[attempt_id] = held
        buckets = self.shares.setdefault(policy.digest, Buckets(policy.shares))
        buckets.charge(path, offer.lender, float(offer.teu), now_ms)
        usage = usage_of(policy, offer.route, decision.shape.input_tokens, offer.output_tokens)
        self.budgets.reserve(policy.document.budgets, held.tenant, attempt_id, usage, now_ms)
        pool = self.pools[offer.pool]
        pool.dispatch(attempt_id, offer.prediction.service_ms or 0.0, now_ms)
        return held

    def settle(self, attempt_id: str, output_tokens: int, now_ms: float) -> Reservation | None:
        """Charge what was used and give back the rest; None when the attempt is not live."""
        held = self.live.get(attempt_id)
        if held is None:
            return None
        shape = held.decision.shape
        used = usage_of(held.policy, held.offer.route, shape.input_tokens, output_tokens)
        return self._end(held, used, now_ms)

    def cancel_undispatched(self, attempt_id: str, now_ms: float) -> Reservation | None:
        """Give back everything of an attempt that never reached the server."""
        held = self.live.get(attempt_id)
        return self._end(held, _nothing(), now_ms) if held else None

    def expire(self, now_ms: float) -> list[Reservation]:
        """End reservations past their own expiry, charged in full: nobody said what they used."""
        due = [held for held in self.live.values() if held.expires_ms <= now_ms]
        for held in due:
            self.settle(held.attempt_id, held.offer.output_tokens, now_ms)
        return due

    def replace_pools(
        self, pools: Iterable[tuple[str, int, frozenset[str]]], now_ms: float
    ) -> None:
        """Take over what is warm now; a pool that is gone keeps its attempts and has no slots."""
        warm = {name: (slots, routes) for name, slots, routes in pools}
        for name in warm.keys() - self.pools.keys():
            self.pools[name] = Pool(name, 0, frozenset())
        for name, pool in self.pools.items():
            pool.slots, pool.warm = warm.get(name, (0, frozenset()))
            pool.fill(now_ms)

    def _end(self, held: Reservation, used: Usage, now_ms: float) -> Reservation:
        del self.live[held.attempt_id]
        self.ended[held.attempt_id] = None
        if len(self.ended) > ENDED_REMEMBERED:
            del self.ended[next(iter(self.ended))]
        back = float(used["teu"] - held.offer.teu)
        self.shares[held.policy.digest].charge(held.share_path, held.offer.lender, back, now_ms)
        self.budgets.settle(held.tenant, held.attempt_id, used)
        self.pools[held.offer.pool].release(held.attempt_id, now_ms)
        return held


def share_levels(shape: Shape, route: str, pool: str) -> dict[str, str | None]:
    """A request's value of each level of the share tree."""
    request = shape.request
    return {
        "region": shape.region,
        "pool": pool,
        "tenant_class": request.tenant_class or shape.dimensions.get("tenant_class"),
        "tenant": request.tenant,
        "route": route,
    }


def usage_of(policy: CompiledPolicy, route: str, input_tokens: int, output_tokens: int) -> Usage:
    """What a request of this shape counts as, in every unit that a budget may cap."""
    priced = policy.routes[route]
    return {
        "teu": policy.teu(priced, input_tokens, output_tokens),
        "usd": priced.usd(input_tokens, output_tokens),
        "output_tokens": Decimal(output_tokens),
    }


def _nothing() -> Usage:
    return {"teu": Decimal(0), "usd": Decimal(0), "output_tokens": Decimal(0)}


def idle_state(policy: CompiledPolicy, *, slots: int = 1, warm: bool = True) -> AdmissionState:
    """A fleet that does nothing yet, with every route warm or none."""
    routes = frozenset(policy.routes) if warm else frozenset()
    return AdmissionState(pools={policy.pool: Pool(policy.pool, slots, routes)})
