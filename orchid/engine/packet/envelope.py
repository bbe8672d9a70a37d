"""The envelope `orchid.packet/v1`: one spelling, a digest for each part, and one for the whole.

A packet is canonical JSON (RFC 8785), so equal content has equal bytes and an altered byte shows.
`digests` name each part, `digest` names the parts and the head; who has kept that one digest, in
an audit trail or a mail, can tell this packet from every other.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import rfc8785

SCHEMA = "orchid.packet/v1"
MAX_BYTES = 64 * 2**20
#: A document may be 32 deep and stands three levels down.
MAX_DEPTH = 40
Kind = Literal["evaluation", "figures"]
#: What each kind of packet holds beside its head.
PARTS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "figures": {
        "documents": dict,
        "declared": (dict, type(None)),
        "asked": (dict, type(None)),
        "diagnosis": (dict, type(None)),
        "derivations": list,
    },
    "evaluation": {
        "documents": dict,
        "case": str,
        "judgement": dict,
        "evidence": list,
        "recorded": dict,
    },
}
_HEAD = ("schema", "kind", "product")


class PacketError(ValueError):
    """The bytes are no packet that this program reads; the message says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was held against the packet; `message` says what was found."""

    name: str
    holds: bool
    message: str


def sealed(kind: Kind, product: str, parts: Mapping[str, Any]) -> bytes:
    """The packet's bytes; raises PacketError where they would be too many."""
    head = {"schema": SCHEMA, "kind": kind, "product": product}
    digests = {name: digest_of(part) for name, part in parts.items()}
    digest = digest_of({**head, "digests": digests})
    data = canonical({**head, **parts, "digests": digests, "digest": digest})
    if len(data) > MAX_BYTES:
        raise PacketError(f"a packet holds at most {MAX_BYTES:,} bytes, not {len(data):,}")
    return data


def opened(data: bytes) -> dict[str, Any]:
    """The packet's content, its shape checked; raises PacketError."""
    if len(data) > MAX_BYTES:
        raise PacketError(f"more than {MAX_BYTES:,} bytes: no packet is that large")
    content = _read(data)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise PacketError(f"no {SCHEMA}: its schema is not that")
    parts = PARTS.get(str(content.get("kind")))
    if parts is None:
        raise PacketError(f"packets are of kind {' or '.join(PARTS)}, not {content.get('kind')!r}")
    wanted = {"product": str, **parts, "digests": dict, "digest": str}
    for name, kind in wanted.items():
        if name not in content or not isinstance(content[name], kind):
            raise PacketError(f"/{name} is missing or of another type")
    if unknown := content.keys() - wanted.keys() - {"schema", "kind"}:
        raise PacketError(f"unknown parts: {', '.join(sorted(unknown))[:200]}")
    return content


def digests_hold(data: bytes, content: Mapping[str, Any]) -> list[Check]:
    """The spelling, the digest of each part, and that of the whole."""
    parts = list(PARTS[content["kind"]])
    checks = [
        _same("spelling", canonical(content) == data, "canonical JSON", "not canonical JSON"),
        *(_part(content, name) for name in parts),
    ]
    head = {name: content[name] for name in _HEAD}
    whole = digest_of({**head, "digests": content["digests"]})
    named = "names head and parts"
    return [*checks, _same("digest", whole == content["digest"], named, f"the parts give {whole}")]


def _part(content: Mapping[str, Any], name: str) -> Check:
    found, sealed_as = digest_of(content[name]), content["digests"].get(name)
    message = f"its digest is {found}, sealed as {sealed_as}"
    return _same(f"digests/{name}", found == sealed_as, "unaltered", message)


def _same(name: str, holds: bool, good: str, bad: str) -> Check:
    return Check(name, holds, good if holds else bad)


def canonical(content: Any) -> bytes:
    """RFC 8785; raises PacketError for what it can't spell."""
    try:
        return bytes(rfc8785.dumps(content))
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise PacketError(f"it can't be spelled as canonical JSON: {error}") from error


def digest_of(part: Any) -> str:
    return f"sha256:{hashlib.sha256(canonical(part)).hexdigest()}"


def _read(data: bytes) -> Any:
    try:
        content = json.loads(data.decode(), parse_constant=_no_constant)
    except (UnicodeDecodeError, RecursionError) as error:
        raise PacketError(f"it can't be read: {error}") from error
    except ValueError as error:
        raise PacketError(f"it is not JSON: {error}") from error
    if not _within(content):
        raise PacketError(f"it is nested more than {MAX_DEPTH} deep")
    return content


def _within(content: Any) -> bool:
    """Level by level, so that depth itself costs no stack."""
    level = [content]
    for _ in range(MAX_DEPTH):
        level = [item for value in level for item in _inside(value)]
        if not level:
            return True
    return False


def _inside(value: Any) -> list[Any]:
    inner = list(value.values()) if isinstance(value, dict) else value
    return [one for one in inner if isinstance(one, dict | list)] if isinstance(inner, list) else []


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
