"""Whether a change asks more of the product or less, where that can be told from its place."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from orchid.engine.document.categories import Path, starts
from orchid.engine.segments import implies, specificity

Direction = Literal["tighter", "looser"]

TIGHTER: Direction = "tighter"
LOOSER: Direction = "looser"
OPPOSITE: Mapping[Direction, Direction] = {TIGHTER: LOOSER, LOOSER: TIGHTER}

#: What a larger value at the place means; a wait is in milliseconds.
LARGER: Mapping[Path, Direction] = {
    ("contract", "deadline_ms"): LOOSER,
    ("contract", "post_model_reserve_ms"): TIGHTER,
    ("gates", "*", "max"): LOOSER,
    ("gates", "*", "min"): TIGHTER,
    ("gates", "*", "confidence"): TIGHTER,
    ("gates", "*", "minimum_sample"): TIGHTER,
    ("gates", "*", "minimum_successes"): TIGHTER,
    ("gates", "segments", "*", "minimum_sample"): TIGHTER,
    ("gates", "guardrails", "*", "max"): LOOSER,
    ("gates", "guardrails", "*", "min"): TIGHTER,
    ("gates", "alpha_pass"): LOOSER,
    ("gates", "false_alarm_every"): LOOSER,
    ("gates", "against_incumbent", "*"): LOOSER,
    ("gates", "design_effect_prior"): TIGHTER,
    ("gates", "evidence", "max_age"): LOOSER,
    ("models", "*", "max_sequences"): LOOSER,
    ("classes", "*", "deadline_ms"): LOOSER,
    ("classes", "*", "min_output_tokens"): TIGHTER,
    ("classes", "*", "capped_output_tokens"): LOOSER,
    ("segments", "floors", "*", "min_utility"): TIGHTER,
    ("admission", "max_queued_teu"): LOOSER,
    ("admission", "concurrency", "per_replica"): LOOSER,
    ("admission", "concurrency", "ceiling"): LOOSER,
    ("admission", "concurrency", "target_wait"): LOOSER,
    ("admission", "live_tokens", "*"): LOOSER,
    ("admission", "live_tokens", "per_route", "*"): LOOSER,
    ("admission", "signals", "hold"): LOOSER,
    ("admission", "signals", "floor_per_replica"): LOOSER,
    ("admission", "retry", "budget"): LOOSER,
    ("admission", "retry", "attempts_per_request"): LOOSER,
    ("admission", "breaker", "failures"): LOOSER,
    ("routing", "cascade", "threshold"): TIGHTER,
    ("routing", "cascade", "target_false_accept"): LOOSER,
    ("routing", "classifier", "threshold"): TIGHTER,
    ("fleet", "safe_factor"): LOOSER,
    ("budgets", "*", "max_teu"): LOOSER,
    ("budgets", "*", "max_usd"): LOOSER,
    ("budgets", "*", "max_output_tokens"): LOOSER,
    ("budgets", "*", "max_live_token_ms"): LOOSER,
    ("budgets", "*", "max_external_calls"): LOOSER,
    ("rollout", "stages", "*", "hold"): TIGHTER,
    ("rollout", "stages", "*", "minimum_per_stratum"): TIGHTER,
    ("rollout", "stages", "*", "peak"): TIGHTER,
    ("rollout", "stages", "*", "cache_cycles"): TIGHTER,
    ("rollout", "stages", "*", "survival"): TIGHTER,
    ("rollout", "stages", "*", "teu_error"): LOOSER,
    ("rollout", "stages", "*", "agreement"): TIGHTER,
    ("rollout", "stages", "*", "decisions"): TIGHTER,
    ("rollout", "stages", "*", "max_refused"): LOOSER,
    ("rollout", "acknowledged_share"): TIGHTER,
    ("rollout", "schedule_grace"): LOOSER,
    ("approvals", "expire_after"): LOOSER,
    ("approvals", "second_look"): LOOSER,
    ("approvals", "accepted_room"): LOOSER,
    ("revisit", "*", "max"): LOOSER,
    ("revisit", "*", "min"): TIGHTER,
}
#: What it means that something is there which was not.
PRESENT: Mapping[Path, Direction | None] = {
    ("gates", "*"): TIGHTER,
    ("gates", "evidence"): None,  # against its defaults it can ask more or less
    ("gates", "segments", "*"): TIGHTER,
    ("gates", "guardrails", "*"): TIGHTER,
    ("budgets", "*"): TIGHTER,
    ("revisit", "*"): TIGHTER,
    ("rollout", "freezes", "*"): TIGHTER,
    ("routing", "always_large", "*"): TIGHTER,
    ("models", "*", "early_stop"): LOOSER,
    ("models", "*", "cacheable"): LOOSER,
    ("admission", "live_tokens", "per_route", "*"): TIGHTER,
    ("classes", "*", "min_output_tokens"): LOOSER,
    ("classes", "*", "capped_output_tokens"): LOOSER,
    ("models", "*", "max_sequences"): TIGHTER,
}
#: What a longer list of words means.
LONGER: Mapping[Path, Direction] = {
    ("contract", "accepts"): LOOSER,
    ("approvals", "*"): TIGHTER,
    ("gates", "evidence", "kinds_required"): TIGHTER,
    ("admission", "retry", "count"): TIGHTER,
    ("models", "*", "privacy_cells"): LOOSER,
    ("overload",): TIGHTER,
    ("rollout", "before_whole"): TIGHTER,
}

Floors = Sequence[Mapping[str, Any]]


def direction_of(
    path: Path, before: Any, after: Any, floors: tuple[Floors, Floors]
) -> Direction | None:
    """None where the parts of a change disagree, or its place has no better side.

    `floors` are those of the old and the new document: whether a floor that comes or goes asks
    more depends on the one that speaks without it.
    """
    if starts(path, ("fallback", "*")):
        return _of_rule(before, after)
    if starts(path, ("segments", "floors", "*")) and (before is None or after is None):
        return _of_floor(before, after, floors)
    found = set(_parts(path, before, after))
    return found.pop() if len(found) == 1 else None


def _parts(path: Path, before: Any, after: Any) -> Iterator[Direction | None]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _parts((*path, key), before.get(key), after.get(key))
    elif before is None or after is None:
        yield _turned(_at(PRESENT, path), before is None)
    elif isinstance(before, list) and isinstance(after, list):
        yield _of_lists(path, before, after)
    else:
        yield _of_scalars(path, before, after)


def _at(table: Mapping[Path, Direction | None], path: Path) -> Direction | None:
    fitting = [p for p in table if len(p) == len(path) and starts(path, p)]
    return table[max(fitting, key=lambda p: -p.count("*"))] if fitting else None


def _turned(direction: Direction | None, forward: bool) -> Direction | None:
    return direction if forward or direction is None else OPPOSITE[direction]


def _of_scalars(path: Path, before: Any, after: Any) -> Direction | None:
    numbers = _number(before), _number(after)
    if numbers[0] is None or numbers[1] is None:
        return None
    return _turned(_at(LARGER, path), numbers[1] > numbers[0])


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Decimal(str(value))
    except ArithmeticError:
        return None


def _of_lists(path: Path, before: list[Any], after: list[Any]) -> Direction | None:
    """A list that gains without losing, or loses without gaining."""
    was, now = Counter(map(repr, before)), Counter(map(repr, after))
    gained, lost = now - was, was - now
    if bool(gained) == bool(lost):
        return None
    return _turned(_at(LONGER, path), bool(gained))


def _of_rule(before: Any, after: Any) -> Direction | None:
    """An allowing rule that comes widens fallback, a denying one narrows it."""
    if (before is None) == (after is None):
        return None
    rule = after or before
    return _turned(TIGHTER if rule.get("deny") else LOOSER, before is None)


def _of_floor(before: Any, after: Any, floors: tuple[Floors, Floors]) -> Direction | None:
    """Against the floor that speaks for the same requests without it."""
    floor = after or before
    without = _speaking(floor["where"], floors[0] if before is None else floors[1])
    if without is None:
        return _turned(TIGHTER, before is None)
    if without == floor["min_utility"]:
        return None
    asks_more = floor["min_utility"] > without
    return _turned(TIGHTER if asks_more else LOOSER, before is None)


def _speaking(where: Mapping[str, Any], floors: Floors) -> float | None:
    covering = [floor for floor in floors if implies(where, floor["where"])]
    best = max(covering, key=lambda floor: specificity(floor["where"]), default=None)
    return None if best is None else best["min_utility"]
