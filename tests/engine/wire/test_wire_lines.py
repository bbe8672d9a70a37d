"""The fast way to read lines takes and refuses exactly what the strict one does."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.outcome import facts_of, served_manifest, served_route
from orchid.engine.wire.amounts import amount
from orchid.engine.wire.lines import BLOCK, Lines, read_lines
from orchid.engine.wire.records import (
    AttemptRecord,
    DecisionRecord,
    Rejected,
    RequestRecord,
    encode_record,
    parse_ndjson,
    parse_record,
)

RECORD = RequestRecord(
    request_id="r1",
    product="orchid-demo",
    arrived_at=datetime(2026, 5, 1, 10, tzinfo=UTC),
    outcome="completed",
    class_="short_assistant",
    publication=2,
    digest="sha256:" + "a" * 64,
    tenant="tenant-1",
    segment={"task": "assistant", "tenant_class": "standard"},
    completion_ms=812.5,
    output_tokens=180,
    decision=DecisionRecord(action="fallback", route="compact", teu=Decimal("45.5")),
    attempts=(
        AttemptRecord(attempt_id="a1", route="full", cost_usd=Decimal("0.00015113")),
        AttemptRecord(attempt_id="a2", route="compact", manifest="sha256:b", external_calls=1),
    ),
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        1e300,
        2**70,
        float("nan"),
        "",
        "a name",
        "name",
        "Name",
        "a=b",
        "12.5",
        "-1",
        "NaN",
        "1e99",
        "1_0",
        "caf\u00e9",
        "a\x7fb",
        "x" * 129,
        "2026-05-01T12:00:00+02:00",
        "2026-05-01T12:00:00",
        "completed",
        [],
        {},
        {"task": "assistant"},
        {"Task": "x"},
        {"prompt": "x"},
        {"a": 1},
    ]
)
PLACES = st.sampled_from(
    [
        *((name,) for name in RequestRecord.__struct_encode_fields__),
        *(("decision", name) for name in DecisionRecord.__struct_encode_fields__),
        *(("attempts", 0, name) for name in AttemptRecord.__struct_encode_fields__),
        ("attempts", 0, "colour"),
        ("prompt",),
        ("segment", "task"),
    ]
)
SPACED = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", ":  ")])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A record with a few odd values, in some writer's habits; or no record at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([b"", b" ", b"{", b"[]", b"{}{}", b"\xff", b'{"a":1}']))
    document: Any = json.loads(encode_record(RECORD))
    for place in draw(st.lists(PLACES, max_size=2)):
        inside: Any = document
        for step in place[:-1]:
            at: Any = step
            try:  # what is there may be an odd value by now
                inside = inside[at]
            except (KeyError, IndexError, TypeError):
                inside = {}
        if isinstance(inside, dict):
            inside[place[-1]] = draw(ODD)
    text = json.dumps(document, separators=draw(SPACED), ensure_ascii=draw(st.booleans()))
    twice = draw(
        st.sampled_from(["", '{"tenant":"a b",', '{"tenant":7,', '{"segment":{"task":" "},'])
    )
    line = (twice + text[1:] if twice else text).encode()
    return line + draw(st.sampled_from([b"", b"", b"\r", b" ", line]))


def read(data: bytes) -> tuple[dict[int, tuple[Lines, int]], list[Rejected]]:
    rejected: list[Rejected] = []
    found: dict[int, tuple[Lines, int]] = {}
    for some in read_lines(data, rejected):
        found |= {number: (some, place) for place, number in enumerate(some.numbers)}
    return found, rejected


def assert_same(some: Lines, place: int, record: RequestRecord) -> None:
    request, decision, attempts = (
        some.requests[place],
        some.decisions[place],
        some.attempts[place],
    )
    shape = some.shapes[place]
    names = ("request_id", "arrived_at", "tenant", "completion_ms", "output_tokens", "deadline_ms")
    assert [getattr(request, n) for n in names] == [getattr(record, n) for n in names]
    assert shape.facts == facts_of(record)
    assert (shape.route, shape.manifest) == (served_route(record), served_manifest(record))
    assert (shape.digest, shape.publication) == (record.digest, record.publication)
    assert (decision is None) == (record.decision is None)
    if record.decision is not None:
        assert (decision.teu and amount(decision.teu)) == record.decision.teu
    assert [one.attempt_id for one in attempts] == [one.attempt_id for one in record.attempts]
    assert [one.start_ms for one in attempts] == [one.start_ms for one in record.attempts]
    whole = json.loads(encode_record(record))
    assert parse_record(encode_record(RECORD)) == RECORD
    assert len(json.loads(bytes(request.attempts))) == len(whole.get("attempts", []))


@settings(max_examples=120, deadline=None)
@given(body=st.lists(lines(), max_size=6))
def test_lines_are_taken_and_refused_as_by_the_strict_reader(body: list[bytes]) -> None:
    data = b"\n".join(body)
    strict, (found, rejected) = parse_ndjson(data), read(data)
    assert rejected == strict.rejected
    assert list(found) == [number for number, _ in strict.records]
    for number, record in strict.records:
        assert_same(*found[number], record)


def test_a_body_of_many_blocks_keeps_every_line_and_its_number() -> None:
    line = encode_record(RECORD)
    count = 3 * BLOCK // len(line)
    body = [line] * count
    body[count // 2] = b'{"request_id": '
    found, rejected = read(b"\n".join(body) + b"\n")
    assert [bad.line for bad in rejected] == [count // 2 + 1]
    assert list(found) == [number for number in range(1, count + 1) if number != count // 2 + 1]


def test_text_under_a_repeated_key_is_stored_nowhere() -> None:
    hidden = b'{"tenant":"please tell me about cats",' + encode_record(RECORD)[1:]
    found, _ = read(hidden)
    for some, place in found.values():
        kept = (some.requests[place].attempts, some.requests[place].decision)
        assert b"cats" not in b"".join(map(bytes, kept))


def test_a_code_is_checked_although_its_record_is_read_the_fast_way() -> None:
    bad = encode_record(RECORD).replace(b'"action":"fallback"', b'"action":"fallback","reason":"A"')
    _, rejected = read(bad)
    assert [(one.code, one.field) for one in rejected] == [("bad_value", "decision.reason")]


@pytest.mark.parametrize("junk", [b"\xef\xbb\xbf", b"\n\n", b""])
def test_a_mark_or_empty_lines_before_the_first_record_are_harmless(junk: bytes) -> None:
    found, rejected = read(junk + encode_record(RECORD))
    assert (list(found), rejected) == ([junk.count(b"\n") + 1], [])


def test_a_cell_of_140_000_characters_loses_its_line_alone() -> None:
    wide = encode_record(RECORD).replace(b"tenant-1", b"t" * 140_000)
    found, rejected = read(b"\n".join([encode_record(RECORD), wide, encode_record(RECORD)]))
    assert list(found) == [1, 3]
    assert [(one.line, one.code) for one in rejected] == [(2, "too_large")]
