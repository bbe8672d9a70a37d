"""Compact JWS (RFC 7515) over Ed25519: what Orchid signs so that others need not believe it.

A header names the key and the type of what is signed; one type never passes for another.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.jws import CompactSignature, JWSRegistry

ALGORITHM = "EdDSA"
Jwk = dict[str, str]


class SignatureRefused(ValueError):  # noqa: N818 - "refused" is the word of the protocol
    """Bytes that no trusted key signed as they are; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class _EdDSAOnly(JWSRegistry):
    """No other algorithm is ever looked up, so a header can't choose a weaker one.

    The library prefers RFC 9864's name "Ed25519" for the same signature and warns of "EdDSA"; more
    verifiers know the older name, so tokens keep it and the lookup here doesn't warn.
    """

    max_payload_length = 4 * 1024 * 1024

    def get_alg(self, name: str) -> Any:
        if name != ALGORITHM:
            raise SignatureRefused(
                "unsigned", f"it would be signed with {ALGORITHM}, not {name[:32]}"
            )
        return self.algorithms[ALGORITHM]


_registry = _EdDSAOnly()


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
    kid, said = signer_of(opened), opened.headers().get("typ")
    if kid is None or kid not in keys:
        raise SignatureRefused("wrong_key", "it is signed by a key that isn't trusted here")
    try:
        genuine = jws.validate_compact(opened, _ed25519(keys[kid]), registry=_registry)
    except JoseError as error:
        raise SignatureRefused("altered", f"the header is not one of ours: {error}") from error
    if not genuine or not _is_canonical(token.rpartition(".")[2]):
        raise SignatureRefused("altered", f"the signature of key {kid} doesn't fit the content")
    if said != of_type:
        raise SignatureRefused("altered", f"it is a signed {said}, not {of_type}")
    return opened.payload


def opened_token(token: str) -> CompactSignature:
    """The parts of a token. Nothing of it is verified."""
    if token.count(".") != 2 or token.endswith("."):
        raise SignatureRefused("unsigned", "a signed file is a compact JWS of three parts")
    try:
        return jws.extract_compact(token.encode("ascii"), registry=_registry)
    except (JoseError, ValueError, TypeError) as error:
        raise SignatureRefused("altered", f"not a readable JWS: {error}") from error


def signer_of(opened: CompactSignature) -> str | None:
    """The id of the key that a token says it was signed with."""
    kid = opened.headers().get("kid")
    return kid if isinstance(kid, str) else None


def _is_canonical(part: str) -> bool:
    """Base64 leaves spare bits in the last character; other spellings are refused."""
    padded = part + "=" * (-len(part) % 4)
    return urlsafe_b64encode(urlsafe_b64decode(padded)).rstrip(b"=") == part.encode()


def _ed25519(key: Jwk | str | bytes) -> OKPKey:
    loaded = OKPKey.import_key({**key} if isinstance(key, dict) else key)
    if loaded.curve_name != "Ed25519":
        raise ValueError(f"Orchid signs with Ed25519 keys, this one is {loaded.curve_name}")
    return loaded
