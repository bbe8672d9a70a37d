"""What admission knows and holds: pools, reservations by attempt id, shares and budgets.

Everything that a reservation takes is named in its own record, and returned from there exactly
once: by settling, by cancelling before dispatch, or by expiring. The running totals beside the
records are sums over them and nothing else.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from orchid.engine.admission.breaker import Breaker
from orchid.engine.admission.budgets import NOTHING, Account, Budgets, Usage
from orchid.engine.admission.concurrency import limiter_of
from orchid.engine.admission.order import Entry
from orchid.engine.admission.overload import Ladder, Sample
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Pool
from orchid.engine.admission.recent import Recent
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import Decision
from orchid.engine.admission.reservation import Reservation
from orchid.engine.admission.retry import RetryLedger
from orchid.engine.admission.shares import ROOT, Buckets

ENDED_REMEMBERED = 50_000  # at least; twice as many at most
GENERATIONS_REMEMBERED = 16


@dataclass(slots=True)
class AdmissionState:
    """The whole of it. One thread moves it; `decide` only reads."""

    pools: dict[str, Pool] = field(default_factory=dict)
    live: dict[str, Reservation] = field(default_factory=dict)
    ended: Recent[str, bool] = field(default_factory=lambda: Recent(ENDED_REMEMBERED))
    tenants: dict[str, int] = field(default_factory=dict)  # live tokens; absent is none
    shares: dict[str, Buckets] = field(default_factory=dict)  # by digest
    budgets: Budgets = field(default_factory=Budgets)
    retries: RetryLedger = field(default_factory=RetryLedger)
    ladders: dict[str, Ladder] = field(default_factory=dict)  # by digest
    _next_expiry_ms: float = math.inf  # no reservation expires before

    def buckets(self, policy: CompiledPolicy) -> Buckets:
        """The share buckets of a generation; full ones when it was never charged."""
        return self.shares.get(policy.digest) or Buckets(policy.shares)

    def live_tokens(self, *, pool: str) -> int:
        """Tokens whose cache is held now in a pool."""
        found = self.pools.get(pool)
        return found.live_tokens if found else 0

    def sample(self, policy: CompiledPolicy, now_ms: float) -> Sample:
        """The figures that the overload ladder of the policy's pool goes by."""
        pool = self.pools.get(policy.pool)
        if pool is None:
            return Sample(0.0, 0.0, 0.0)
        room = policy.max_queued_teu or 1.0
        held = pool.live_tokens / policy.live_tokens_of_pool
        return Sample(pool.wait_ms(now_ms), pool.queued_teu() / room, held)

    def enqueue(self, decision: Decision, policy: CompiledPolicy) -> None:
        """Take a place in the bounded queue of the offer's lane, and in no other.

        Nothing else is held for it.
        """
        offer, shape = decision.offer, decision.shape
        lane = self.pools[policy.pool].lane(offer.route) if offer is not None else None
        if offer is None or lane is None:
            raise ValueError(f"request {shape.request.request_id} has nothing to wait for")
        for other in self.pools[policy.pool].lanes:
            if other is not lane:
                other.queue.leave(shape.request.request_id)
        service_ms = offer.prediction.service_ms or 0.0
        lane.queue.put(
            Entry(
                request_id=shape.request.request_id,
                arrived_ms=shape.request.arrived_ms,
                deadline_ms=shape.deadline_ms,
                latest_start_ms=shape.due_ms - policy.reserve_ms - service_ms,
                teu=offer.charge,
                live_tokens=offer.live_tokens,
                service_ms=service_ms,
                share=offer.path[0] if offer.path else ROOT,
            )
        )

    def leave_queue(self, pool: str, request_id: str) -> bool:
        """Served, refused or gone; False when it was not waiting."""
        lanes = self.pools[pool].lanes if pool in self.pools else ()
        queues = [lane.queue for lane in lanes if request_id in lane.queue]
        for queue in queues:
            queue.leave(request_id)
        return bool(queues)

    def reorder(self, policy: CompiledPolicy, now_ms: float) -> tuple[str, ...]:
        """Put the queues of the policy's pool in order; the ids of those that left, too late."""
        pool = self.pools.get(policy.pool)
        if pool is None:
            return ()
        free = float(policy.live_tokens_of_pool - pool.live_tokens)
        buckets = self.buckets(policy)

        def attained(entry: Entry) -> float:
            return buckets.attained(entry.share, now_ms)

        late = (
            lane.queue.reorder(policy.order, now_ms, attained, free)
            for lane in pool.lanes
            if lane.queue
        )
        return tuple(chain.from_iterable(late))

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
        ended = self.ended
        used_before = attempt_id in ended.young or attempt_id in ended.old
        if offer is None or used_before or attempt_id in self.live:
            raise ValueError(f"attempt {attempt_id} can't be reserved")
        request, tokens = decision.shape.request, offer.live_tokens
        pool, tenant = self.pools[offer.pool], request.tenant
        replica = pool.replicas.get(offer.replica)
        buckets = self.shares.get(policy.digest) or self._opened(policy)
        accounts: tuple[Account, ...] = ()
        if offer.usage is not None:
            caps = policy.caps.get(tenant, policy.general_caps)
            accounts = self.budgets.reserve(caps, tenant, offer.usage, now_ms)
        held = Reservation(
            attempt_id,
            policy,
            decision,
            offer,
            now_ms,
            expires_ms,
            pool,
            replica,
            buckets,
            accounts,
        )
        self.live[attempt_id] = held
        if expires_ms < self._next_expiry_ms:
            self._next_expiry_ms = expires_ms
        buckets.charge(offer.path, offer.lender, offer.charge, now_ms)
        self.retries.note(request.attempt, offer.charge, tokens, policy.retry, now_ms)
        self.tenants[tenant] = self.tenants.get(tenant, 0) + tokens
        pool.hold(offer.route, tokens)
        if replica is not None:
            replica.live_tokens += tokens
            replica.dispatch(attempt_id, offer.prediction.service_ms or 0.0, now_ms)
            breaker = replica.breaker
            if breaker is not None and breaker.opened_ms is not None:
                breaker.sent(attempt_id, now_ms)
        return held

    def settle(self, attempt_id: str, output_tokens: int, now_ms: float) -> Reservation | None:
        """Charge what was used and give back the rest; None when the attempt is not live."""
        held = self.live.pop(attempt_id, None)
        if held is None:
            return None
        offer, policy = held.offer, held.policy
        route = policy.routes[offer.route]
        used = NOTHING
        if held.accounts:
            used = Usage(
                route.input_atoms * offer.input_tokens + route.output_atoms * output_tokens,
                route.usd(offer.input_tokens, output_tokens),
                output_tokens,
                round(offer.live_tokens * max(0.0, now_ms - held.reserved_ms)),
                held.decision.shape.request.external_calls,
            )
        charge = route.charge * (policy.input_charge * offer.input_tokens + output_tokens)
        return self._end(held, used, charge, now_ms)

    def cancel_undispatched(self, attempt_id: str, now_ms: float) -> Reservation | None:
        """Give back everything of an attempt that never reached the server."""
        held = self.live.pop(attempt_id, None)
        return self._end(held, NOTHING, 0.0, now_ms) if held else None

    def expire(self, now_ms: float) -> list[Reservation]:
        """End reservations past their own expiry, charged in full: nobody said what they used."""
        if now_ms < self._next_expiry_ms:
            return []
        due = [held for held in self.live.values() if held.expires_ms <= now_ms]
        for held in due:
            self.settle(held.attempt_id, held.offer.output_tokens, now_ms)
        left = (held.expires_ms for held in self.live.values())
        self._next_expiry_ms = min(left, default=math.inf)
        return due

    def replace_pools(self, ready: Iterable[Ready], now_ms: float) -> None:
        """Take over which replicas are ready and what is warm on them.

        One that is known keeps its attempts, its breaker, its limit and its signal. One that is
        gone keeps its attempts and has no slots.
        """
        by_pool: dict[str, list[Ready]] = {name: [] for name in self.pools}
        for replica in ready:
            by_pool.setdefault(replica.pool, []).append(replica)
        for name, members in by_pool.items():
            self.pools.setdefault(name, Pool(name)).replace(members, now_ms)

    def equip(self, policy: CompiledPolicy) -> None:
        """Give each replica of the policy's pool the breaker and the limit that it lacks."""
        pool = self.pools.get(policy.pool)
        for replica in pool.replicas.values() if pool else ():
            if replica.breaker is None:
                replica.breaker = Breaker(policy.breaker)
            if replica.limiter is None:
                replica.limiter = limiter_of(policy.limit)

    def restarted(self, pool: str, replica: str) -> None:
        """A replica came back empty: what ran there holds nothing of it any more.

        Its attempts stay reserved until they are settled or expire, by their own records.
        """
        self.pools[pool].restart(replica)

    def _opened(self, policy: CompiledPolicy) -> Buckets:
        """Full buckets for a generation; those that nobody holds anything of make room."""
        if len(self.shares) >= GENERATIONS_REMEMBERED:
            used = {held.policy.digest for held in self.live.values()}
            self.shares = {digest: b for digest, b in self.shares.items() if digest in used}
        return self.shares.setdefault(policy.digest, Buckets(policy.shares))

    def _end(self, held: Reservation, used: Usage, charge: float, now_ms: float) -> Reservation:
        """Return what a reservation holds, which is no longer live; this is the one way out."""
        attempt_id, offer, replica = held.attempt_id, held.offer, held.replica
        self.ended.put(attempt_id, True)
        held.buckets.charge(offer.path, offer.lender, charge - offer.charge, now_ms)
        if offer.usage is not None:
            for account in held.accounts:
                account.replace(offer.usage, used)
        tenant, tokens = held.decision.shape.request.tenant, offer.live_tokens
        left = self.tenants.get(tenant, 0) - tokens
        if left:
            self.tenants[tenant] = left
        else:
            self.tenants.pop(tenant, None)
        held.pool.free(offer.route, tokens)
        if replica is not None:
            replica.live_tokens -= tokens
            replica.release(attempt_id, now_ms)
            if replica.breaker is not None and replica.breaker.probing:
                replica.breaker.left(attempt_id)
        return held
