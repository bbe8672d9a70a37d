"""What every reader of a format gives back: the whole records, and by name what was lost."""

from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from msgspec import Meta

Record = TypeVar("Record")

#: Whole numbers as they are kept: a stamp or duration, and a count of tokens or a version.
Nanoseconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Whole = Annotated[int, Meta(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece of the input that gave no record.

    `offset` counts bytes from the start of the input as it was handed in; `line` counts from 1 and
    is absent where the format has no lines. The lost bytes themselves are never kept: they may
    hold a prompt.
    """

    offset: int
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Reading(Generic[Record]):
    """The outcome of one read.

    `complete` is false when the input ended before its own closing mark. `dropped_text` counts
    free-text values (prompts, answers, error prose) that were seen and not kept. `more_lost` counts
    the pieces beyond those that a reader is ready to name.
    """

    records: list[Record]
    lost: list[Lost] = field(default_factory=list)
    complete: bool = True
    dropped_text: int = 0
    more_lost: int = 0

    @property
    def partial(self) -> bool:
        return bool(self.lost) or not self.complete


class UnreadableError(ValueError):
    """The input as a whole is not of this format, so nothing in it can be named or kept."""
