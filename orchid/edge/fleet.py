"""What this edge knows of the replicas beside it, and what it makes of what they do and say."""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

from orchid.edge.ask import AHEAD_MS, Settle, Tell, to_ms
from orchid.edge.metrics import Metrics
from orchid.edge.pools import Endpoints, PoolEndpoint, silent
from orchid.edge.problems import unknown_replica
from orchid.engine.admission.overload import NORMAL, Event, Ladder, Sample, observe
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready, Replica
from orchid.engine.admission.reservation import Reservation
from orchid.engine.admission.signals import Signal
from orchid.engine.admission.state import AdmissionState
from orchid.engine.wire.records import AttemptRecord, RequestRecord

log = logging.getLogger(__name__)

EVENTS_SHOWN = 20
LOOK_LASTS_MS = 1.0


class Change(NamedTuple):
    """A rung change of one pool."""

    pool: str
    event: Event


class Fleet:
    """The replicas of the active generations: endpoints, signals, breakers, limits, rungs."""

    def __init__(
        self, state: AdmissionState, metrics: Metrics, now_ms: Callable[[], float]
    ) -> None:
        self._state, self._metrics, self._now_ms = state, metrics, now_ms
        self._policies: tuple[CompiledPolicy, ...] = ()
        self._endpoints: Endpoints = {}
        self._runs: dict[tuple[str, str], str | None] = {}  # those that are gone with attempts too
        self._looked_ms: dict[str, float] = {}  # by digest
        self.changes: deque[Change] = deque(maxlen=EVENTS_SHOWN)

    def govern(self, policies: Iterable[CompiledPolicy]) -> None:
        """Go by these generations from now on; the rungs of others are over."""
        before, self._policies = self._policies, tuple(policies)
        digests = {policy.digest for policy in self._policies}
        for digest in self._state.ladders.keys() - digests:
            del self._state.ladders[digest]
        self._looked_ms.clear()
        for policy in self._policies:
            for old in before:
                if old.pool == policy.pool:
                    self._refit(old, policy)
                if old.digest == policy.digest and old.shares != policy.shares:
                    self._state.shares.pop(policy.digest, None)  # another slice of the same rates
        self._equip()

    def _refit(self, old: CompiledPolicy, policy: CompiledPolicy) -> None:
        """Drop what went by rules that another generation of the pool has changed."""
        pool = self._state.pools.get(policy.pool)
        for replica in pool.replicas.values() if pool is not None else ():
            if old.breaker != policy.breaker:
                replica.breaker = None
            if old.limit != policy.limit:
                replica.limiter = None

    def use_pools(self, endpoints: Endpoints) -> bool:
        """Take over which replicas are ready and what their files say; whether any changed."""
        standing = {key: silent(endpoint) for key, endpoint in endpoints.items()}
        changed = standing != self._endpoints
        if changed:
            self._endpoints = standing
            self._state.replace_pools(map(_ready, standing.values()), self._now_ms())
            self._restart({key: endpoint.run_id for key, endpoint in standing.items()})
            self._equip()
        for (pool, name), endpoint in endpoints.items():
            if (told := endpoint.signal) is not None:
                signal = Signal(to_ms(told.at), told.queue_wait_ms, told.live_tokens)
                self._hear(self._state.pools[pool].replicas[name], signal, pool)
        return changed

    def _restart(self, runs: dict[tuple[str, str], str | None]) -> None:
        """Empty those that are another run than when they were last seen."""
        for key, run_id in runs.items():
            if self._runs.get(key, run_id) != run_id:
                self._state.restarted(*key)
        gone = self._runs.keys() - runs.keys()
        kept = {key: self._runs[key] for key in gone if self._replica(*key) is not None}
        self._runs = kept | runs

    def tell(self, tell: Tell) -> None:
        """A replica's own word. Raises EdgeError for one that isn't known."""
        replica = self._replica(tell.pool, tell.replica)
        if replica is None:
            raise unknown_replica(tell.pool, tell.replica)
        signal = Signal(to_ms(tell.at), tell.queue_wait_ms, tell.live_tokens)
        self._hear(replica, signal, tell.pool)

    def judge(self, reservation: Reservation, record: RequestRecord, settle: Settle) -> None:
        """Let the breaker of the replica know how an attempt on it ended."""
        replica = self._replica(reservation.offer.pool, reservation.offer.replica)
        verdict = verdict_of(record, settle)
        if replica is not None and replica.breaker is not None and verdict is not None:
            replica.breaker.note(verdict, reservation.attempt_id, self._now_ms())

    def endpoint(self, attempt: AttemptRecord) -> PoolEndpoint | None:
        """Where an attempt is served; None where it needs no replica, or that one is gone."""
        return self._endpoints.get((attempt.pool or "", attempt.replica or ""))

    def ready(self, pool: str) -> int | None:
        """How many replicas of a pool say they are; None where no pool here says anything."""
        if not self._endpoints:
            return None
        return sum(name == pool for name, _ in self._endpoints)

    def in_service(self) -> list[Ready]:
        """What replicas say of themselves; one whose breaker is not closed has no slots."""
        now_ms = self._now_ms()
        return [
            _ready(endpoint) if self._is_closed(key, now_ms) else _out(endpoint)
            for key, endpoint in self._endpoints.items()
        ]

    def _is_closed(self, key: tuple[str, str], now_ms: float) -> bool:
        replica = self._replica(*key)
        breaker = replica.breaker if replica is not None else None
        return breaker is None or breaker.state(now_ms) == "closed"

    def ladder(self, policy: CompiledPolicy) -> Ladder:
        """The generation's rungs as of its last look."""
        return self._state.ladders.get(policy.digest, NORMAL)

    def glance(self, policy: CompiledPolicy) -> None:
        """The look of a decision. A look reads every slot, so many that come together share one."""
        if self._now_ms() - self._looked_ms.get(policy.digest, 0.0) >= LOOK_LASTS_MS:
            self.observe(policy)

    def observe(self, policy: CompiledPolicy) -> Sample:
        """One look at the generation's pool; a change is an event with its figures."""
        now_ms, before = self._now_ms(), self.ladder(policy)
        self._looked_ms[policy.digest] = now_ms
        sample = self._state.sample(policy, now_ms)
        after = observe(before, sample, policy.ladder, now_ms)
        if after is not before:
            self._state.ladders[policy.digest] = after
            if after.event is not None and after.event is not before.event:
                self._changed(policy.pool, after, after.event)
        return sample

    def observe_all(self) -> None:
        """The look of a timer: rungs are left while nobody asks, and the figures are shown."""
        for policy in self._policies:
            sample = self.observe(policy)
            self._metrics.pressed(policy.pool, self.ladder(policy), sample)
        now_ms = self._now_ms()
        for pool in self._state.pools.values():
            breakers = (r.breaker for r in pool.replicas.values() if r.breaker is not None)
            self._metrics.breakers(pool.name, sum(b.state(now_ms) != "closed" for b in breakers))

    def status(self) -> dict[str, Any]:
        """Rungs by pool, with the last changes and their figures."""
        return {
            "overload": {policy.pool: _rung(self.ladder(policy)) for policy in self._policies},
            "rung_changes": [_told(change) for change in self.changes],
        }

    def _changed(self, pool: str, ladder: Ladder, event: Event) -> None:
        self.changes.append(Change(pool, event))
        self._metrics.rung_changed(pool, event)
        figures = event.sample
        log.warning(
            "pool %s: %s, was %s%s (wait %.0f ms, queued %.0f %%, live tokens %.0f %%)",
            pool,
            ladder.name,
            event.before,
            f", {event.restored} is restored" if event.restored else "",
            figures.queue_wait_ms,
            100 * figures.queued,
            100 * figures.live_tokens,
        )

    def _hear(self, replica: Replica, signal: Signal, pool: str) -> None:
        """Keep the newest word; a wait in the replica's queue moves an adaptive limit.

        A word from a clock that runs ahead would be the newest for ever: it is not heard.
        """
        latest_ms, before = self._now_ms() + AHEAD_MS, replica.signal
        if signal.at_ms > latest_ms:
            return
        # The last word is of the future where the clock was put back since.
        if before is not None and signal.at_ms <= before.at_ms <= latest_ms:
            return
        replica.signal = signal
        rules = next((p.limit for p in self._policies if p.pool == pool), None)
        if replica.limiter is not None and rules is not None and signal.queue_wait_ms is not None:
            replica.limiter.adapt(signal.queue_wait_ms, rules, self._now_ms())

    def _equip(self) -> None:
        """Each replica has a breaker and a limit by the rules of the generation that it serves."""
        for policy in self._policies:
            self._state.equip(policy)

    def _replica(self, pool: str, name: str) -> Replica | None:
        found = self._state.pools.get(pool)
        return found.replicas.get(name) if found is not None else None


def verdict_of(record: RequestRecord, settle: Settle) -> bool | None:
    """What an ending says of the replica; None where it was not the replica's doing.

    A client that gave up, or a validator that stopped an answer, says nothing against it.
    """
    if settle.status == "cancelled" or record.attempts[-1].cancel_requested_ms is not None:
        return None
    if settle.policy_valid is False or settle.schema_valid is False:
        return None
    return settle.status not in ("failed", "timed_out")


def _ready(endpoint: PoolEndpoint) -> Ready:
    return Ready(
        endpoint.pool,
        endpoint.name,
        endpoint.slots,
        frozenset(endpoint.models),
        privacy_cells=frozenset(endpoint.privacy_cells),
        region=endpoint.region,
        manifests=endpoint.manifests,
        devices=endpoint.devices,
    )


def _out(endpoint: PoolEndpoint) -> Ready:
    return replace(_ready(endpoint), slots=0)


def _rung(ladder: Ladder) -> dict[str, Any]:
    return {
        "rung": ladder.rung,
        "name": ladder.name,
        "since_ms": ladder.since_ms,
        "compact_first": sorted(ladder.compact),
        "output_capped": sorted(ladder.capped),
    }


def _told(change: Change) -> dict[str, Any]:
    event, figures = change.event, change.event.sample
    return {
        "pool": change.pool,
        "before": event.before,
        "after": event.after,
        "restored": event.restored,
        "at_ms": event.at_ms,
        "queue_wait_ms": figures.queue_wait_ms,
        "queued": figures.queued,
        "live_tokens": figures.live_tokens,
    }
