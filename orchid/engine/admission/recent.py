"""Memory of what was met lately, bounded, without counting or ordering each use."""

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A map that forgets: when the young half is full, it becomes the old and the old one goes.

    What is asked for again moves into the young half, so junk from outside can't drive out what
    is in use for more than one look-up.
    """

    __slots__ = ("limit", "old", "young")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.young: dict[Key, Value] = {}
        self.old: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        found = self.young.get(key)
        if found is None and (found := self.old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: Key, value: Value) -> None:
        self.young[key] = value
        if len(self.young) >= self.limit:
            self.young, self.old = {}, self.young

    def __contains__(self, key: object) -> bool:
        return key in self.young or key in self.old

    def __len__(self) -> int:
        return len(self.young.keys() | self.old.keys())
