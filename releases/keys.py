"""The keys that sign bundles (see `accounts.keys`): who signs now, and whom edges may trust."""

from accounts.keys import Purpose, SigningKey, keys_of, known_keys
from orchid.engine.wire.signed import Jwk

__all__ = ["SigningKey", "public_keys", "signing_keys", "verifying_keys"]


def signing_keys() -> list[SigningKey]:
    """All keys, the signing one first; each later one is announced in every bundle."""
    return keys_of(Purpose.BUNDLES)


def public_keys() -> dict[str, Jwk]:
    """Public JWKs by key id: what a registering edge pins."""
    return {key.kid: key.jwk for key in signing_keys()}


def verifying_keys() -> dict[str, Jwk]:
    """Those, and the ones that signed earlier: what an old bundle is verified by."""
    return known_keys(Purpose.BUNDLES)
