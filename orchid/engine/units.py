"""Units of a split, as they are recognised in records: by hash, within their stratum.

An edge gives hash(salt, stratum, unit) to a cohort, so the same session may well be in both cohorts
where its requests lie in two strata; a unit is the pair. The hash here is another one than the
edge's and knows no salt: a sample of it owes nothing to the cohorts.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

#: Bits of `cohorts`. A shadow answers nobody.
BIT_OF_COHORT = {"candidate": 1, "incumbent": 2}
#: Refused before a generation was chosen for them: such requests are always the incumbent's.
WITHOUT_SHAPE = frozenset({"shape_over_limit", "unknown_class"})


def unit_name(unit: str, session: str | None, request_id: str, tenant: str | None) -> str:
    """What is exposed as a whole: the session where given, else the request; or the tenant."""
    if unit == "tenant":
        return tenant or request_id
    return (session if unit == "session" else None) or request_id


def stratum_name(strata: Iterable[str], dims: Mapping[str, str]) -> str:
    """The stratum in words. The route is the edge's own choice and not in a record's segment."""
    named = (f"{name}={dims.get(name, '-')}" for name in strata if name != "route")
    return "|".join(named)


def unit_hash(stratum: str, class_name: str, unit: str) -> int:
    """A whole number of 63 bits. The class stands for the route that its shape leads to."""
    text = "\x1f".join((stratum, class_name, unit)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1


def kept(hashes: Sequence[int], most: int, keep: int) -> int:
    """The bound on hashes, halved until at most so many of them are below it."""
    ordered = sorted(hashes)
    while len(ordered) > most:
        keep //= 2
        ordered = [one for one in ordered if one < keep]
    return keep
