"""What a person or a script gets who hands a policy command the wrong thing."""

import io
import json
import math
import os
import sys
from pathlib import Path

import pytest

from orchid.cli.output import show, table
from tests.cli.conftest import Run
from tests.reference_document import SOURCE
from tests.small_policy import small_document

SERVE = str(Path(__file__).parents[2] / "examples/orchid-serve/generation-1.yaml")


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """The reference document with some text replaced."""
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def test_each_fault_is_told_with_its_line(policy: Run, tmp_path: Path) -> None:
    file = written(tmp_path, ("alpha_pass: 0.05", "alpha_pass: 5"), ("  clock:", "  clok:"))
    at = {key: _line(file, key) for key in ("alpha_pass", "clok", "contract")}
    code, out, err = policy("check", file)
    assert (code, out) == (3, "")
    assert f"line {at['alpha_pass']}, /gates/alpha_pass: found 5" in err
    assert f'line {at["clok"]}, /contract/clok: found unknown key "clok"' in err
    assert f"line {at['contract']}, /contract/clock: found nothing" in err


def _line(file: Path, key: str) -> int:
    lines = file.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip().startswith(f"{key}:"))


def test_faults_are_json_where_json_is_asked_for(policy: Run, tmp_path: Path) -> None:
    file = written(tmp_path, ("alpha_pass: 0.05", "alpha_pass: 5"))
    code, out, err = policy("check", file, "--json")
    assert (code, err) == (3, "")
    found = json.loads(out)
    assert found["digest"] is None
    (fault,) = found["faults"]
    assert (fault["pointer"], fault["found"]) == ("/gates/alpha_pass", "5")
    assert fault["line"] == _line(file, "alpha_pass")


def test_a_finding_is_told_with_its_line(policy: Run, tmp_path: Path) -> None:
    file = written(tmp_path, ("quality: [product_owner, product_owner]", "quality: []"))
    code, out, _ = policy("check", file)
    assert code == 1
    assert f"error: line {_line(file, 'quality')}, /approvals/quality: nobody" in out


@pytest.mark.parametrize("command", ["check", "explain", "memory", "budget"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "found nothing, allowed is a mapping"),
        (bytes(range(256)), "allowed is UTF-8 text"),
        (b"# " + b"x" * 2_000_000, "found more than 1,000,000 bytes"),
        (b"a: " + b"[" * 50_000, "nesting depth"),
    ],
)
def test_what_is_no_document_is_refused_in_words(
    policy: Run, tmp_path: Path, command: str, content: bytes, said: str
) -> None:
    (tmp_path / "policy.yaml").write_bytes(content)
    code, out, err = policy(command, tmp_path / "policy.yaml")
    assert (code, out) == (3, "")
    assert said in err


def test_an_endless_file_is_not_read_to_its_end(policy: Run) -> None:
    code, _, err = policy("check", "/dev/zero")
    assert code == 3
    assert "more than 1,000,000 bytes" in err


def test_a_document_may_come_from_standard_input(
    policy: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def piped(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    piped(SOURCE)
    assert policy("check", "-")[0] == 0
    piped("7")
    assert "standard input has 1 fault" in policy("check", "-")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("budget", SERVE, "--queue-ms", "nan"),
        ("budget", SERVE, "--network-ms", "inf"),
        ("budget", SERVE, "--hit-rate", "5"),
        ("budget", SERVE, "--input", "9" * 40),
        ("route", SERVE, "--class", "short_assistant", "--confidence", "nan"),
        ("threshold", SERVE, "--target", "nan"),
        ("fit", SERVE, "--nominal", "nan"),
        ("explain", SERVE, "--successes-per-s", "nan"),
        ("arithmetic", "decode", "8e9", "--bytes-per-s", "0"),
        ("arithmetic", "tokens", "10", "1e-300"),
    ],
)
def test_a_figure_outside_its_meaning_is_refused_by_its_name(
    policy: Run, arguments: tuple[str, ...]
) -> None:
    code, out, err = policy(*arguments)
    assert (code, out) == (3, "")
    assert "Invalid value for" in err


@pytest.mark.parametrize("content", ["[" * 100_000, "\x00", '{"route": '])
def test_evidence_that_is_no_json_is_refused_in_words(
    policy: Run, tmp_path: Path, content: str
) -> None:
    (tmp_path / "evidence.json").write_text(content)
    code, _, err = policy("check", SERVE, "--evidence", tmp_path / "evidence.json")
    assert code == 3
    assert "is no evidence (orchid.evidence/v1): it is no JSON" in err


def test_an_unknown_dimension_is_refused_with_the_nearest(policy: Run) -> None:
    code, _, err = policy("route", SERVE, "--class", "short_assistant", "--dimension", "tsk=x")
    assert code == 3
    assert "did you mean task?" in err


def test_an_unknown_class_is_routed_and_named(policy: Run) -> None:
    code, out, _ = policy("route", SERVE, "--class", "short_asistant")
    assert code == 0
    assert out.startswith("full (conservative: unknown class)")
    assert "no class is 'short_asistant': did you mean short_assistant?" in out


@pytest.mark.parametrize("error", [BrokenPipeError(32, "Broken pipe"), OSError(28, "No space")])
def test_output_that_nobody_takes_is_an_error_and_no_verdict(
    policy: Run, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise error

    monkeypatch.setattr(sys, "stdout", Full())
    code, _, err = policy("check", SERVE)
    assert code == 3
    assert "Traceback" not in err


def test_a_table_is_folded_for_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("yes", "one two three four five six seven eight nine ten")]
    assert table(("fits", "what"), rows).splitlines()[1] == f"yes   {rows[0][1]}"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda **_: os.terminal_size((36, 20)))
    assert table(("fits", "what"), rows).splitlines()[1:] == [
        "yes   one two three four five six",
        "      seven eight nine ten",
    ]


def test_json_has_neither_noise_nor_what_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"ms": (0.1 + 0.2, 990.0000000000001), "at": [math.inf, math.nan, None, 3, "x", True]}
    show(data, str, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found == {"ms": [0.3, 990.0], "at": [None, None, None, 3, "x", True]}


@pytest.mark.parametrize("command", ["explain", "budget"])
def test_a_model_without_a_price_is_named_by_what_needs_one(
    policy: Run, tmp_path: Path, command: str
) -> None:
    document = small_document(demand__model_factor={"compact": 0.5})
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(document))
    code, _, err = policy(command, file)
    assert code == 3
    assert "has no factor for the model full; `orchid policy check` says where" in err
