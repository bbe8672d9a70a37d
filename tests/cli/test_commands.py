"""The commands as a shell sees them: what they print, what they send, how they exit."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchid.cli import main as command_line

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE, TWO = (str(EXAMPLES / "orchid-demo" / f"generation-{n}.yaml") for n in (1, 2))
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def orchid(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line; returns its exit code, output and error output."""
    monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_example")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["orchid", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture
def control_plane(monkeypatch: pytest.MonkeyPatch) -> Callable[[Handler], list[httpx.Request]]:
    """Answer the client's requests from a function; gives the list of what was asked."""

    def install(handler: Handler) -> list[httpx.Request]:
        asked: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            asked.append(request)
            return handler(request)

        real = httpx.Client
        transport = httpx.MockTransport(answer)
        monkeypatch.setattr(
            "orchid.cli.client.httpx.Client",
            lambda **options: real(**{**options, "transport": transport}),
        )
        return asked

    return install


def verdict(word: str, code: int) -> dict[str, Any]:
    return {"verdict": word, "exit_code": code, "reasons": ["because"], "evaluation": None}


def test_help_names_every_command_without_importing_one(orchid: Any) -> None:
    code, out, _ = orchid("--help")
    assert (code, out.split()[:2]) == (0, ["Usage:", "orchid"])
    assert all(f"  {name} " in out for name in command_line.COMMANDS)


def test_every_command_can_be_imported(orchid: Any) -> None:
    for name in command_line.COMMANDS:
        assert orchid(name, "--help")[0] == 0


@pytest.mark.parametrize(("word", "code"), [("pass", 0), ("fail", 1), ("no_data", 2)])
def test_check_exits_with_the_verdict(
    orchid: Any, control_plane: Any, word: str, code: int
) -> None:
    control_plane(lambda request: httpx.Response(200, json=verdict(word, code)))
    exit_code, out, _ = orchid("check", "--product", "p")
    assert exit_code == code
    assert f"Verdict: {word.replace('_', ' ')} (p)" in out


def test_an_error_is_never_taken_for_a_verdict(orchid: Any, control_plane: Any) -> None:
    control_plane(lambda request: httpx.Response(500, json={"title": "Oh", "code": "oh"}))
    assert orchid("check", "--product", "p")[0] == 3
    assert orchid("check", "--no-such-option")[0] == 3
    assert orchid("check")[0] == 3  # no product named


def test_check_json_is_only_json(orchid: Any, control_plane: Any) -> None:
    control_plane(lambda request: httpx.Response(200, json=verdict("fail", 1)))
    code, out, _ = orchid("check", "--product", "p", "--json")
    assert code == 1
    assert json.loads(out)["verdict"] == "fail"


def test_propose_drafts_proposes_and_submits(orchid: Any, control_plane: Any) -> None:
    proposal = {
        "id": 4,
        "generation": 2,
        "version": 1,
        "revision_digest": "sha256:0123456789abcdef",
        "state": "in_review",
        "required": {"product_owner": 1},
    }
    asked = control_plane(lambda request: httpx.Response(201, json=proposal))
    code, out, _ = orchid("propose", TWO, "--title", "Smaller fleet")
    assert code == 0
    assert [request.url.path for request in asked] == [
        "/api/v1/products/orchid-demo/generations",
        "/api/v1/products/orchid-demo/proposals",
        "/api/v1/proposals/4/submit",
    ]
    assert json.loads(asked[2].content) == {"expected_version": 1}
    assert "in_review" in out
    assert "1 product_owner" in out


def test_ingest_names_a_batch_by_its_content_and_shows_what_was_refused(
    orchid: Any, control_plane: Any, tmp_path: Path
) -> None:
    file = tmp_path / "trace.json.0"
    file.write_text("[]")

    def inbox(request: httpx.Request) -> httpx.Response:
        batch = {"batch_id": "b", "kind": "triton_trace", "reason": "", "counts": {}}
        if request.method == "POST":
            return httpx.Response(202, json={**batch, "status": "received", "rejected": []})
        rejected = [{"line": 3, "message": "not JSON"}]
        return httpx.Response(200, json={**batch, "status": "done", "rejected": rejected})

    asked = control_plane(inbox)
    code, out, _ = orchid("ingest", str(file), "--product", "p", "--server-run", "r")
    assert code == 0
    assert "line 3: not JSON" in out
    orchid("ingest", str(file), "--product", "p", "--server-run", "r", "--no-wait")
    posts = [request for request in asked if request.method == "POST"]
    assert posts[0].headers["Batch-Id"] == posts[1].headers["Batch-Id"]
    assert dict(posts[0].url.params) == {
        "kind": "triton_trace",
        "product": "p",
        "server_run": "r",
    }


def test_a_file_whose_name_says_nothing_is_asked_about(orchid: Any, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"")
    code, _, err = orchid("ingest", str(tmp_path / "data.bin"))
    assert code == 3
    assert "--kind triton_trace|client_log" in err


def test_a_trial_is_known_by_its_content_and_carries_its_name_and_facts(
    orchid: Any, control_plane: Any, tmp_path: Path
) -> None:
    file = tmp_path / "report.csv"
    file.write_text("Concurrency,Inferences/Second,p95 latency\n1,69.2,19753\n")
    batch = {"batch_id": "b", "kind": "trial", "status": "done", "reason": "", "rejected": []}
    asked = control_plane(lambda _: httpx.Response(202, json={**batch, "counts": {}}))
    code, _, _ = orchid("ingest", str(file), "--product", "p", "--declare", "residency=both")
    assert code == 0
    assert dict(asked[0].url.params) == {
        "kind": "trial",
        "product": "p",
        "title": "report.csv",
        "residency": "both",
    }
    orchid("ingest", str(file), "--product", "p", "--declare", "residency=warm")
    assert asked[0].headers["Batch-Id"] != asked[-1].headers["Batch-Id"]


def test_packed_traffic_is_known_inside_and_travels_as_it_is(
    orchid: Any, control_plane: Any, tmp_path: Path
) -> None:
    file = tmp_path / "traffic.gz"
    file.write_bytes(gzip.compress(b'{"timestamp": 0, "input_length": 9, "output_length": 4}\n'))
    batch = {"batch_id": "b", "kind": "arrivals", "status": "done", "reason": "", "rejected": []}
    asked = control_plane(lambda _: httpx.Response(202, json={**batch, "counts": {}}))
    assert orchid("ingest", str(file), "--product", "p")[0] == 0
    assert asked[0].url.params["kind"] == "arrivals"
    assert asked[0].headers["Content-Encoding"] == "gzip"
    assert asked[0].content == file.read_bytes()


def test_policy_check_tells_every_fault_and_its_place(orchid: Any, tmp_path: Path) -> None:
    broken = Path(ONE).read_text().replace("product: orchid-demo", "prodcut: orchid-demo")
    (tmp_path / "broken.yaml").write_text(broken)
    code, _, err = orchid("policy", "check", str(tmp_path / "broken.yaml"))
    assert code == 3
    assert "/product" in err
    assert "prodcut" in err


def test_policy_check_passes_what_holds(orchid: Any) -> None:
    code, out, _ = orchid("policy", "check", ONE, "--json")
    assert code == 0
    assert json.loads(out)["digest"].startswith("sha256:")


def test_policy_diff_says_what_changes_and_who_must_approve(orchid: Any) -> None:
    code, out, _ = orchid("policy", "diff", ONE, TWO)
    assert code == 0
    assert "fleet devices: 6 becomes 4" in out
    assert "1 product_owner, 1 sre" in out
    assert orchid("policy", "diff", ONE, ONE)[1] == "No change.\n"


def test_policy_explain_gives_the_worked_figures_of_the_reference(orchid: Any) -> None:
    reference = str(EXAMPLES / "orchid-serve" / "generation-1.yaml")
    data = json.loads(orchid("policy", "explain", reference, "--json")[1])
    assert float(data["capacity"]["steady"]["demand_teu_per_s"]) == 84_030
    assert data["capacity"]["group_loss"]["fits"] is False


def test_status_takes_a_file_left_by_a_killed_run_for_nothing(
    orchid: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ORCHID_TOKEN")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "up.json").write_text(json.dumps({"pid": 2**22 + 1, "children": []}))
    code, out, _ = orchid("status", "--var", str(tmp_path))
    assert code == 0
    assert "Nothing runs" in out


def test_the_schema_of_a_document_is_printed_whole(orchid: Any) -> None:
    code, out, _ = orchid("policy", "schema")
    assert code == 0
    assert "gates" in json.loads(out)["properties"]
