"""`orchid policy diff OLD NEW --on FILE`, as a person and a CI job call it."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.engine.records import recorded_requests
from orchid.cli import main as command_line
from orchid.engine.document.load import load_document
from orchid.engine.wire.records import encode_record

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchid-demo"
ONE, TWO = (str(EXAMPLES / f"generation-{n}.yaml") for n in (1, 2))
Orchid = Callable[..., tuple[int, str, str]]


@pytest.fixture
def orchid(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Orchid:
    """Run `orchid policy diff`; returns its exit code, output and error output."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["orchid", "policy", "diff", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture(scope="module")
def lines() -> bytes:
    """Four hundred requests of generation 1."""
    document = load_document(Path(ONE).read_bytes()).document
    return b"".join(encode_record(one) + b"\n" for one in recorded_requests(400, document, seed=6))


def test_a_person_reads_what_changes_where_and_for_whom(
    orchid: Orchid, lines: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "day.ndjson"
    file.write_bytes(lines)
    code, printed, errors = orchid(ONE, TWO, "--on", str(file))
    assert (code, errors) == (0, "")
    assert "of 400 recorded requests" in printed
    assert "fallback compact (fallback_preferred)" in printed
    assert "tenant_class=standard" in printed
    assert "completion p95, predicted" in printed


def test_json_holds_the_documents_difference_and_the_decisions(
    orchid: Orchid, lines: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "day.ndjson.gz"
    file.write_bytes(gzip.compress(lines))
    code, printed, _ = orchid(ONE, TWO, "--on", str(file), "--json", "--mode", "shape")
    found = json.loads(printed)
    assert code == 0
    assert found["changes"]
    decisions = found["decisions"]
    assert (decisions["schema"], decisions["mode"]) == ("orchid.decision_diff/v1", "shape")
    assert decisions["n"] == 400
    assert sum(part["n"] for part in decisions["segments"]) == 400


def test_the_standard_input_is_a_file_like_any_other(
    orchid: Orchid, lines: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(lines))))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, printed, _ = orchid(ONE, ONE, "--on", "-", "--json")
    assert code == 0
    assert json.loads(printed)["decisions"]["changed"] == 0


def test_a_bad_line_is_named_by_number_and_field_and_loses_no_neighbour(
    orchid: Orchid, lines: bytes, tmp_path: Path
) -> None:
    first, *rest = lines.splitlines(keepends=True)
    bad = first.replace(b'"input_tokens":', b'"first_token_ms":NaN,"was":')
    file = tmp_path / "day.ndjson"
    file.write_bytes(b"".join([first, bad, *rest]))
    code, printed, _ = orchid(ONE, TWO, "--on", str(file))
    assert code == 0
    assert "of 400 recorded requests" in printed
    assert "1 line is no record: 1 nan" in printed
    assert "line 2: first_token_ms: not a finite number" in printed
    _, data, _ = orchid(ONE, TWO, "--on", str(file), "--json")
    assert "NaN" not in data


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no request"),
        (b"\x00\x01 something else\n", "line 1: the line is not one JSON object"),
        (b'{"hello": "world"}\n', "line 1: "),
        (gzip.compress(b"x" * 10_000, mtime=0)[:40], "is not a whole gzip file"),
    ],
)
def test_a_file_that_holds_no_record_is_an_error_that_says_what_was_expected(
    orchid: Orchid, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "other.bin"
    file.write_bytes(content)
    code, printed, errors = orchid(ONE, TWO, "--on", str(file))
    assert (code, printed) == (3, "")
    assert said in errors


def test_a_file_that_is_not_there_is_an_error(orchid: Orchid, tmp_path: Path) -> None:
    code, _, errors = orchid(ONE, TWO, "--on", str(tmp_path / "absent"))
    assert code == 3
    assert "does not exist" in errors
