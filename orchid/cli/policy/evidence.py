"""Quality evidence from a file, as far as a document can be checked against it."""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import msgspec

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.findings import RouteUtility
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.evidence import SCORING_KINDS, Kind

#: A piece of evidence has some hundred bytes; this is a set of a hundred thousand.
MAX_EVIDENCE_BYTES = 64 << 20


class Piece(msgspec.Struct):
    """The part of `orchid.evidence/v1` that findings ask for; other fields are passed over."""

    route: str
    where: dict[str, str | list[str]] = {}
    mean: float | None = None
    manifest: str | None = None
    kind: str = Kind.FROZEN_SUITE
    scores: list[float] | None = None

    @property
    def score(self) -> float | None:
        """The mean, as stated or else of the single scores; None where it clears no floor."""
        if self.kind not in SCORING_KINDS:
            return None
        return fmean(self.scores) if self.mean is None and self.scores else self.mean


def evidence_of(file: Path, document: PolicyDocument) -> tuple[RouteUtility, ...]:
    """What the file knows of the very models that the document pins.

    Raises click.ClickException where the file is neither a piece of evidence nor a set of them.
    """
    try:
        pieces = msgspec.convert(_items(_json(file)), list[Piece])
    except ValueError as error:
        raise click.ClickException(
            f"{file} is no evidence (orchid.evidence/v1): {error}"
        ) from error
    pinned = {name: manifest_digest(model) for name, model in document.models.items()}
    return tuple(
        RouteUtility(
            piece.route,
            {k: v if isinstance(v, str) else tuple(v) for k, v in piece.where.items()},
            score,
        )
        for piece in pieces
        if (score := piece.score) is not None
        and piece.route in pinned
        and piece.manifest in (None, pinned[piece.route])
    )


def _json(file: Path) -> Any:
    if file.stat().st_size > MAX_EVIDENCE_BYTES:
        raise ValueError(f"it has more than {MAX_EVIDENCE_BYTES >> 20} MiB")
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError("it is no JSON") from error


def _items(content: Any) -> Any:
    if not isinstance(content, dict):
        return content
    return content.get("items") or content.get("evidence") or [content]
