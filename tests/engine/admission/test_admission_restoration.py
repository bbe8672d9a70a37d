"""A burst and what follows: rungs up, down one by one, routes one by one, and no second wave.

And a retry storm against a broken upstream: bounded while it lasts, over soon after it heals.
"""

from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

from orchid.engine.admission.request import Action, Reason
from tests.engine.admission.world import World
from tests.small_policy import small_document, small_policy

BURST = (5_000.0, 9_000.0)
RUNGS = ["stop_shadow", "defer_async", "compact_fallback", "reject_infeasible"]


def two_routes() -> World:
    """Full and premium take 410 ms of one of four slots, compact 110; deadline 1 s."""
    whole = small_document()
    chat, models = whole["classes"]["chat"], whole["models"]
    later = {"deadline": "10m", "max_queue_age": "5m", "after": "2s"}
    policy = small_policy(
        overload=RUNGS,
        models={**models, "premium": {**models["full"], "weights": "w-premium"}},
        demand={
            "version": "teu-1",
            "input_weight": 0.25,
            "model_factor": {"full": 1, "compact": 0.5, "premium": 2},
        },
        classes={
            "chat": chat,
            "advice": {**chat, "model": "premium", "dimensions": {"task": "advice"}},
            "mirror": {**chat, "purpose": "shadow", "dimensions": {"task": "mirror"}},
            "report": {**chat, "interactive": False, "deferral": later},
        },
        fallback=[
            {"from": "premium", "to": "compact", "where": {}},
            {"from": "full", "to": "compact", "where": {}},
        ],
        admission__concurrency={"mode": "static_knee", "per_replica": 8},
    )
    return World(policy, slots=4)


@cache
def burst() -> World:
    """Four and a half a second, and forty more for four seconds; shadow and async work too."""
    world = two_routes()
    for n in range(75):
        world.ask(400.0 * n, f"chat{n}", "chat")
    for n in range(30):
        world.ask(1000.0 * n + 90, f"advice{n}", "advice")
    for n in range(15):
        world.ask(2000.0 * n + 490, f"report{n}", "report")
        world.ask(2000.0 * n + 590, f"mirror{n}", "mirror")
    for n in range(160):
        world.ask(BURST[0] + 25.0 * n, f"burst{n}", "chat" if n % 4 else "advice")
    world.run(30_000.0)
    return world


def test_rungs_rise_within_the_burst_and_fall_one_at_a_time_after_it() -> None:
    steps = [(e.before, e.after) for e in burst().events if e.before != e.after]
    falls = [pair for pair in steps if _height(pair[1]) < _height(pair[0])]
    assert steps[0][0] == "normal"
    assert all(_height(before) - _height(after) == 1 for before, after in falls)
    assert burst().ladder.name == "normal"


def test_there_is_no_second_wave() -> None:
    """Once the burst is over nothing climbs again, and each step down had its calm."""
    after = [event for event in burst().events if event.at_ms > BURST[1] + 1_000]
    assert after
    assert all(_height(event.after) <= _height(event.before) for event in after)
    gaps = [later.at_ms - earlier.at_ms for earlier, later in pairwise(after)]
    assert all(gap >= 2_000 for gap in gaps)


def test_routes_come_back_one_after_the_other_the_cheaper_first() -> None:
    world = burst()
    (alone,) = [e for e in world.events if e.restored and e.at_ms > BURST[1]]
    left = next(e for e in world.events if e.at_ms > alone.at_ms and e.before == "compact_fallback")
    assert alone.restored == "full"
    between = [
        name
        for name, decision in world.decisions.items()
        if alone.at_ms <= decision.shape.request.arrived_ms < left.at_ms
    ]
    chats = [world.decisions[name].action for name in between if name.startswith("chat")]
    advice = [world.decisions[name].reason for name in between if name.startswith("advice")]
    assert set(chats) == {Action.ADMIT}
    assert set(advice) == {Reason.FALLBACK_OVERLOAD}


def test_everything_is_as_it_was_within_ten_seconds_of_the_burst() -> None:
    """Four rungs and one route before the last, two seconds each."""
    world = burst()
    assert world.events[-1].after == "normal"
    assert world.events[-1].at_ms <= BURST[1] + 1_000 + 5 * 2_000 + 500
    late = {n: d for n, d in world.decisions.items() if d.shape.request.arrived_ms > 22_000}
    assert {decision.action for decision in late.values()} == {Action.ADMIT}


def test_what_is_shed_first_is_what_nobody_waits_for() -> None:
    world = burst()
    during = {
        name: decision
        for name, decision in world.decisions.items()
        if BURST[0] + 1_000 <= decision.shape.request.arrived_ms <= BURST[1]
    }
    reasons = Counter(d.reason for name, d in during.items() if name.startswith("mirror"))
    assert reasons == {Reason.OVERLOAD: 2}
    assert {d.action for n, d in during.items() if n.startswith("report")} == {Action.DEFER}
    served = [name for name in during if name.startswith("chat") and name in world.served]
    chats = [name for name in during if name.startswith("chat")]
    assert len(served) == len(chats)


def _height(name: str) -> int:
    return (["normal", *RUNGS]).index(name)


def storm(healed_ms: float, until_ms: float, **rules: Any) -> World:
    """A hundred first tries a second; each that fails or is refused asks three times more."""
    rules = {"failures": 5, "window_s": 10, "open_s": 5, **rules}
    policy = small_policy(
        admission__breaker=rules,
        admission__retry={
            "budget": 0.1,
            "after_ms": [200, 2000],
            "window": "10s",
            "attempts_per_request": 4,
        },
        admission__concurrency={"mode": "static_knee", "per_replica": 100},
        overload=[],
    )
    world = World(policy, slots=100, fails_until_ms=healed_ms)
    asked: dict[str, int] = {}

    def again(name: str, ok: bool) -> None:
        first, _, _ = name.partition("#")
        asked[first] = asked.get(first, 1) + 1
        if not ok and asked[first] <= 4:
            now_ms, retry = world.now_ms, f"{first}#{asked[first]}"
            world.ask(now_ms, retry, "chat", attempt=asked[first], deadline_ms=5_000)

    world.on_end = again
    for n in range(int(until_ms / 10)):
        world.ask(10.0 * n, f"r{n}", "chat")
    world.run(until_ms)
    return world


def test_a_retry_storm_is_at_most_a_tenth_more_for_the_upstream() -> None:
    """The breaker is kept out of it: the retry budget alone holds the bound."""
    world = storm(healed_ms=1e9, until_ms=10_000.0, failures=10**9)
    firsts = [name for _, name in world.started if "#" not in name]
    assert len(firsts) == 1000
    assert 1090 <= len(world.started) <= 1100
    refused = [d.refusal for d in world.decisions.values() if d.reason is Reason.RETRY_BUDGET]
    assert refused
    for refusal in refused:
        assert refusal is not None
        assert not refusal.retryable
        assert 0 < (refusal.after_ms or 0) <= 10_000


def test_the_breaker_spares_a_broken_upstream_nearly_all_of_it() -> None:
    world = storm(healed_ms=1e9, until_ms=10_000.0)
    assert len(world.started) <= 10


def test_healed_at_the_old_load_it_serves_again_within_the_breakers_open_time() -> None:
    """Stated: open_s and one probe, 5 s + 410 ms; from then on every first try is served."""
    healed_ms = 10_000.0
    world = storm(healed_ms, until_ms=25_000.0)
    back_ms = healed_ms + 5_000.0 + 410.0
    late = [n for n in range(2_500) if back_ms <= 10.0 * n <= 24_500]
    assert all(f"r{n}" in world.served for n in late)
