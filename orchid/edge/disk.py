"""The last good bundle on disk: what an edge decides by when it starts without its control plane.

One file holds the signed bundle, the keys that are trusted and the number floor, so that a crash at
any moment leaves the old state or the new one and never a mixture.
"""

import os
from datetime import datetime
from pathlib import Path

import msgspec

from orchid.engine.wire.bundle import Bundle, Jwk, verify


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What survives a restart. `floor` never falls, even when the bundle itself is unreadable."""

    keys: dict[str, Jwk] = {}
    floor: int = 0
    token: str | None = None
    accepted_at: datetime | None = None


def read_kept(folder: Path) -> Kept:
    """What was kept; nothing on a first start. Raises ValueError when the file is damaged."""
    try:
        return msgspec.json.decode(_path(folder).read_bytes(), type=Kept)
    except FileNotFoundError:
        return Kept()
    except msgspec.DecodeError as error:
        raise ValueError(f"{_path(folder)} is damaged: {error}") from error


def write_kept(folder: Path, kept: Kept) -> None:
    """Replace the file in one step that survives loss of power."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = _path(folder).with_suffix(".new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(kept))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(_path(folder))
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def kept_bundle(kept: Kept, product: str) -> Bundle | None:
    """The kept bundle, verified again as of the moment it was accepted; None when there is none.

    Raises BundleRefused when the file was tampered with: then there is nothing to decide by.
    """
    if kept.token is None or kept.accepted_at is None:
        return None
    return verify(
        kept.token,
        kept.keys,
        product=product,
        floor_publication=kept.floor,
        now=kept.accepted_at,
    )


def _path(folder: Path) -> Path:
    return folder / "bundle.json"
