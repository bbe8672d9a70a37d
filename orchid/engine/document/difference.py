"""What changes between two documents, in words, and whose approval that asks.

Both sides are compared in their normalised form, so another spelling is no change.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import rfc8785

from orchid.engine.document.canonical import normalised
from orchid.engine.document.errors import pointer_of
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.wording import (
    fallback_words,
    floor_words,
    place_words,
    selector_words,
    value_words,
)
from orchid.engine.economics import hourly_ledger_usd

Category = Literal["quality", "cost", "capacity", "none"]
Path = tuple[str, ...]

#: The longest prefix that matches a changed place decides whom the change concerns.
CATEGORIES: Mapping[Path, Category] = {
    (): "quality",
    ("gates", "cost_per_success_usd"): "cost",
    ("classes",): "quality",
    ("classes", "*", "arrivals_per_s"): "capacity",
    ("classes", "*", "input_tokens"): "capacity",
    ("classes", "*", "max_output_tokens"): "capacity",
    ("demand",): "capacity",
    ("models", "*", "timing"): "capacity",
    ("models", "*", "kv"): "capacity",
    ("models", "*", "weights_gib"): "capacity",
    ("admission",): "capacity",
    ("admission", "conservative_route"): "quality",
    ("scheduling",): "capacity",
    ("overload",): "capacity",
    ("fleet",): "capacity",
    ("fleet", "device_usd_per_h"): "cost",
    ("fleet", "overhead_usd_per_h"): "cost",
    ("prices",): "cost",
    ("budgets",): "capacity",
    ("rollout",): "capacity",
    ("approvals", "cost"): "cost",
    ("approvals", "capacity"): "capacity",
    ("examples",): "none",
}

#: Lists whose items are known by a key; items of other lists are known by their whole content.
LIST_KEYS: Mapping[Path, str] = {
    ("gates", "segments"): "name",
    ("segments", "floors"): "where",
}
#: Lists in which the position itself has a meaning.
POSITIONED: frozenset[Path] = frozenset({("rollout", "stages")})

#: The first generation of a product has nothing to compare with: one owner answers for it.
BOOTSTRAP: Mapping[str, int] = {"product_owner": 1}


@dataclass(frozen=True, slots=True)
class Change:
    """One change: where, the values, the kind of approval it asks, and a sentence."""

    pointer: str
    before: Any
    after: Any
    category: Category
    words: str


def changes(old_given: Mapping[str, Any], new_given: Mapping[str, Any]) -> list[Change]:
    """Every change from the old document to the new, in the order of the document."""
    old, new = normalised(old_given), normalised(new_given)
    found = [_change(*item) for item in _compare((), old, new)]
    return [*found, *_ledger_change(old, new)]


def required_approvals(
    document_base: PolicyDocument | None, changes: Iterable[Change]
) -> dict[str, int]:
    """People needed by role: the union, as multisets, of what each touched category asks.

    The rules of the base apply, so no document lowers the approvals of its own change. Something
    that touches no category still asks one product owner: nothing goes out on nobody's word.
    """
    if document_base is None:
        return dict(BOOTSTRAP)
    asked: Counter[str] = Counter()
    for category in {change.category for change in changes} - {"none"}:
        asked |= Counter(getattr(document_base.approvals, category))
    return dict(sorted(asked.items())) or dict(BOOTSTRAP)


def _category(path: Path) -> Category:
    fitting = [prefix for prefix in CATEGORIES if _starts(path, prefix)]
    return CATEGORIES[max(fitting, key=len)]


def _starts(path: Path, prefix: Path) -> bool:
    pairs = zip(path, prefix, strict=False)
    return len(path) >= len(prefix) and all(b in ("*", a) for a, b in pairs)


Difference = tuple[Path, Any, Any]


def _compare(path: Path, old: Any, new: Any) -> Iterator[Difference]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from _compare((*path, key), old.get(key), new.get(key))
    elif _is_list(old) and _is_list(new):
        yield from _compare_lists(path, old or [], new or [])
    else:
        yield path, old, new


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def _compare_lists(path: Path, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    items = list(_compare_items(path, old, new))
    # Scalars, another order or a dropped repetition: the list as a whole is what changed.
    yield from items or [(path, old, new)]


def _compare_items(path: Path, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    if not all(isinstance(item, dict) for item in [*old, *new]):
        return
    before, after = _known(path, old), _known(path, new)
    for key in [*after, *(key for key in before if key not in after)]:
        was, now = before.get(key), after.get(key)
        if was != now:
            index = new.index(now) if now is not None else old.index(was)
            yield (*path, str(index)), was, now


def _known(path: Path, items: list[Any]) -> dict[bytes, Any]:
    if path in POSITIONED:
        return {b"%d" % i: item for i, item in enumerate(items)}
    key = LIST_KEYS.get(path)
    return {rfc8785.dumps(item[key] if key else item): item for item in items}


def _change(path: Path, before: Any, after: Any) -> Change:
    return Change(pointer_of(path), before, after, _category(path), _words(path, before, after))


def _words(path: Path, before: Any, after: Any) -> str:
    said = _item_words(path[:-1])
    if said is not None and path[-1:] != ():
        return _item_change(said, before, after)
    place, key = place_words(path), path[-1]
    if before is None:
        return f"{place}: {value_words(key, after)} added"
    if after is None:
        return f"{place}: {value_words(key, before)} removed"
    return f"{place}: {value_words(key, before)} becomes {value_words(key, after)}"


def _item_words(path: Path) -> Any:
    return {
        ("fallback",): fallback_words,
        ("segments", "floors"): floor_words,
        ("gates", "segments"): lambda item: (
            f"gates on the segment {item['name']} ({selector_words(item['where'])})"
        ),
    }.get(path)


def _item_change(said: Any, before: Any, after: Any) -> str:
    if before is None:
        return f"added: {said(after)}"
    if after is None:
        return f"removed: {said(before)}"
    return f"{said(before)} becomes {said(after)}"


def _ledger_change(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """The dollars an hour that the fleet's changes add up to; only a rise asks for approval."""
    before, after = _hourly_usd(old), _hourly_usd(new)
    if before == after:
        return []
    words = f"hourly ledger: ${before:,.2f} becomes ${after:,.2f}"
    category: Category = "cost" if after > before else "none"
    return [Change("/fleet", str(before), str(after), category, words)]


def _hourly_usd(given: dict[str, Any]) -> Decimal:
    return hourly_ledger_usd(PolicyDocument.model_validate(given))
