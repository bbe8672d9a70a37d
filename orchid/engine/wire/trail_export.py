"""An export of the audit trail as JSON lines, and how one is verified without its control plane.

The first line says what was asked for, the last how many events there were and the signed head of
that time; so a file that was cut short is no whole export.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from orchid.engine.wire.fields import Instant
from orchid.engine.wire.signed import Jwk, SignatureRefused
from orchid.engine.wire.trail import Head, Link, Walk, alteration, read_head


class Opening(msgspec.Struct, frozen=True, tag="export", tag_field="line"):
    """What was asked for, and when. A `whole` export holds every sealed event."""

    at: Instant
    asked: dict[str, str]
    whole: bool
    schema: Literal["orchid.audit/v1"] = "orchid.audit/v1"


class Closing(msgspec.Struct, frozen=True, tag="end", tag_field="line"):
    """How many events came before, and the head of the chain that they were read from."""

    events: int
    head: str | None


Line = Opening | Link | Closing
encode_line = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Line).decode


@dataclass(frozen=True)
class Exported:
    """What an export came to; `fault` is empty when nothing in it is altered or missing.

    `signed` is how far a trusted key vouches for the chain; None without one.
    """

    events: int = 0
    whole: bool = False
    head: str = ""
    token: str = ""
    signed: Head | None = None
    fault: str = ""


def check_export(
    lines: Iterable[bytes], keys: Mapping[str, Jwk], seen: Iterable[Head] = ()
) -> Exported:
    """Verify an export. `seen` are heads that were kept earlier, which the chain must contain.

    A whole one is walked from the first link to the head that a trusted key signed. In a filtered
    one each event is what its link sealed; that none was left out can't be told from it.
    """
    reading = _Reading(keys, tuple(seen))
    for line in lines:
        if line.strip() and not reading.take(line):
            break
    return reading.concluded()


class _Reading:
    """The lines so far."""

    def __init__(self, keys: Mapping[str, Jwk], seen: tuple[Head, ...]) -> None:
        self.keys, self.seen = keys, seen
        self.walk = Walk(heads={head.seq: head.hash for head in seen})
        self.opening: Opening | None = None
        self.closing: Closing | None = None
        self.events, self.fault = 0, ""

    def take(self, line: bytes) -> bool:
        """Take one line; False at a fault."""
        try:
            found = _decode(line)
        except msgspec.DecodeError as error:
            self.fault = f"line {self.events + 2} can't be read: {error}"
            return False
        match found:
            case Opening():
                self.opening = found
            case Closing():
                self.closing = found
            case Link():
                self.events += 1
                self.fault = self._fault(found)
        return not self.fault

    def _fault(self, found: Link) -> str:
        if self.opening is not None and self.opening.whole:
            self.walk.step(found)
            return self.walk.fault
        return alteration(found)

    def concluded(self) -> Exported:
        whole = self.opening is not None and self.opening.whole
        signed, fault = self._signed()
        return Exported(
            self.events,
            whole,
            self.walk.hash if whole else "",
            (self.closing.head or "") if self.closing else "",
            signed,
            self.fault or self._unfinished() or fault or (self._short() if whole else ""),
        )

    def _unfinished(self) -> str:
        if self.opening is None:
            return "this is no export of an audit trail"
        if self.closing is None:
            return "the export ends early: its last line is missing"
        if self.closing.events != self.events:
            return f"it names {self.closing.events} events and holds {self.events}"
        return ""

    def _signed(self) -> tuple[Head | None, str]:
        """The head that comes with it, when one of the trusted keys signed it."""
        token = self.closing.head if self.closing else None
        if token is None or not self.keys:
            return None, ""
        try:
            return read_head(token, self.keys), ""
        except SignatureRefused as refused:
            return None, f"the head is not signed by a trusted key: {refused.message}"

    def _short(self) -> str:
        """What a chain lacks that goes less far than a head which somebody signed."""
        signed, _ = self._signed()
        if signed is not None and (signed.seq, signed.hash) != (self.walk.seq, self.walk.hash):
            return f"the head names link {signed.seq}, and the chain ends at link {self.walk.seq}"
        furthest = max((head.seq for head in self.seen), default=0)
        if furthest > self.walk.seq:
            return f"a head of link {furthest} was seen, and the chain ends at link {self.walk.seq}"
        return ""
