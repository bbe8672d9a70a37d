"""What a line typed at a terminal gives."""

from collections.abc import Callable

#: A line and who types it; its exit code, what it printed and what it said.
Orchid = Callable[..., tuple[int, str, str]]
