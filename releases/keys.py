"""The Ed25519 keys that sign bundles: files in one folder, never rows in the database.

The folder holds `signing-NNNN.pem`, private, 0600. The lowest number signs; every later one is
announced in each bundle as a next key, so an edge trusts it before it signs anything.
"""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives import serialization as s
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from orchid.engine.wire.bundle import public_jwk

MADE_ON_FIRST_USE = 2  # one that signs, one announced in advance


@dataclass(frozen=True)
class SigningKey:
    """One private key with its public half as the edges hold it."""

    kid: str
    pem: bytes
    jwk: dict[str, str]


def signing_keys() -> list[SigningKey]:
    """All keys, the signing one first; made when the folder has none."""
    folder = Path(settings.KEYS_DIR)
    if not any(folder.glob("signing-*.pem")):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in range(1, MADE_ON_FIRST_USE + 1):
            _make(folder / f"signing-{number:04}.pem")
    return [_read(path) for path in sorted(folder.glob("signing-*.pem"))]


def public_keys() -> dict[str, dict[str, str]]:
    """Public JWKs by key id: what a registering edge pins."""
    return {key.kid: key.jwk for key in signing_keys()}


def _make(path: Path) -> None:
    """Write a new key whole or not at all; another process that was first wins."""
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


def _fresh_pem() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()
    )


def _read(path: Path) -> SigningKey:
    pem = path.read_bytes()
    jwk = public_jwk(pem)
    # The id is the thumbprint of RFC 7638's kind: it follows from the key and from nothing else.
    kid = sha256(jwk["x"].encode()).hexdigest()[:16]
    return SigningKey(kid, pem, jwk)
