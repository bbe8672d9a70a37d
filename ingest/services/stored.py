"""What storing one batch came to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from orchid.formats.reading import Lost


class RejectedPiece(TypedDict, total=False):
    """One refused line or lost fragment, as the API and the batch page show it."""

    line: int
    offset: int
    code: str
    field: str
    message: str


@dataclass
class Stored:
    counts: dict[str, int]
    rejected: list[RejectedPiece] = field(default_factory=list)


def lost_pieces(lost: Iterable[Lost]) -> list[RejectedPiece]:
    return [_piece(one) for one in lost]


def _piece(lost: Lost) -> RejectedPiece:
    piece = RejectedPiece(offset=lost.offset, code="unreadable", message=lost.reason)
    if lost.line is not None:
        piece["line"] = lost.line
    return piece
