"""Loose twins of a record's structs: what can be read fast of a line, derived from the strict ones.

`records.py` says what a record may hold. Most of what it costs to check is the alphabet of names
and the decimals, and nearly every line of a fleet repeats what the lines before it said. So the
twins leave three things out, which `lines.py` sees to otherwise:

* the alphabet of names and codes: of vocabularies once for each `Shape`, of others by the bytes;
* what is said in words and has no short list, which stays JSON and is part of the shape;
* amounts, which stay text and are checked once for each distinct one.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from orchid.engine.wire import fields
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord

_LooseName = Annotated[str, Meta(min_length=1, max_length=128)]
_LooseCode = Annotated[str, Meta(min_length=1, max_length=64)]
_Parts = Annotated[dict[_LooseName, str], Meta(max_length=16)] | UnsetType


def _loose(kind: Any) -> Any:
    """The same type without what is checked by other means."""
    if kind in (fields.Name, fields.Dimension, fields.DimensionValue):
        return _LooseName
    if kind == fields.Code:
        return _LooseCode
    if kind is Decimal:
        return str
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, map(_loose, get_args(kind)))
    return kind


def _twin(
    strict: type[msgspec.Struct], raw: Iterable[str], **others: tuple[Any, Any]
) -> type[msgspec.Struct]:
    """The loose twin of a struct: `raw` fields stay JSON, `others` have a type and a default."""
    other = {name: (Raw, Raw()) for name in raw} | others
    made: list[Any] = []
    for one in msgspec.structs.fields(strict):
        kind, default = other.get(one.name, (_loose(one.type), one.default))
        options: dict[str, Any] = {} if one.required else {"default": default}
        made.append((one.name, kind, msgspec.field(name=one.encode_name, **options)))
    return msgspec.defstruct(
        f"{strict.__name__}Line", made, kw_only=True, forbid_unknown_fields=True, gc=False
    )


#: The fields that stay JSON.
REQUEST_WORDS = (
    "product",
    "digest",
    "class_",
    "tenant_class",
    "segment",
    "ineligible_reason",
    "stop_reason",
    "load_state",
)
DECISION_WORDS = ("route", "reason")
ATTEMPT_WORDS = ("route", "model", "manifest", "stop_reason")

_Request = _twin(
    RequestRecord, REQUEST_WORDS, decision=(Raw, Raw(b"null")), attempts=(Raw, Raw(b"[]"))
)
_Decision = _twin(DecisionRecord, DECISION_WORDS)
_Attempt = _twin(AttemptRecord, ATTEMPT_WORDS, cost_parts_usd=(_Parts, UNSET))
_Attempts = Annotated[tuple[_Attempt, ...], Meta(max_length=64)]  # type: ignore[valid-type]
_decode_requests: Callable[[bytes], list[Any]] = msgspec.json.Decoder(_Request).decode_lines
_decode_decisions: Callable[[bytes], list[Any]] = msgspec.json.Decoder(
    list[_Decision | None]  # type: ignore[valid-type]
).decode
_decode_attempts: Callable[[bytes], list[tuple[Any, ...]]] = msgspec.json.Decoder(
    list[_Attempts]
).decode


def requests_of(block: bytes) -> list[Any]:
    """The requests of NDJSON; their segments, decisions and attempts are `Raw`."""
    return _decode_requests(block)


def decisions_of(texts: Iterable[bytes]) -> list[Any]:
    """The decisions that these texts are, None for `null`."""
    return _decode_decisions(_joined(texts))


def attempts_of(texts: Iterable[bytes]) -> list[tuple[Any, ...]]:
    """The attempts of each of these texts."""
    return _decode_attempts(_joined(texts))


def _joined(texts: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(texts) + b"]"
