"""`orchid policy outcomes FILE RECORDS`: what records count as, by the one definition."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.engine.records import recorded_requests
from orchid.cli import main as command_line
from orchid.engine.document.load import load_document
from orchid.engine.outcome import COUNTERS, populations
from orchid.engine.wire.records import RequestRecord, encode_record

FILE = Path(__file__).parents[2] / "examples" / "orchid-demo" / "generation-2.yaml"
DOCUMENT = load_document(FILE.read_bytes()).document
Outcomes = Callable[..., tuple[int, str]]


@pytest.fixture
def outcomes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Outcomes:
    """Run the command on lines; returns its exit code and output."""

    def run(lines: bytes, *options: str) -> tuple[int, str]:
        file = tmp_path / "day.ndjson"
        file.write_bytes(lines)
        arguments = ["orchid", "policy", "outcomes", str(FILE), str(file), *options]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, capsys.readouterr().out

    return run


def a_day() -> list[RequestRecord]:
    """Requests of the demo's kind, a tenth of them late and some cut off."""
    records = list(recorded_requests(300, DOCUMENT, seed=4))
    late = [replace(one, completion_ms=9_000.0) for one in records[::10]]
    cut = [replace(one, request_id=f"cut-{i}", outcome="failed") for i, one in enumerate(late[:9])]
    return [*records, *late, *cut]


def lines_of(records: list[RequestRecord]) -> bytes:
    return b"".join(encode_record(one) + b"\n" for one in records)


def test_every_counter_is_what_its_records_say_one_by_one(outcomes: Outcomes) -> None:
    records = a_day()
    code, printed = outcomes(lines_of(records), "--json")
    data = json.loads(printed)
    [whole] = [part for part in data["parts"] if part["segment"] == ""]
    sums = dict.fromkeys(COUNTERS, 0)
    for record in records:
        for name in populations(record, DOCUMENT):
            sums[name] += 1
    assert code == 0
    assert data["n"] == len(records)
    assert whole["counts"] == sums
    assert {part["segment"] for part in data["parts"][1:]} == {
        segment.name for segment in DOCUMENT.gates.segments
    }


def test_a_person_reads_counts_attainment_and_the_lines_that_are_none(outcomes: Outcomes) -> None:
    code, printed = outcomes(lines_of(a_day()) + b"{}\n")
    assert code == 0
    assert "339 records" in printed
    assert "technical attainment" in printed
    assert "completion p95 (nearest rank)" in printed
    assert "1 lines are no records" in printed


def test_where_the_95th_never_finished_no_number_is_invented(outcomes: Outcomes) -> None:
    [record] = recorded_requests(1, DOCUMENT, seed=4)
    lost = replace(record, outcome="lost", completion_ms=None)
    assert "not finished" in outcomes(lines_of([lost]))[1]
    assert (
        json.loads(outcomes(lines_of([lost]), "--json")[1])["parts"][0]["completion_p95_ms"] is None
    )
