"""Compact JWS (RFC 7515) over Ed25519: what Orchid signs so that others need not believe it.

A header names the key and the type of what is signed; one type never passes for another. Only the
one form that Orchid writes is read, which leaves a header nothing to choose and takes a third of a
general reader's time: a fleet verifies the same file at one moment.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from joserfc import jws
from joserfc.jwk import OKPKey
from joserfc.jws import JWSRegistry

ALGORITHM = "EdDSA"
MOST_BYTES = 4 * 1024 * 1024
Jwk = dict[str, str]


class SignatureRefused(ValueError):  # noqa: N818 - "refused" is the word of the protocol
    """Bytes that no trusted key signed as they are; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing but these: what would change how the rest is read (`crit`, `b64`) is refused."""

    alg: str
    kid: str | None = None
    typ: str | None = None


@dataclass(frozen=True)
class Opened:
    """The parts of a token, of which nothing is verified."""

    header: _Header
    payload: bytes
    signed: bytes
    signature: str


class _Registry(JWSRegistry):
    """The library prefers RFC 9864's name "Ed25519" for the same signature and warns of "EdDSA".

    More verifiers know the older name, so tokens keep it and the lookup here doesn't warn.
    """

    max_payload_length = MOST_BYTES

    def get_alg(self, name: str) -> Any:
        return self.algorithms[name]


_registry = _Registry()


def public_jwk(private_key_pem: bytes | str) -> Jwk:
    """The public half of an Ed25519 private key, as others pin it."""
    public = _ed25519(private_key_pem).as_dict(private=False)
    return {name: str(value) for name, value in public.items()}


def sign_bytes(payload: bytes, private_key_pem: bytes | str, kid: str, of_type: str) -> str:
    """The payload as a compact JWS whose header names the key and the type."""
    header = {"alg": ALGORITHM, "kid": kid, "typ": of_type}
    return jws.serialize_compact(header, payload, _ed25519(private_key_pem), registry=_registry)


def verified_bytes(token: str, keys: Mapping[str, Jwk | str], of_type: str) -> bytes:
    """What a trusted key signed. Raises SignatureRefused: unsigned, wrong_key or altered."""
    opened = opened_token(token)
    kid, said = opened.header.kid, opened.header.typ
    if kid is None or kid not in keys:
        raise SignatureRefused("wrong_key", "it is signed by a key that isn't trusted here")
    if not _is_genuine(opened, keys[kid]):
        raise SignatureRefused("altered", f"the signature of key {kid} doesn't fit the content")
    if said != of_type:
        raise SignatureRefused("altered", f"it is a signed {said}, not {of_type}")
    return opened.payload


def opened_token(token: str) -> Opened:
    """The parts of a token. Nothing of it is verified."""
    if token.count(".") != 2 or token.endswith("."):
        raise SignatureRefused("unsigned", "a signed file is a compact JWS of three parts")
    if len(token) > MOST_BYTES:
        raise SignatureRefused("altered", f"a signed file has at most {MOST_BYTES} bytes")
    signed, _, signature = token.rpartition(".")
    header, _, payload = signed.partition(".")
    try:
        read = msgspec.json.decode(_decoded(header), type=_Header)
        opened = Opened(read, _decoded(payload), signed.encode("ascii"), signature)
    except (msgspec.DecodeError, ValueError) as error:
        raise SignatureRefused("altered", f"not a readable JWS: {error}") from error
    if read.alg != ALGORITHM:
        wrong = f"it would be signed with {ALGORITHM}, not {read.alg[:32]}"
        raise SignatureRefused("unsigned", wrong)
    return opened


def signer_of(opened: Opened) -> str | None:
    """The id of the key that a token says it was signed with."""
    return opened.header.kid


def _is_genuine(opened: Opened, key: Jwk | str) -> bool:
    """Base64 leaves spare bits in the last character; other spellings of it are refused."""
    public = _ed25519(key).public_key
    assert isinstance(public, Ed25519PublicKey)
    try:
        signature = _decoded(opened.signature)
        public.verify(signature, opened.signed)
    except (InvalidSignature, ValueError):
        return False
    return urlsafe_b64encode(signature).rstrip(b"=") == opened.signature.encode()


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _ed25519(key: Jwk | str | bytes) -> OKPKey:
    loaded = OKPKey.import_key({**key} if isinstance(key, dict) else key)
    if loaded.curve_name != "Ed25519":
        raise ValueError(f"Orchid signs with Ed25519 keys, this one is {loaded.curve_name}")
    return loaded
