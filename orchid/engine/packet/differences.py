"""Where two JSON values differ, by pointer, in the words of a verification."""

import itertools
from collections.abc import Iterator
from typing import Any

#: Further places say nothing that these do not.
MOST = 50


def differences(recorded: Any, computed: Any, at: str) -> Iterator[tuple[str, str]]:
    """Places in which a recorded value is not what was recomputed, at most MOST."""
    return itertools.islice(_walk(recorded, computed, at), MOST)


def _walk(recorded: Any, computed: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in sorted(recorded.keys() | computed.keys()):
            yield from _inside(recorded, computed, key, f"{at}/{key}")
    elif isinstance(recorded, list) and isinstance(computed, list):
        for number, (one, other) in enumerate(zip(recorded, computed, strict=False)):
            yield from _walk(one, other, f"{at}/{number}")
        if len(recorded) != len(computed):
            yield at, f"{len(recorded)} entries recorded, {len(computed)} recomputed"
    elif recorded != computed or isinstance(recorded, bool) != isinstance(computed, bool):
        yield at, f"recorded {_short(recorded)}, recomputed {_short(computed)}"


def _inside(
    recorded: dict[str, Any], computed: dict[str, Any], key: str, at: str
) -> Iterator[tuple[str, str]]:
    if key not in recorded:
        yield at, "missing"
    elif key not in computed:
        yield at, "nothing of that follows"
    else:
        yield from _walk(recorded[key], computed[key], at)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
