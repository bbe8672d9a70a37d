"""Which generation a request belongs to while a candidate is rolled out."""

import hashlib
from collections.abc import Iterable, Mapping

from orchid.engine.wire.contents import Exposure


def exposed(salt: str, stratum: str, unit: str, fraction: float) -> bool:
    """Whether a unit belongs to the candidate: hash(salt, stratum, unit) < fraction.

    The hash doesn't depend on the fraction, so a growing stage moves nobody who was already in it.
    """
    digest = hashlib.sha256("\x1f".join((salt, stratum, unit)).encode()).digest()
    return int.from_bytes(digest[:8]) < fraction * 2**64


def fraction_of(exposure: Exposure, dimensions: Mapping[str, str]) -> float:
    """The part of a stratum's units that is exposed: its segment's own, else everybody's.

    No two segments of an exposure share a stratum, so at most one speaks for it.
    """
    for segment in exposure.apart:
        if all(dimensions.get(name) in values for name, values in segment.where.items()):
            return segment.fraction
    return exposure.fraction


def stratum_of(strata: Iterable[str], dimensions: Mapping[str, str]) -> str:
    """The stratum of a request in words: the declared dimensions, with "-" where it has none."""
    return "|".join(f"{name}={dimensions.get(name, '-')}" for name in strata)
