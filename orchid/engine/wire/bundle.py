"""Sign a bundle, and verify one against the keys an edge trusts.

This is also the door to what is inside (`contents.py`) and whom a candidate serves
(`exposure.py`).
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.jws import CompactSignature, JWSRegistry

from orchid.engine.wire.contents import (
    Bundle,
    BundleRefused,
    BundleVote,
    Exposure,
    Generation,
    Generations,
    Jwk,
    SegmentExposure,
    decode_bundle,
    encode_bundle,
    live_digest,
    refuse_out_of_time,
    refuse_out_of_turn,
)
from orchid.engine.wire.exposure import exposed, fraction_of, stratum_of

__all__ = [
    "Bundle",
    "BundleRefused",
    "BundleVote",
    "Exposure",
    "Generation",
    "Generations",
    "Jwk",
    "SegmentExposure",
    "claimed_publication",
    "etag_of",
    "exposed",
    "fraction_of",
    "live_digest",
    "public_jwk",
    "sign",
    "stratum_of",
    "verify",
]

ALGORITHM = "EdDSA"
BUNDLE_TYPE = "orchid-bundle+jws"


class _Claim(msgspec.Struct):
    publication: int


class _EdDSAOnly(JWSRegistry):
    """No other algorithm is ever looked up, so a header can't choose a weaker one.

    The library prefers RFC 9864's name "Ed25519" for the same signature and warns of "EdDSA"; more
    verifiers know the older name, so bundles keep it and the lookup here doesn't warn.
    """

    max_payload_length = 4 * 1024 * 1024

    def get_alg(self, name: str) -> Any:
        if name != ALGORITHM:
            raise BundleRefused("unsigned", f"a bundle is signed with {ALGORITHM}, not {name[:32]}")
        return self.algorithms[ALGORITHM]


_registry = _EdDSAOnly()


def public_jwk(private_key_pem: bytes | str) -> Jwk:
    """The public half of an Ed25519 private key, as edges pin it and bundles carry it."""
    public = _ed25519(private_key_pem).as_dict(private=False)
    return {name: str(value) for name, value in public.items()}


def sign(bundle: Bundle, private_key_pem: bytes | str, kid: str) -> str:
    """The bundle as a compact JWS whose header names the key."""
    header = {"alg": ALGORITHM, "kid": kid, "typ": BUNDLE_TYPE}
    return jws.serialize_compact(
        header, encode_bundle(bundle), _ed25519(private_key_pem), registry=_registry
    )


def verify(
    token: str,
    keys: Mapping[str, Jwk | str],
    *,
    product: str,
    floor_publication: int,
    now: datetime,
    active: Bundle | None = None,
) -> Bundle:
    """The bundle, if a trusted key signed exactly these bytes, for this product, in turn and time.

    Raises BundleRefused: unsigned, wrong_key, altered, malformed, other_product, older, conflict,
    not_yet, expired. The signature is settled before any of the content is believed.
    """
    bundle = decode_bundle(_signed_payload(token, keys))
    if bundle.product != product:
        raise BundleRefused("other_product", f"this bundle is for {bundle.product}, not {product}")
    refuse_out_of_turn(bundle, floor_publication=floor_publication, active=active)
    refuse_out_of_time(bundle, now)
    return bundle


def claimed_publication(token: str) -> int | None:
    """The number that an offer claims, to report a refusal of it. Nothing here is verified."""
    try:
        return msgspec.json.decode(_opened(token).payload, type=_Claim).publication
    except (BundleRefused, msgspec.DecodeError):
        return None


def etag_of(token: str) -> str:
    """A strong entity tag of the bytes served, quoted as HTTP wants it."""
    return f'"{hashlib.sha256(token.encode()).hexdigest()[:32]}"'


def _signed_payload(token: str, keys: Mapping[str, Jwk | str]) -> bytes:
    opened = _opened(token)
    kid = opened.headers().get("kid")
    if not isinstance(kid, str) or kid not in keys:
        raise BundleRefused("wrong_key", "the bundle is signed by a key that isn't trusted here")
    try:
        genuine = jws.validate_compact(opened, _ed25519(keys[kid]), registry=_registry)
    except JoseError as error:
        raise BundleRefused("altered", f"the header is not one of ours: {error}") from error
    if not genuine or not _is_canonical(token.rpartition(".")[2]):
        raise BundleRefused("altered", f"the signature of key {kid} doesn't fit the content")
    return opened.payload


def _opened(token: str) -> CompactSignature:
    if token.count(".") != 2 or token.endswith("."):
        raise BundleRefused("unsigned", "a bundle is a compact JWS of three parts")
    try:
        return jws.extract_compact(token.encode("ascii"), registry=_registry)
    except (JoseError, ValueError, TypeError) as error:
        raise BundleRefused("altered", f"not a readable JWS: {error}") from error


def _is_canonical(part: str) -> bool:
    """Base64 leaves spare bits in the last character; other spellings are refused."""
    padded = part + "=" * (-len(part) % 4)
    return urlsafe_b64encode(urlsafe_b64decode(padded)).rstrip(b"=") == part.encode()


def _ed25519(key: Jwk | str | bytes) -> OKPKey:
    loaded = OKPKey.import_key({**key} if isinstance(key, dict) else key)
    if loaded.curve_name != "Ed25519":
        raise ValueError(f"bundles are signed with Ed25519 keys, this one is {loaded.curve_name}")
    return loaded
