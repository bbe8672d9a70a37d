"""`orchid.audit/v1`: the audit trail as a chain that anybody can walk, and its signed heads.

Each sealed event is hashed together with the hash before it, so nothing can be taken out, put in
or altered without every later hash changing. A head is a signature over how far the chain goes and
what its last hash is: whoever keeps one can tell later that the trail was not written anew.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import rfc8785
from msgspec import Meta

from orchid.engine.wire.fields import Instant
from orchid.engine.wire.signed import Jwk, SignatureRefused, sign_bytes, verified_bytes

GENESIS = "0" * 64
HEAD_TYPE = "orchid-audit-head+jws"
Event = Mapping[str, Any]


class Head(msgspec.Struct, frozen=True):
    """How far the chain goes, by the hash of its last link."""

    seq: Annotated[int, Meta(ge=1)]
    hash: str
    at: Instant
    schema: Literal["orchid.audit-head/v1"] = "orchid.audit-head/v1"


class Link(msgspec.Struct, frozen=True, tag="event", tag_field="line"):
    """One event with its place in the chain."""

    seq: int
    previous: str
    hash: str
    event: dict[str, Any]


def link(previous: str, event: Event) -> str:
    """SHA-256 over the previous hash and the event's RFC 8785 form."""
    return hashlib.sha256(previous.encode() + rfc8785.dumps(dict(event))).hexdigest()


def sign_head(seq: int, digest: str, at: datetime, pem: bytes, kid: str) -> str:
    return sign_bytes(msgspec.json.encode(Head(seq, digest, at)), pem, kid, HEAD_TYPE)


def read_head(token: str, keys: Mapping[str, Jwk]) -> Head:
    """What a signed head says. Raises SignatureRefused unless one of the keys signed it."""
    payload = verified_bytes(token, keys, HEAD_TYPE)
    try:
        return msgspec.json.decode(payload, type=Head)
    except msgspec.DecodeError as error:
        raise SignatureRefused("malformed", str(error)) from error


@dataclass
class Walk:
    """A walk along the chain, link by link. `fault` is the first thing that is wrong."""

    seq: int = 0
    hash: str = GENESIS
    fault: str = ""
    heads: dict[int, str] = field(default_factory=dict)  # what each should be, by sequence

    def step(self, found: Link) -> bool:
        """Take the next link; False at a fault, after which nothing is worth walking."""
        self.fault = self.fault or self._fault(found)
        if not self.fault:
            self.seq, self.hash = found.seq, found.hash
        return not self.fault

    def _fault(self, found: Link) -> str:
        expected = self.seq + 1
        if found.seq != expected:
            return f"link {expected} is missing"
        if found.previous != self.hash:
            return f"link {expected} does not follow the one before it"
        altered = alteration(found)
        if altered:
            return altered
        if self.heads.get(expected, found.hash) != found.hash:
            return f"link {expected} is not the one that a signed head names"
        return ""


def alteration(found: Link) -> str:
    """What is wrong with a link by itself; empty when its event is what was sealed."""
    if link(found.previous, found.event) == found.hash:
        return ""
    return f"event {found.event.get('id')} differs from what link {found.seq} sealed"
