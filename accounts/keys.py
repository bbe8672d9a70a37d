"""The Ed25519 keys that Orchid signs with: files in one folder, never rows in the database.

A purpose has its own keys: `<purpose>-NNNN.pem`, private, 0600. The lowest number signs; a later
one is announced to whoever has to trust it before it signs anything. A key that was rotated out
leaves its public half, `<purpose>-NNNN.pub.json`, by which what it signed can still be verified.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives import serialization as s
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from controlplane.errors import Conflict
from orchid.engine.wire.signed import Jwk, public_jwk

#: An edge or a reader that was away for less than this knows the next key before it signs.
OVERLAP = timedelta(hours=24)


class Purpose(StrEnum):
    """What a key signs; one of another purpose is trusted for nothing here."""

    BUNDLES = "signing"
    AUDIT = "audit"


# Bundles announce the next key in advance; whoever verifies the trail asks for the keys then.
HELD = {Purpose.BUNDLES: 2, Purpose.AUDIT: 1}


@dataclass(frozen=True)
class SigningKey:
    """One private key with its public half as others hold it."""

    number: int
    kid: str
    pem: bytes
    jwk: Jwk
    made_at: datetime


@dataclass(frozen=True)
class Rotation:
    """Which key signs from now on, which signs nothing more, which is announced as the next."""

    signs: SigningKey
    retired: SigningKey
    announced: SigningKey


def keys_of(purpose: Purpose) -> list[SigningKey]:
    """The private keys, the signing one first; made when the folder has none."""
    if not any(_folder().glob(f"{purpose}-*.pem")):
        _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in range(1, HELD[purpose] + 1):
            _make(purpose, number)
    try:
        return [_read(path) for path in sorted(_folder().glob(f"{purpose}-*.pem"))]
    except FileNotFoundError:  # one was rotated out between the list and the look
        return keys_of(purpose)


def known_keys(purpose: Purpose) -> dict[str, Jwk]:
    """Every public key by id, those that were rotated out included: what can still be verified."""
    retired = [json.loads(path.read_text()) for path in _folder().glob(f"{purpose}-*.pub.json")]
    held = {key.kid: key.jwk for key in keys_of(purpose)}
    return {**{one["kid"]: one["jwk"] for one in retired}, **held}


def rotate(purpose: Purpose, now: datetime, *, at_once: bool = False) -> Rotation:
    """Let the next key sign, and announce one more.

    409 `key_too_new` while the next key has not been announced for OVERLAP: whoever was away would
    refuse what it signs. `at_once` does it all the same, for a key that may be in wrong hands.
    """
    with _locked():
        held = keys_of(purpose)
        if len(held) > 1 and not at_once:
            _refuse_new(held[1], now)
        announced = _make(purpose, _highest(purpose) + 1)
        _retire(purpose, held[0], now)
        return Rotation([*held, announced][1], held[0], announced)


def _refuse_new(key: SigningKey, now: datetime) -> None:
    if now - key.made_at < OVERLAP:
        raise Conflict(
            "key_too_new",
            f"Key {key.kid} is announced since {key.made_at:%Y-%m-%d %H:%M} UTC only. Wait until "
            f"it has been for {OVERLAP.total_seconds() / 3600:g} hours, or rotate with "
            "--at-once where the signing key may be in wrong hands.",
        )


def _folder() -> Path:
    return Path(settings.KEYS_DIR)


def _path(purpose: Purpose, number: int) -> Path:
    return _folder() / f"{purpose}-{number:04}.pem"


def _highest(purpose: Purpose) -> int:
    named = [*_folder().glob(f"{purpose}-*.pem"), *_folder().glob(f"{purpose}-*.pub.json")]
    return max(_number(path) for path in named)


def _number(path: Path) -> int:
    return int(path.name.partition(".")[0].rpartition("-")[2])


@contextmanager
def _locked() -> Iterator[None]:
    """One rotation at a time, over all processes of the machine."""
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(_folder() / ".rotation", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _retire(purpose: Purpose, key: SigningKey, now: datetime) -> None:
    """Keep the public half, whole at any moment, and only then forget the private one."""
    path = _path(purpose, key.number)
    public = {"kid": key.kid, "jwk": key.jwk, "retired_at": now.isoformat()}
    kept = path.with_suffix(".pub.json")
    draft = kept.with_name(f".{kept.name}.{os.getpid()}")
    draft.write_text(json.dumps(public))
    draft.replace(kept)
    path.unlink()


def _make(purpose: Purpose, number: int) -> SigningKey:
    """Write a new key whole or not at all; another process that was first wins."""
    path = _path(purpose, number)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(_fresh_pem())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return _read(path)


def _fresh_pem() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()
    )


def _read(path: Path) -> SigningKey:
    pem = path.read_bytes()
    jwk = public_jwk(pem)
    # The id is the thumbprint of RFC 7638's kind: it follows from the key and from nothing else.
    kid = sha256(jwk["x"].encode()).hexdigest()[:16]
    made_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return SigningKey(_number(path), kid, pem, jwk, made_at)
