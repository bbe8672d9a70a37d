"""The whole decision (decide, reserve, settle) against policy engines on their bare rules."""

import time
from collections.abc import Iterator

from benchmarks.engine.contest import (
    AT_ONCE,
    Contest,
    contest_of,
    peer_p99,
    peer_rate,
    peer_rate_of_many,
    quiet,
)
from benchmarks.engine.reference import reference_policy
from benchmarks.engine.scale import Scale
from benchmarks.engine.traffic import IN_FLIGHT, REPLICAS, SLOTS, TENANTS, Door
from benchmarks.line import Against, Line
from benchmarks.rounds import Round, Series, interleaved, percentile

OURS = "orchid"
LEAST_REQUESTS = 500
MOSTLY = 0.9  # a refusal is cheap to decide and reserves nothing
LOAD = f"{TENANTS} tenants, {REPLICAS} replicas of {SLOTS} slots, {IN_FLIGHT} attempts in flight"


def lines(scale: Scale) -> Iterator[Line]:
    """One line a peer, then the goals against the fastest of them."""
    policy = reference_policy()
    contest, door = contest_of(policy, scale), Door(policy)
    if not contest.peers:
        return  # nothing to compare with: `make bench-engine` installs them
    rates = interleaved({OURS: _rate(door, scale), **_peer_rates(contest, scale)}, scale.rounds)
    ours = rates.pop(OURS)
    note = f"{LOAD}; {door.admitted:.1%} admitted"
    if door.admitted < MOSTLY:
        raise RuntimeError(f"these would be refusals, not the declared load: {note}")
    for name, series in rates.items():
        yield _faster("decisions", ours, name, series, note=note)
    fastest = max((peer.name for peer in contest.peers), key=lambda name: rates[name].median)
    for figure, goal in (("decisions", ">= 8"), ("decisions, stretch", ">= 15")):
        against = f"{fastest}, the fastest peer"
        yield _faster(figure, ours, against, rates[fastest], goal=scale.goal(goal))
    yield from _tail(contest, door, fastest, scale)


def _faster(
    figure: str,
    ours: Series,
    name: str,
    peer: Series,
    *,
    goal: str | None = None,
    note: str = "",
) -> Line:
    against = Against(name, peer.median)
    return Line(figure, ours.median, "decisions/s", against, goal, ours.spread, note)


def _peer_rates(contest: Contest, scale: Scale) -> dict[str, Round]:
    rounds = {peer.name: peer_rate(peer, contest.asked, scale) for peer in contest.peers}
    for peer in contest.peers:
        if peer.decide_many:
            rounds[f"{peer.name}, {AT_ONCE} a call"] = peer_rate_of_many(peer, contest.asked, scale)
    return rounds


def _tail(contest: Contest, door: Door, fastest: str, scale: Scale) -> Iterator[Line]:
    """The 99th percentile of one decision beside the fastest peer's."""
    decide = next(peer.decide for peer in contest.peers if peer.name == fastest)

    def ours() -> float:
        taken = door.latencies_ns(door.arrivals.take(len(contest.asked)))
        return percentile(taken, 0.99) / 1000.0

    rounds = {OURS: quiet(ours), fastest: peer_p99(decide, contest.asked)}
    tails = interleaved(rounds, scale.rounds)
    against = Against(f"{fastest}, the fastest peer", tails[fastest].median)
    own = tails[OURS]
    yield Line("p99 of a decision", own.median, "us", against, scale.goal("<= 0.2"), own.spread)


def _rate(door: Door, scale: Scale) -> Round:
    """Decisions a second; requests are made outside the clock, as the edge parses them anyway."""
    begin = time.perf_counter()
    door.pass_through(door.arrivals.take(LEAST_REQUESTS))
    each = (time.perf_counter() - begin) / LEAST_REQUESTS
    count = max(LEAST_REQUESTS, int(scale.round_s / each))

    def measured() -> float:
        requests = door.arrivals.take(count)
        begin = time.perf_counter()
        door.pass_through(requests)
        return count / (time.perf_counter() - begin)

    return quiet(measured)
