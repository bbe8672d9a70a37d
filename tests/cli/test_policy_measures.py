"""`orchid policy fit, budget, memory, route, threshold, arithmetic` as a shell sees them."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from orchid.engine.document.load import load_document
from orchid.engine.wire.records import AttemptRecord, RequestRecord, encode_record
from tests.cli.conftest import Run
from tests.engine.calibration.measured_attempts import World
from tests.reference_document import changed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SERVE = str(EXAMPLES / "orchid-serve/generation-1.yaml")
RUN = EXAMPLES / "recordings/run1"
SHAPES = ROOT / "tests/data/model-shapes"


def recorded(n: int, seed: int = 1) -> list[bytes]:
    """Request records with a measured attempt each, a second apart; one has no time in it."""
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    lines = []
    for i, sample in enumerate(World(gross=0.02).attempts(n, seed)):
        attempt = AttemptRecord(
            attempt_id=f"a{i}",
            route=sample.route,
            pool="six",
            status="completed",
            accelerator_ms=sample.accelerator_ms if i else None,
            useful_tokens=sample.output_tokens,
        )
        record = RequestRecord(
            request_id=f"r{i}",
            product="p",
            arrived_at=begin + timedelta(seconds=i),
            outcome="completed",
            class_="chat",
            tenant="acme",
            input_tokens=sample.input_tokens,
            cached_input_tokens=sample.cached_tokens,
            max_output_tokens=sample.max_output_tokens,
            output_tokens=sample.output_tokens,
            attempts=(attempt,),
        )
        lines.append(encode_record(record))
    return lines


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("fit") / "requests.ndjson.gz"
    file.write_bytes(gzip.compress(b"\n".join([*recorded(1500), b"not a record", b""])))
    return file


def test_fit_prints_factors_and_a_section_that_a_document_takes(
    policy: Run, recording: Path
) -> None:
    code, out, _ = policy("fit", recording, "--name", "teu-7", "--hardware", "H100")
    assert code == 0
    assert "1499 attempts" in out
    assert "left out: 1 x an attempt without accelerator_ms" in out
    section = yaml.safe_load(out[out.index("demand:") :])
    demand = load_document({**changed(), **section}).document.demand
    assert demand.version == "teu-7"
    assert float(demand.model_factor["compact"]) == pytest.approx(0.3, rel=0.05)
    assert float(demand.input_weight) == pytest.approx(0.12, rel=0.05)
    assert demand.fitted is not None
    assert (demand.fitted.hardware, demand.fitted.measured) == ("H100", "2026-11-01")


def test_fit_as_json_holds_intervals_cells_and_verdicts(policy: Run, recording: Path) -> None:
    code, out, _ = policy("fit", recording, "--policy", SERVE, "--json")
    data = json.loads(out)
    assert code == 0
    full = data["routes"]["full"]
    assert (full["factor"]["value"], full["versions"]) == (1.0, ["six"])
    low, high = data["input_weight"]["low"], data["input_weight"]["high"]
    assert low < 0.12 < high
    assert {cell["route"] for cell in data["cells"]} == {"compact", "full", "premium"}
    verdicts = {found["verdict"] for found in data["verdicts"]}
    assert "too_few" in verdicts
    assert verdicts & {"calibrated", "pad"}
    assert data["document"]["version"] == "teu-3"
    assert any(e["bias"] for e in data["document"]["errors"])


def test_fit_reads_a_servers_own_recording(policy: Run) -> None:
    """The toy models sleep 20, 60 and 150 us a token read, 150, 500 and 1,500 a token written."""
    traces = [arg for file in sorted(RUN.glob("trace/*")) for arg in ("--trace", file)]
    code, out, _ = policy("fit", RUN / "client-log.jsonl", *traces, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["attempts"] > 200
    assert data["input_weight"]["value"] == pytest.approx(0.12, rel=0.1)
    assert data["ms_per_teu"]["value"] == pytest.approx(0.5, rel=0.05)
    assert data["routes"]["compact"]["factor"]["value"] == pytest.approx(0.3, rel=0.1)
    assert data["routes"]["premium"]["factor"]["value"] == pytest.approx(3.0, rel=0.1)
    assert data["not_fitted"]["chain"].startswith("12 measured attempts")


def test_fit_says_what_can_not_be_told_by_exit_code_2(policy: Run, tmp_path: Path) -> None:
    file = tmp_path / "few.ndjson"
    file.write_bytes(b"\n".join(recorded(30)))
    code, out, _ = policy("fit", file, "--reference", "premium")
    assert code == 2
    assert out.startswith("Not identifiable: the reference route premium: ")


def test_fit_of_a_torn_file_says_so(policy: Run, tmp_path: Path, recording: Path) -> None:
    torn = tmp_path / "torn.ndjson.gz"
    torn.write_bytes(recording.read_bytes()[:-200])
    code, _, err = policy("fit", torn)
    assert code == 3
    assert "gzip" in err


def test_budget_shows_the_way_and_what_still_fits(policy: Run) -> None:
    code, out, _ = policy("budget", SERVE, "--class", "short_assistant", "--queue-ms", 0)
    assert code == 0
    assert "percentiles of stages are never added up" in out
    assert "together   352.5       of 1,500 ms" in out
    assert "past the cap it stops, and going on costs 375.00 afresh" in out
    data = json.loads(policy("budget", SERVE, "--cached", 600, "--json")[1])
    assert data["classes"]["short_assistant"]["latency"]["terms"][4]["ms"] == 7.5
    assert data["classes"]["classification"]["both_calls"] is None


def test_budget_of_an_unknown_class_names_those_that_are(policy: Run) -> None:
    code, _, err = policy("budget", SERVE, "--class", "poetry")
    assert code == 3
    assert "classification, short_assistant" in err


def test_memory_prints_the_ledger_that_closes(policy: Run) -> None:
    code, out, _ = policy("memory", SERVE, "--config", SHAPES / "deepseek-v2-lite.json")
    assert code == 0
    assert "device (closes exactly)  80" in out
    assert "236,748" in out
    assert "31,104 cache bytes a token" in out
    assert "no: its own pool" in out


def test_memory_against_another_generation_names_what_differs(policy: Run, tmp_path: Path) -> None:
    given = changed()
    given["models"]["full"]["precision"] = "int8"
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(given))
    out = policy("memory", SERVE, "--against", other)[1]
    assert "full: another model: precision fp16 / int8" in out
    assert "compact: the same manifest" in out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "says no cache shape"),
        ("[]", "it is no JSON object"),
        ('{"num_hidden_layers": 2.5}', "num_hidden_layers is 2.5"),
        ("[" * 100_000, "says no cache shape"),
    ],
)
def test_a_configuration_that_says_no_shape_is_an_error_in_words(
    policy: Run, tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(content)
    code, _, err = policy("memory", SERVE, "--config", file)
    assert code == 3
    assert said in err


def test_route_logs_every_branch(policy: Run) -> None:
    code, out, _ = policy("route", SERVE, "--class", "classification")
    assert (code, out.splitlines()[0]) == (0, "compact (rule: rule 1 (task=classification))")
    asked = ["route", SERVE, "--class", "short_assistant", "--cascade", "--confidence", 0.5]
    assert "then escalate: low_confidence" in policy(*asked, "--elapsed-ms", 300)[1]
    assert "then stop: escalation_infeasible" in policy(*asked, "--elapsed-ms", 1300)[1]
    assert "of its answer decide" in policy(*asked)[1]


def scores(file: Path, wrong_every: int) -> Path:
    """1,000 answers, of which the confident half is wrong once in so many."""
    rows = ["score,small_correct,large_correct"]
    rows += [f"0.9,{int(i % wrong_every > 0)},1" for i in range(500)]
    rows += [f"0.2,{i % 2},1" for i in range(500)]
    file.write_text("\n".join(rows))
    return file


def test_threshold_gives_the_keys_that_pin_it_to_its_models(policy: Run, tmp_path: Path) -> None:
    file = scores(tmp_path / "scores.csv", 50)
    code, out, _ = policy("threshold", file, "--target", 0.06, "--policy", SERVE, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["threshold"], data["accepted"], data["wrong"]) == (0.9, 500, 10)
    assert data["operating"]["escalation"] == 0.5
    given = changed()
    given["routing"]["cascade"].update(data["cascade"])
    cascade = load_document(given).document.routing.cascade
    assert cascade is not None
    assert cascade.small_manifest is not None


def test_threshold_exits_with_1_where_none_keeps_the_target(policy: Run, tmp_path: Path) -> None:
    code, out, _ = policy("threshold", scores(tmp_path / "s.csv", 5), "--target", 0.01)
    assert code == 1
    assert "every request must go to large" in out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"confidence\n0.5\n", "no column 'score'"),
        (b"score,small_correct\n0.5,1\n0.5,maybe\n", 'line 3: small_correct is "maybe"'),
        (b"score,small_correct\nnan,1\n", 'line 2: score is "nan", allowed is a finite number'),
        (b"score,small_correct\n0.5\n", 'line 2: small_correct is ""'),
        (b'score,small_correct\n0.5,1,9,"\xff"\n', "is no UTF-8 text, from byte"),
        (b"score,small_correct\n" + b"1" * 200_000, "is no CSV"),
        (b"", "no scored answer"),
    ],
)
def test_what_is_no_scored_answer_is_told_with_its_line(
    policy: Run, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    code, _, err = policy("threshold", tmp_path / "odd.csv", "--target", 0.01)
    assert code == 3
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tokens", "4000", "3.17"), "1,262 tokens"),
        (
            ("decode", "8e9", "--bytes-per-s", "2039e9", "--output", "400"),
            "7.85 ms a token at least; 400 tokens 3,138.8 ms",
        ),
        (("batch", "10", "50", "200", "30"), "290 of 800 slots are of use: 36.25 %"),
        (
            ("speculation", "--acceptance", "0.8", "--draft", "4", "--draft-cost", "0.05"),
            "3.36 tokens a pass; 2.80 times as fast; 1.55 times the operations",
        ),
    ],
)
def test_arithmetic_says_the_worked_figures(
    policy: Run, arguments: tuple[str, ...], said: str
) -> None:
    assert policy("arithmetic", *arguments) == (0, said + "\n", "")


def test_arithmetic_of_the_support_assistant(policy: Run) -> None:
    asked = ["--prefix", 6000, "--input", 300, "--output", 250, "--requests-a-month", 1_000_000]
    out = policy("arithmetic", "assistant", *asked)[1]
    assert "cascade                             2,555     906.5" in out
    assert "23.1 requests a minute; under the cascade the large model sees 5.8" in out


@pytest.mark.parametrize("value", ["nan", "-1", "1e400", "many"])
def test_a_figure_that_is_none_is_refused(policy: Run, value: str) -> None:
    code, _, err = policy("arithmetic", "decode", value, "--bytes-per-s", "1")
    assert code == 3
    assert "Error" in err


def test_explain_prints_the_policy_card(policy: Run) -> None:
    out = policy("explain", SERVE, "--successes-per-s", "319.8")[1]
    assert "(98.40 % attainment): card $0.00015113, reserve 0.00000887." in out
