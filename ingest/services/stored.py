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

    def __post_init__(self) -> None:
        self.rejected = [storable(piece) for piece in self.rejected]


def storable(piece: RejectedPiece) -> RejectedPiece:
    """The piece with text that PostgreSQL can hold: a sender names fields as it likes."""
    plain = piece.copy()
    for name in ("field", "message"):
        if name in piece:
            plain[name] = _held_text(piece[name])
    return plain


def _held_text(text: str) -> str:
    """Neither NUL nor half of a surrogate pair has a place in a JSON column."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def lost_pieces(lost: Iterable[Lost]) -> list[RejectedPiece]:
    return [_piece(one) for one in lost]


def _piece(lost: Lost) -> RejectedPiece:
    piece = RejectedPiece(offset=lost.offset, code="unreadable", message=lost.reason)
    if lost.line is not None:
        piece["line"] = lost.line
    return piece
