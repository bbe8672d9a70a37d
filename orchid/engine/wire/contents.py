"""`orchid.bundle/v1`: one admission generation as a signed file that any cache may carry.

A compact JWS (RFC 7515) over EdDSA with Ed25519. The bundle names the keys that may sign the next
one, which are trusted because a trusted key signed them.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from orchid.engine.wire.fields import Instant, Name, Probability
from orchid.engine.wire.signed import Jwk

Kind = Literal["publish", "advance", "pause", "resume", "rollback", "price_change", "emergency"]
#: Stages at which no request is the candidate's and an edge has something else to do.
EarlyStage = Literal["shadow", "hard_limits"]
Weight = Annotated[float, Meta(ge=0.0, le=1e9)]


class Generation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy generation by its digest, with the document's given keys."""

    digest: Name
    document: dict[str, Any]


class Generations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is served: the incumbent and, during a rollout, its candidate."""

    incumbent: Generation
    candidate: Generation | None = None


class SegmentExposure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A segment at a stage of its own. It is made of whole strata, each with one fraction."""

    where: dict[Name, tuple[str, ...]]
    fraction: Probability


class Exposure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The share of each stratum's units that belongs to the candidate.

    `by_segment` speaks for the strata of segments that are ahead of the others or behind them.
    `kind` says what an edge does beside that: ask the candidate, or hold its limits.
    """

    stage: int
    fraction: Probability
    salt: str
    strata: tuple[Name, ...] = ()
    unit: Literal["session", "request", "tenant"] = "session"
    # Left out where no segment moves apart, so that such a bundle has the bytes it always had.
    by_segment: tuple[SegmentExposure, ...] | UnsetType = UNSET
    kind: EarlyStage | UnsetType = UNSET  # absent: observe or canary, which the fraction tells

    @property
    def apart(self) -> tuple[SegmentExposure, ...]:
        """The segments that have a fraction of their own."""
        return () if self.by_segment is UNSET else self.by_segment


class BundleVote(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who approved which digest, in which role and when."""

    by: str
    role: str
    digest: Name
    at: Instant


class Bundle(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One publication. `pools` names, by digest, the pool of replicas a generation runs on.

    `slices` weighs the edges that share the fleet-wide limits, those of one weight in one key with
    a space between them; without it one edge has the whole.
    """

    product: Name
    publication: Annotated[int, Meta(ge=1)]
    kind: Kind
    issued_at: Instant
    not_before: Instant
    expires_at: Instant  # bounds acceptance; what is active stays active
    generations: Generations
    pools: dict[Name, Name]
    previous: int | None = None
    exposure: Exposure | None = None
    votes: tuple[BundleVote, ...] = ()
    next_keys: dict[Name, Jwk] = {}
    slices: dict[str, Weight] = {}
    schema: Literal["orchid.bundle/v1"] = msgspec.field(default="orchid.bundle/v1")

    def __post_init__(self) -> None:
        if (self.generations.candidate is None) != (self.exposure is None):
            raise ValueError("a candidate and an exposure come together or not at all")
        if self.slices and not any(self.slices.values()):
            raise ValueError("slices without any weight")
        if self.slices and not _name_each_once(" ".join(self.slices)):
            raise ValueError("a slice belongs to edges, each named once, with a space between two")


def _name_each_once(joined: str) -> bool:
    """All names at once: a pattern for each of a thousand edges is most of the time of a bundle."""
    names = joined.split(" ")
    return joined.isprintable() and "" not in names and len(set(names)) == len(names)


class BundleRefused(ValueError):  # noqa: N818 - "refused" is the word of the protocol
    """An offered bundle that must not be activated; `code` is stable and reported as the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


def live_digest(bundle: Bundle) -> str:
    """The digest that a whole fleet is on: the candidate at full exposure, else the incumbent."""
    candidate, exposure = bundle.generations.candidate, bundle.exposure
    if candidate is None or exposure is None:
        return bundle.generations.incumbent.digest
    if exposure.fraction == 1.0 and not exposure.apart:
        return candidate.digest
    return bundle.generations.incumbent.digest


def same_content(one: Bundle, other: Bundle) -> bool:
    """Whether two bundles say the same, whenever and with whatever key each was signed.

    The slices are those of the fleet at that time: a new signature carries a changed fleet.
    """
    return _content(one) == _content(other)


def _content(bundle: Bundle) -> Mapping[str, Any]:
    signing = {"issued_at", "not_before", "expires_at", "next_keys", "slices"}
    fields = msgspec.structs.asdict(bundle)
    return {name: value for name, value in fields.items() if name not in signing}


def _plain_decimal(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"a bundle holds JSON values, not {type(value).__name__}")


encode_bundle = msgspec.json.Encoder(order="deterministic", enc_hook=_plain_decimal).encode


def decode_bundle(payload: bytes) -> Bundle:
    """Read a verified payload; BundleRefused `malformed` names the place."""
    try:
        return msgspec.json.decode(payload, type=Bundle)
    except msgspec.DecodeError as error:
        raise BundleRefused("malformed", str(error)) from error


def refuse_out_of_turn(bundle: Bundle, *, floor_publication: int, active: Bundle | None) -> None:
    """Numbers only grow; the active one again is a re-signing: equal content, not issued earlier.

    Raises BundleRefused `older`, or `conflict` when one number comes with two contents.
    """
    floor = max(floor_publication, active.publication if active else 0)
    if bundle.publication < floor:
        raise BundleRefused("older", f"publication {bundle.publication} is below {floor}")
    if active is None or bundle.publication != active.publication:
        return
    if not same_content(bundle, active):
        raise BundleRefused("conflict", f"publication {bundle.publication} came with other content")
    if bundle.issued_at < active.issued_at:
        raise BundleRefused("older", f"publication {bundle.publication} was signed again since")


def refuse_out_of_time(bundle: Bundle, now: datetime, skew_s: float = 5.0) -> None:
    """Raise BundleRefused `not_yet` or `expired`; `skew_s` forgives a clock that runs behind."""
    if (bundle.not_before - now).total_seconds() > skew_s:
        raise BundleRefused("not_yet", f"valid from {bundle.not_before.isoformat()}")
    if now >= bundle.expires_at:
        raise BundleRefused("expired", f"was to be accepted until {bundle.expires_at.isoformat()}")
