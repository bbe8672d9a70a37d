"""Sign a bundle, and verify one against the keys an edge trusts.

This is also the door to what is inside (`contents.py`) and whom a candidate serves
(`exposure.py`).
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime

import msgspec

from orchid.engine.wire.contents import (
    Bundle,
    BundleRefused,
    BundleVote,
    Exposure,
    Generation,
    Generations,
    SegmentExposure,
    decode_bundle,
    encode_bundle,
    live_digest,
    refuse_out_of_time,
    refuse_out_of_turn,
)
from orchid.engine.wire.exposure import exposed, fraction_of, stratum_of
from orchid.engine.wire.signed import (
    Jwk,
    SignatureRefused,
    opened_token,
    public_jwk,
    sign_bytes,
    signer_of,
    verified_bytes,
)

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
    "trusted_after",
    "verify",
]

BUNDLE_TYPE = "orchid-bundle+jws"


class _Claim(msgspec.Struct):
    publication: int


def sign(bundle: Bundle, private_key_pem: bytes | str, kid: str) -> str:
    """The bundle as a compact JWS whose header names the key."""
    return sign_bytes(encode_bundle(bundle), private_key_pem, kid, BUNDLE_TYPE)


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


def trusted_after(token: str, keys: Mapping[str, Jwk], bundle: Bundle) -> dict[str, Jwk]:
    """The keys to trust once a verified bundle is taken: its signer's, and those it announces.

    Whatever was trusted before ends with it, so a key that was rotated out signs nothing more.
    """
    kid = signer_of(opened_token(token))
    signer = {kid: keys[kid]} if kid is not None and kid in keys else {}
    return {**signer, **bundle.next_keys}


def claimed_publication(token: str) -> int | None:
    """The number that an offer claims, to report a refusal of it. Nothing here is verified."""
    try:
        return msgspec.json.decode(opened_token(token).payload, type=_Claim).publication
    except (SignatureRefused, msgspec.DecodeError):
        return None


def etag_of(token: str) -> str:
    """A strong entity tag of the bytes served, quoted as HTTP wants it."""
    return f'"{hashlib.sha256(token.encode()).hexdigest()[:32]}"'


def _signed_payload(token: str, keys: Mapping[str, Jwk | str]) -> bytes:
    try:
        return verified_bytes(token, keys, BUNDLE_TYPE)
    except SignatureRefused as refused:
        raise BundleRefused(refused.code, refused.message) from refused
