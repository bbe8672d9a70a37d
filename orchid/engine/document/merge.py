"""Three documents become one: what they come from, mine, and what became live meanwhile.

Whatever only one side changed is taken; where both changed one place to different values, somebody
has to choose.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import rfc8785

from orchid.engine.document.categories import Path
from orchid.engine.document.difference import LIST_KEYS
from orchid.engine.document.errors import pointer_of

Side = Literal["mine", "theirs"]
#: A key that one of the documents does not have.
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Collision:
    """A place that both sides changed, each to another value; None where the key is not there."""

    pointer: str
    base: Any
    mine: Any
    theirs: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """The one document; while a collision is not chosen, it holds my side of it."""

    document: dict[str, Any]
    collisions: tuple[Collision, ...]
    open: tuple[Collision, ...]


def merge(
    base: Mapping[str, Any],
    mine: Mapping[str, Any],
    theirs: Mapping[str, Any],
    choices: Mapping[str, Side] | None = None,
) -> Merged:
    """Merge normalised documents; `choices` says by JSON pointer whose value a collision takes."""
    merging = _Merging(dict(choices or {}))
    document = merging.values((), dict(base), dict(mine), dict(theirs))
    unchosen = tuple(one for one in merging.found if one.pointer not in merging.choices)
    return Merged(document, tuple(merging.found), unchosen)


class _Merging:
    """One merge, with the collisions that it has met."""

    def __init__(self, choices: dict[str, Side]) -> None:
        self.choices = choices
        self.found: list[Collision] = []

    def values(self, path: Path, base: Any, mine: Any, theirs: Any) -> Any:
        if _same(mine, theirs) or _same(base, theirs):
            return _copied(mine)
        if _same(base, mine):
            return _copied(theirs)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            return self._dicts(path, base if isinstance(base, dict) else {}, mine, theirs)
        keys = LIST_KEYS.get(path)
        if keys and isinstance(mine, list) and isinstance(theirs, list):
            return self._items(path, keys, base if isinstance(base, list) else [], mine, theirs)
        return self._collided(path, base, mine, theirs)

    def _dicts(
        self, path: Path, base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any]:
        merged = {
            key: self.values(
                (*path, key), *(side.get(key, ABSENT) for side in (base, mine, theirs))
            )
            for key in [*theirs, *(key for key in mine if key not in theirs)]
        }
        return {key: value for key, value in merged.items() if value is not ABSENT}

    def _items(
        self, path: Path, keys: tuple[str, ...], base: list[Any], mine: list[Any], theirs: list[Any]
    ) -> list[Any]:
        """Items by what they are known by; two of one name are no such list, and collide whole."""
        known = [_known(keys, items) for items in (base, mine, theirs)]
        if any(one is None for one in known):
            return list(self._collided(path, base, mine, theirs))
        was, my, their = ({} if one is None else one for one in known)
        order = [*their, *(name for name in my if name not in their)]
        merged = [
            self.values((*path, name), *(side.get(name, ABSENT) for side in (was, my, their)))
            for name in order
        ]
        return [value for value in merged if value is not ABSENT]

    def _collided(self, path: Path, base: Any, mine: Any, theirs: Any) -> Any:
        sides = (None if side is ABSENT else side for side in (base, mine, theirs))
        collision = Collision(pointer_of(path), *sides)
        self.found.append(collision)
        chosen = theirs if self.choices.get(collision.pointer) == "theirs" else mine
        return _copied(chosen)


def _copied(side: Any) -> Any:
    """A copy of what one side says; that it says nothing is known by its identity."""
    return side if side is ABSENT else copy.deepcopy(side)


def _same(one: Any, other: Any) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    return bool(one == other) and type(one) is type(other)


def _known(keys: tuple[str, ...], items: list[Any]) -> dict[str, Any] | None:
    found = {rfc8785.dumps([item.get(key) for key in keys]).decode(): item for item in items}
    return found if len(found) == len(items) else None
