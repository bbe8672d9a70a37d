"""Records read fast are refused for the same faults as records read whole."""

import json
from typing import Any

import pytest

from benchmarks.engine.records import recorded_requests
from orchid.engine.decision_diff import Recorded, decision_diff, recorded
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.diagnosis import RecordError
from orchid.engine.wire.records import Rejected, encode_record, parse_record

SOUND: dict[str, Any] = {
    "request_id": "r1",
    "product": "orchid-serve",
    "arrived_at": "2026-05-01T10:00:00Z",
    "class": "classification",
    "outcome": "completed",
    "segment": {"task": "classification"},
}


def line(**changes: Any) -> bytes:
    given = {key: value for key, value in {**SOUND, **changes}.items() if value is not ...}
    return json.dumps(given).encode()


def read(*lines: bytes) -> list[Recorded | Rejected]:
    return list(recorded(lines))


@pytest.mark.parametrize(
    "bad",
    [
        line()[:-20],
        b"not json",
        b"[]",
        b"\xff\xfe{}",
        line(arrived_at=...),
        line(arrived_at="2026-05-01T10:00:00"),
        line(**{"class": ...}),
        line(outcome="splendid"),
        line(input_tokens=-1),
        line(completion_ms=float("nan")),
        line(tenant="two words"),
        line(segment={"task": "a sentence of a prompt"}),
        line(request_id="some text\n"),
        b'{"x":"' + b"a" * 70_000 + b'"}',
    ],
)
def test_a_line_that_is_no_record_has_the_code_and_field_of_the_full_reader(bad: bytes) -> None:
    with pytest.raises(RecordError) as whole:
        parse_record(bad)
    before, refused, after = read(line(request_id="r0"), bad, line(request_id="r2"))
    assert isinstance(refused, Rejected)
    assert (refused.line, refused.code, refused.field) == (2, whole.value.code, whole.value.field)
    assert isinstance(before, Recorded)
    assert isinstance(after, Recorded)


def test_a_bad_name_is_refused_wherever_it_comes_again() -> None:
    found = read(line(), line(tenant="two words"), line(tenant="two words"))
    assert [type(one) for one in found] == [Recorded, Rejected, Rejected]


def test_what_a_diff_does_not_need_is_never_read() -> None:
    first, again = read(line(), line(prompt="tell me a secret"))
    assert first == again
    assert "secret" not in repr(again)


def test_blank_lines_are_no_lines_and_keep_their_number() -> None:
    first, refused = read(line(), b"", b"  ", b"{}")
    assert isinstance(first, Recorded)
    assert isinstance(refused, Rejected)
    assert refused.line == 4


def test_a_diff_of_records_read_fast_is_that_of_records_read_whole(
    reference: PolicyDocument,
) -> None:
    lines = [encode_record(one) for one in recorded_requests(1500, reference, seed=2)]
    admission = reference.admission.model_copy(update={"max_queued_teu": 0})
    other = reference.model_copy(update={"admission": admission, "fallback": ()})
    fast = decision_diff(reference, other, recorded(lines))
    assert fast == decision_diff(reference, other, map(parse_record, lines))
    assert fast.n == 1500


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_without_a_year_in_utc_is_told_as_the_nearest(
    at: str, reference: PolicyDocument
) -> None:
    found = decision_diff(reference, reference, recorded([line(arrived_at=at)]))
    assert found.n == 1
    assert found.as_json()["first_arrival"][:4] == at[:4]
