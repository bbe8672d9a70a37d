"""Step 3 of a decision: which replica. Never a dice: the request's id and prefix choose.

The better of two that the id names takes the request when it has a free slot. Where it has none,
all are looked at, so that nobody waits or is refused while another replica has room.
"""

from collections.abc import Sequence
from zlib import crc32

from orchid.engine.admission.cell import Option
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Group, Pool
from orchid.engine.admission.replica import Replica
from orchid.engine.admission.request import AdmissionRequest, Reason
from orchid.engine.admission.signals import UNUSED, Reading, limit_under, read_signal

# The replica, the wait, whether it is spent in the queue at the edge, whether no replica has memory
# for it, and the reading of its signal. A bare tuple: this is made for every request.
Place = tuple[Replica, float, bool, bool, Reading]


def place(
    option: Option,
    request: AdmissionRequest,
    live_tokens: int,
    spare_ms: float,
    pool: Pool,
    policy: CompiledPolicy,
    now_ms: float,
) -> Place | Reason:
    """The replica for an option, or why there is none.

    The option would hold so many live tokens, and can spare so many milliseconds for waiting: a
    replica that says it makes nobody wait longer is as good as the best.
    """
    if pool.plain:
        group = pool.by_route.get(option.route)
        if group is None:
            return Reason.NO_WARM_REPLICA
    else:
        region = request.region or policy.region
        found = pool.group(option.route, option.manifest, region, request.privacy_cell)
        if isinstance(found, Reason):
            return found
        group = found
    queue = group.lane.queue
    first = not queue.queued_teu or queue.head == request.request_id
    if first:
        replica = _chosen(group.replicas, request, policy)
        running, limiter, breaker = len(replica.running), replica.limiter, replica.breaker
        if (
            running < replica.slots
            and running < (policy.knee if limiter is None else limiter.limit)
            and not replica.waiting
            and replica.live_tokens + live_tokens
            <= policy.live_tokens_per_device * (replica.devices or policy.devices)
            and (breaker is None or breaker.opened_ms is None or not breaker.is_open(now_ms))
        ):
            if policy.signals is None:
                return replica, 0.0, False, False, UNUSED
            reading = read_signal(replica.signal, policy.signals, now_ms)
            if not reading.rank and (not reading.wait_ms or reading.wait_ms <= spare_ms):
                return replica, reading.wait_ms, False, False, reading
    return _searched(group, request, live_tokens, first, policy, now_ms)


def ceiling_of(replica: Replica, policy: CompiledPolicy) -> int:
    """Live tokens that a replica may hold."""
    return policy.live_tokens_per_device * (replica.devices or policy.devices)


def limit_of(replica: Replica, reading: Reading, policy: CompiledPolicy) -> int:
    """Requests that a replica may have in flight, as far as its signal is believed."""
    adapted = policy.knee if replica.limiter is None else replica.limiter.limit
    return limit_under(reading.standing, adapted, policy.knee, policy.signals)


def _chosen(
    replicas: Sequence[Replica], request: AdmissionRequest, policy: CompiledPolicy
) -> Replica:
    """The prefix's own replica unless it is hot, else the better of two that the id names."""
    count = len(replicas)
    if count == 1:
        return replicas[0]
    if policy.hot_at is not None and request.prefix is not None:
        own = replica_of_prefix(replicas, request)
        limit = own.limiter.limit if own.limiter is not None else policy.knee
        if own.in_flight < policy.hot_at * limit:
            return own
    mark = crc32(request.request_id.encode())
    first = mark % count
    one = replicas[first]
    other = replicas[(first + 1 + (mark >> 16) % (count - 1)) % count]
    fewer = len(other.running) + len(other.waiting) < len(one.running) + len(one.waiting)
    return other if fewer else one


def replica_of_prefix(replicas: Sequence[Replica], request: AdmissionRequest) -> Replica:
    """Rendezvous: each prefix ranks all replicas, so a replica that goes moves only its own.

    The key holds the tenant and the privacy cell: what one of them cached, no other reads.
    """
    parts = (request.tenant, request.privacy_cell or "", request.prefix or "")
    key = crc32("\0".join(parts).encode())
    return max(replicas, key=lambda replica: (_mixed(key, replica.name), replica.name))


def _mixed(key: int, name: str) -> int:
    """A product spreads what the checksum alone would leave in patterns of the name."""
    value = (crc32(name.encode()) ^ key) * 0x9E3779B1 & 0xFFFFFFFF
    return (value ^ value >> 15) * 0x85EBCA77 & 0xFFFFFFFF


def _searched(
    group: Group,
    request: AdmissionRequest,
    live_tokens: int,
    first: bool,
    policy: CompiledPolicy,
    now_ms: float,
) -> Place | Reason:
    """The best of all: one that has memory and room, is known, and is soon free."""
    best: Replica | None = None
    best_score: tuple[bool, bool, int, float, int] | None = None
    best_reading, reason = UNUSED, Reason.BREAKER_OPEN
    for replica in _from(group.replicas, request.request_id):
        if replica.breaker is not None and replica.breaker.is_open(now_ms):
            continue
        reading = read_signal(replica.signal, policy.signals, now_ms)
        in_flight = replica.in_flight
        full = in_flight >= limit_of(replica, reading, policy)
        if full and reading.standing == "none" and in_flight < policy.knee:
            reason = Reason.SIGNALS_STALE
            continue
        wait_ms = max(replica.wait_ms(now_ms), reading.wait_ms)
        no_memory = replica.live_tokens + live_tokens > ceiling_of(replica, policy)
        score = (no_memory, full, reading.rank, wait_ms, in_flight)
        if best_score is None or score < best_score:
            best, best_score, best_reading = replica, score, reading
    if best is None or best_score is None:
        return reason
    wait = not first or best_score[1]
    if not wait:
        return best, best_score[3], False, best_score[0], best_reading
    queue_ms = best_score[3]
    if not first:
        ahead_ms = group.lane.wait_ms(now_ms, request.request_id)
        queue_ms = max(ahead_ms, best_reading.wait_ms)
    return best, queue_ms, True, best_score[0], best_reading


def _from(replicas: Sequence[Replica], request_id: str) -> Sequence[Replica]:
    """All of them, from the one that the id names on, so that ties don't pile up on one."""
    first = crc32(request_id.encode()) % len(replicas)
    return (*replicas[first:], *replicas[:first])
