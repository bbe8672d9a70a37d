"""What changes between two documents, in words, and whose approval that asks.

Both sides are compared in their normalised form, so another spelling is no change.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

from orchid.engine.document.canonical import normalised_document
from orchid.engine.document.categories import Category, Path, category_of
from orchid.engine.document.directions import LOOSER, TIGHTER, Direction, Floors, direction_of
from orchid.engine.document.errors import pointer_of
from orchid.engine.document.item_words import ITEMS, Words
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.wording import place_words, value_words
from orchid.engine.economics import hourly_ledger_usd

__all__ = ["Category", "Change", "Direction", "changes", "required_approvals"]

#: Lists whose items are known by some of their keys; items of others by their whole content.
LIST_KEYS: Mapping[Path, tuple[str, ...]] = {
    ("gates", "segments"): ("name",),
    ("gates", "guardrails"): ("measure", "where"),
    ("segments", "floors"): ("where",),
    ("demand", "cells"): ("route", "input_bucket", "output_bucket"),
    ("budgets",): ("tenant", "window"),
    ("revisit",): ("trigger",),
    ("rollout", "freezes"): ("name",),
}
#: Lists in which the position itself has a meaning.
POSITIONED: frozenset[Path] = frozenset({("rollout", "stages")})

#: The first generation of a product has nothing to compare with: one owner answers for it.
BOOTSTRAP: Mapping[str, int] = {"product_owner": 1}


@dataclass(frozen=True, slots=True)
class Change:
    """One change: where, the values, the kind of approval it asks, and a sentence.

    `direction` says whether more or less is asked than before; None where it can't be told.
    """

    pointer: str
    before: Any
    after: Any
    category: Category
    words: str
    direction: Direction | None = None


def changes(old_given: Mapping[str, Any], new_given: Mapping[str, Any]) -> list[Change]:
    """Every change from the old document to the new, in the order of the document."""
    was, now = PolicyDocument.model_validate(old_given), PolicyDocument.model_validate(new_given)
    old, new = normalised_document(was), normalised_document(now)
    floors = _floors(old), _floors(new)
    found = [_change(path, before, after, floors) for path, before, after in _compare((), old, new)]
    return [*found, *_ledger_change(was, now)]


def _floors(document: dict[str, Any]) -> Floors:
    floors: Floors = document["segments"].get("floors", [])
    return floors


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
    if not all(isinstance(item, dict) for item in [*old, *new]):
        yield path, old, new
        return
    before, after = _known(path, old, new)
    kept = [key for key in before if key in after]
    changed = [key for key in after if before.get(key) != after[key]]
    changed += [key for key in before if key not in after]
    for key in changed:
        index = new.index(after[key]) if key in after else old.index(before[key])
        yield (*path, str(index)), before.get(key), after.get(key)
    if not changed or kept != [key for key in after if key in before]:
        # Another order, or a repetition that comes or goes: the list as a whole is what changed.
        yield path, old, new


Known = dict[bytes, Any]


def _known(path: Path, old: list[Any], new: list[Any]) -> tuple[Known, Known]:
    """The items of both sides by what identifies them."""
    if path in POSITIONED:
        return _by_position(old), _by_position(new)
    keys = LIST_KEYS.get(path)
    if keys:
        found = tuple(
            {rfc8785.dumps([item.get(key) for key in keys]): item for item in items}
            for items in (old, new)
        )
        if len(found[0]) == len(old) and len(found[1]) == len(new):
            return found[0], found[1]
    # Two items of one name are told apart by what they say.
    return _by_content(old), _by_content(new)


def _by_position(items: list[Any]) -> Known:
    return {b"%d" % i: item for i, item in enumerate(items)}


def _by_content(items: list[Any]) -> Known:
    return {rfc8785.dumps(item): item for item in items}


def _change(path: Path, before: Any, after: Any, floors: tuple[Floors, Floors]) -> Change:
    return Change(
        pointer_of(path),
        before,
        after,
        category_of(path),
        _words(path, before, after),
        direction_of(path, before, after, floors),
    )


def _words(path: Path, before: Any, after: Any) -> str:
    said = ITEMS.get(path[:-1])
    if said is not None:
        return _item_change(said, before, after)
    place, key = place_words(path), path[-1]
    if path in ITEMS and before and after:
        was, now = ("; ".join(map(ITEMS[path], items)) for items in (before, after))
        return f"{place} in another order: {was} becomes {now}"
    if before is None:
        return f"{place}: {value_words(key, after)} added"
    if after is None:
        return f"{place}: {value_words(key, before)} removed"
    return f"{place}: {value_words(key, before)} becomes {value_words(key, after)}"


def _item_change(said: Words, before: Any, after: Any) -> str:
    if before is None:
        return f"added: {said(after)}"
    if after is None:
        return f"removed: {said(before)}"
    return f"{said(before)} becomes {said(after)}"


def _ledger_change(old: PolicyDocument, new: PolicyDocument) -> list[Change]:
    """The dollars an hour that the fleet's changes add up to; only a rise asks for approval."""
    before, after = hourly_ledger_usd(old), hourly_ledger_usd(new)
    if before == after:
        return []
    words = f"hourly ledger: ${before:,.2f} becomes ${after:,.2f}"
    category: Category = "cost" if after > before else "none"
    direction = LOOSER if after > before else TIGHTER
    return [Change("/fleet", str(before), str(after), category, words, direction)]
