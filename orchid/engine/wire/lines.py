"""Request records by the thousand: read fast where nothing is in doubt, else strictly.

`records.py` says what a record may hold. Most of what it costs to check is the alphabet of names
and the decimals, and nearly every line of a fleet repeats what the lines before it said. So a line
is read into loose twins of the same structs, derived from them, which leave three things out:

* the alphabet of names: a line of plain ASCII without space or escape has no other characters;
* everything with a vocabulary (codes, segment, outcome ...): checked once for each distinct
  combination, its `Shape`, by reading that line strictly;
* amounts: checked once for each distinct text.

What the fast way refuses is read strictly, and its verdict stands. A record that only the strict
way takes (a space in the JSON, a name in another script) is written canonically and read again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from itertools import chain
from operator import attrgetter, or_
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from orchid.engine.outcome import facts_of, served_manifest, served_route
from orchid.engine.standing import Facts
from orchid.engine.wire import fields
from orchid.engine.wire.diagnosis import RecordError
from orchid.engine.wire.fields import check_amount
from orchid.engine.wire.records import (
    AMOUNTS,
    BYTE_ORDER_MARK,
    MAX_RECORD_BYTES,
    AttemptRecord,
    DecisionRecord,
    Rejected,
    RequestRecord,
    encode_record,
    parse_record,
)

#: Bytes read at a time, and the rest of their last line: what a socket takes while more is read.
BLOCK = 256 * 1024
#: Distinct combinations and amounts that are remembered; past it all are forgotten and met anew.
MOST_SHAPES, MOST_AMOUNTS = 20_000, 100_000

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_BETWEEN_OR_ESCAPED = (b" ", b"\\", b"\t", b"\r", b"\x7f")
_LooseName = Annotated[str, Meta(min_length=1, max_length=128)]
_LooseCode = Annotated[str, Meta(min_length=1, max_length=64)]


class Shape(NamedTuple):
    """What a record says in words of vocabularies, of which there are few."""

    facts: Facts
    product: str
    digest: str | None
    publication: int | None
    cohort: str
    tenant_class: str
    segment: Mapping[str, str]
    reason: str
    route: str
    manifest: str
    class_: str
    in_rollup: bool


class Lines(NamedTuple):
    """Sound records as lists of equal length.

    `requests`, `decisions` and `attempts` have the fields of the strict structs. Amounts are text
    there; what is part of the shape, and the objects inside a request, are JSON as it was sent.
    """

    numbers: Sequence[int]
    requests: Sequence[Any]
    decisions: Sequence[Any]
    attempts: Sequence[tuple[Any, ...]]
    shapes: Sequence[Shape]
    arrived_us: Sequence[int]
    """Arrivals in microseconds since the epoch."""

    def take(self, places: Sequence[int]) -> "Lines":
        """Some of them, in their order."""
        columns: list[Any] = [[column[place] for place in places] for column in self]
        return Lines(*columns)


def amount(text: str) -> Decimal:
    """An amount of a line, each distinct text checked once."""
    known = _amounts.get(text)
    if known is None:
        known = Decimal(text)
        check_amount("amount", known)
        if len(_amounts) > MOST_AMOUNTS:
            _amounts.clear()
            _amounts[None] = Decimal(0)
        _amounts[text] = known
    return known


def read_lines(data: bytes, rejected: list[Rejected]) -> Iterator[Lines]:
    """The sound records of an NDJSON body, some hundred at a time; the others are appended."""
    for number, block in _blocks(data.removeprefix(BYTE_ORDER_MARK)):
        lines = block.split(b"\n")
        try:
            _check_plain(block, lines)
            yield _read(range(number, number + len(lines)), lines)
        except (_InDoubtError, msgspec.DecodeError, UnicodeDecodeError):
            yield from _one_by_one(number, lines, rejected)


class _InDoubtError(ValueError):
    """Not for the fast way, whether sound or not."""


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole lines with the number of the first, without the newline of the last."""
    begin, number = 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin + BLOCK)
        block = data[begin:] if end < 0 else data[begin:end]
        block = block.removesuffix(b"\n") if end < 0 else block
        yield number, block
        begin, number = begin + len(block) + 1, number + block.count(b"\n") + 1


def _one_by_one(number: int, lines: list[bytes], rejected: list[Rejected]) -> Iterator[Lines]:
    for place, line in enumerate(lines, number):
        if not line.strip():
            continue
        try:
            yield _read_one(place, line)
        except RecordError as error:
            rejected.append(Rejected(place, error.code, error.message, error.field))


def _read_one(number: int, line: bytes) -> Lines:
    try:
        compact = _compact(line)
        _check_plain(compact, [compact])
        return _read([number], [compact])
    except (_InDoubtError, msgspec.DecodeError, UnicodeDecodeError):
        return _read([number], [encode_record(parse_record(line))])


def _compact(line: bytes) -> bytes:
    """Without the spaces that many encoders put between what they write."""
    if len(line) > MAX_RECORD_BYTES:
        raise _InDoubtError
    return msgspec.json.format(line, indent=-1) if b" " in line or b"\r" in line else line


def _check_plain(block: bytes, lines: list[bytes]) -> None:
    if not block.isascii() or any(mark in block for mark in _BETWEEN_OR_ESCAPED):
        raise _InDoubtError
    if b"\n\n" in block or max(map(len, lines)) > MAX_RECORD_BYTES:
        raise _InDoubtError


def _read(numbers: Sequence[int], lines: list[bytes]) -> Lines:
    requests = list(map(_decode_request, lines))
    decisions = _decode_decisions(_joined([request.decision for request in requests]))
    attempts = _decode_attempts(_joined([request.attempts for request in requests]))
    _check_amounts(decisions, attempts)
    shapes = list(map(_shape_of, requests, decisions, attempts, lines))
    arrived_us = [(request.arrived_at - _EPOCH) // _MICROSECOND for request in requests]
    return Lines(numbers, requests, decisions, attempts, shapes, arrived_us)


def _joined(raws: list[Raw]) -> bytes:
    return b"[" + b",".join(raws) + b"]"


def _check_amounts(decisions: list[Any], attempts: list[tuple[Any, ...]]) -> None:
    tried = list(chain.from_iterable(attempts))
    stated: set[str | None] = set(chain.from_iterable(map(_amounts_of, tried)))
    stated.update([decision.teu for decision in decisions if decision is not None])
    for attempt in tried:
        if attempt.cost_parts_usd is not UNSET:
            stated.update(attempt.cost_parts_usd.values())
    try:
        for text in stated - _amounts.keys():
            amount(text or "")
    except (ValueError, ArithmeticError) as error:
        raise _InDoubtError from error


def _shape_of(request: Any, decision: Any, attempts: tuple[Any, ...], line: bytes) -> Shape:
    words = _words_of_request(request)
    if decision is not None:
        words += _words_of_decision(decision)
    for attempt in attempts:
        words += _words_of_attempt(attempt)
        words += _PAID[attempt.cost_usd is None and attempt.external_usd is None]
        words += _CALLED[bool(attempt.external_calls)]
    key = b"|".join(words)
    known = _shapes.get(key)
    if known is None:
        if len(_shapes) > MOST_SHAPES:
            _shapes.clear()
        known = _shapes[key] = _strictly(line)
    return known


def _strictly(line: bytes) -> Shape:
    try:
        record = parse_record(line)
    except RecordError as error:
        raise _InDoubtError from error
    return Shape(
        facts_of(record),
        record.product,
        record.digest,
        record.publication,
        record.cohort,
        record.tenant_class or "",
        record.segment,
        (record.decision and record.decision.reason) or "",
        served_route(record),
        served_manifest(record),
        record.class_,
        record.in_rollup,
    )


#: What is read by shape: in a twin it stays JSON, so that it need not be taken apart each time.
_REQUEST_WORDS = (
    "product",
    "digest",
    "publication",
    "cohort",
    "class_",
    "tenant_class",
    "segment",
    "outcome",
    "eligible",
    "ineligible_reason",
    "stop_reason",
    "load_state",
    "policy_valid",
    "schema_valid",
    "in_rollup",
)
_DECISION_WORDS = ("action", "route", "reason")
_ATTEMPT_WORDS = ("route", "model", "manifest", "stop_reason")
_PAID, _CALLED = ((b"paid",), (b"unpaid",)), ((b"inside",), (b"outside",))
_words_of_request = attrgetter(*_REQUEST_WORDS)
_words_of_decision = attrgetter(*_DECISION_WORDS)
_words_of_attempt = attrgetter(*_ATTEMPT_WORDS)
_amounts_of = attrgetter(*AMOUNTS)
_amounts: dict[str | None, Decimal] = {None: Decimal(0)}
_shapes: dict[bytes, Shape] = {}


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


_Parts = Annotated[dict[_LooseName, str], Meta(max_length=16)] | UnsetType
_Decision = _twin(DecisionRecord, _DECISION_WORDS)
_Attempt = _twin(AttemptRecord, _ATTEMPT_WORDS, cost_parts_usd=(_Parts, UNSET))
_Request = _twin(
    RequestRecord, _REQUEST_WORDS, decision=(Raw, Raw(b"null")), attempts=(Raw, Raw(b"[]"))
)
_Attempts = Annotated[tuple[_Attempt, ...], Meta(max_length=64)]  # type: ignore[valid-type]
_decode_request: Callable[[bytes], Any] = msgspec.json.Decoder(_Request).decode
_decode_decisions: Callable[[bytes], list[Any]] = msgspec.json.Decoder(
    list[_Decision | None]  # type: ignore[valid-type]
).decode
_decode_attempts: Callable[[bytes], list[tuple[Any, ...]]] = msgspec.json.Decoder(
    list[_Attempts]
).decode
