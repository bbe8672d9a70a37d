"""`orchid.drill/v1`: the bundle of a rollback, signed as a rehearsal that no edge can activate.

It has a type of its own in its header, so it never passes for a bundle, and a bundle never for it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from orchid.engine.wire.contents import Bundle, BundleRefused, encode_bundle, refuse_out_of_time
from orchid.engine.wire.signed import Jwk, SignatureRefused, sign_bytes, verified_bytes

DRILL_TYPE = "orchid-drill+jws"


class Drill(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a rollback would publish now. Its number is not taken; the next publication has it."""

    bundle: Bundle
    schema: Literal["orchid.drill/v1"]


def sign_drill(bundle: Bundle, private_key_pem: bytes | str, kid: str) -> str:
    """The bundle as a rehearsal, in a compact JWS."""
    head = b'{"schema":"orchid.drill/v1","bundle":'
    return sign_bytes(head + encode_bundle(bundle) + b"}", private_key_pem, kid, DRILL_TYPE)


def verify_drill(
    token: str, keys: Mapping[str, Jwk | str], *, product: str, now: datetime
) -> Bundle:
    """The rehearsed bundle, if a trusted key signed it for this product and it is in time.

    Raises BundleRefused as a bundle would, but for its turn: a real publication may have taken its
    number meanwhile, which says nothing against the way back.
    """
    try:
        payload = verified_bytes(token, keys, DRILL_TYPE)
        bundle = msgspec.json.decode(payload, type=Drill).bundle
    except SignatureRefused as refused:
        raise BundleRefused(refused.code, refused.message) from refused
    except msgspec.DecodeError as error:
        raise BundleRefused("malformed", str(error)) from error
    if bundle.product != product:
        raise BundleRefused("other_product", f"this drill is for {bundle.product}, not {product}")
    refuse_out_of_time(bundle, now)
    return bundle
