"""`orchid check` over answers of a control plane: waiting, the table, what is no answer."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from orchid.cli import check as command
from orchid.cli.check import answer_text, gates_text, judged
from orchid.cli.client import Api
from orchid.engine.verdict.accepted import PREFIX

GATE = {
    "metric": "attainment",
    "segment": "A",
    "verdict": "pass",
    "value": "0.984000",
    "bound": "0.96",
    "margin": "0.024000",
    "low": 0.971,
    "high": 0.992,
    "n": 4210,
    "needs": None,
    "needs_s": None,
    "fragile": False,
    "message": "98.4 % of 4,210",
}


def gate(**changes: Any) -> dict[str, Any]:
    return {**GATE, **changes}


def answer(word: str, code: int, *gates: dict[str, Any]) -> dict[str, Any]:
    evaluation = {"verdicts": list(gates), "watermark": "2026-01-05T10:00:00Z"} if gates else None
    return {
        "verdict": word,
        "exit_code": code,
        "reasons": [],
        "validity": {"valid": True, "state": "ok"},
        "action": "hold",
        "why": "no rollout is open",
        "percentile_method": "nearest rank",
        "next_step": "",
        "generation": 3,
        "window": {"publication": 7, "cohort": "candidate", "exposure": 0.05},
        "evaluation": evaluation,
    }


def answering(*answers: Any) -> tuple[Api, list[float]]:
    """A client whose control plane gives these answers in turn, and how long it paused."""
    left, paused = list(answers), list[float]()
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=left.pop(0)))
    return Api(transport, paused.append), paused


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_example")


def clock(*moments: float) -> Callable[[], float]:
    return iter(moments).__next__


def test_waiting_ends_with_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    api, paused = answering(answer("no_data", 2), answer("inconclusive", 2), answer("pass", 0))
    found = judged(api, "p", 60, {}, clock(0, 1, 3, 5))
    assert (found["verdict"], paused) == ("pass", [2.0, 2.0])
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "no data; looking again\ninconclusive; looking again\n")


def test_waiting_ends_with_its_time_and_pauses_no_longer_than_that() -> None:
    api, paused = answering(answer("no_data", 2), answer("inconclusive", 2))
    found = judged(api, "p", 2.5, {}, clock(0, 1, 3))
    assert (found["verdict"], paused) == ("inconclusive", [1.5])


def test_a_fail_is_waited_for_no_further() -> None:
    api, paused = answering(answer("fail", 1))
    assert judged(api, "p", 60, {}, clock(0, 1))["exit_code"] == 1
    assert paused == []


@pytest.mark.parametrize(
    "strange",
    [
        {},
        [],
        {"verdict": "pass"},
        {"verdict": "fail", "exit_code": 0},
        {"verdict": "pass", "exit_code": 1},
        {"verdict": "pass", "exit_code": "0"},
        {"verdict": "pass", "exit_code": None},
    ],
)
def test_an_answer_without_a_sound_verdict_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], strange: Any
) -> None:
    api, _ = answering(strange)
    monkeypatch.setattr(command, "Api", lambda **options: api)
    assert exit_of(monkeypatch, "check", "--product", "p") == 3
    assert "no verdict" in capsys.readouterr().err


def test_a_page_that_is_no_api_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="<html>"))
    monkeypatch.setattr(command, "Api", lambda **options: Api(transport))
    assert exit_of(monkeypatch, "check", "--product", "p") == 3


def test_a_fault_that_nobody_foresaw_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**options: Any) -> Api:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(command, "Api", broken)
    assert exit_of(monkeypatch, "check", "--product", "p") == 3
    assert "unforeseen" in capsys.readouterr().err


def exit_of(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    from orchid.cli.main import main

    monkeypatch.setattr(sys, "argv", ["orchid", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_worst_gate_stands_first_and_of_equals_the_closest_to_its_bound() -> None:
    told = answer_text(
        "p",
        answer(
            "fail",
            1,
            gate(segment="wide", margin="0.03"),
            gate(segment="close", margin="0.001"),
            gate(segment="silent", verdict="no_data", value=None, margin=None, n=0),
            gate(segment="unsure", verdict="inconclusive"),
            gate(segment="broken", verdict="fail", margin="-0.1"),
        ),
    )
    rows = told.split("\n\n")[1].splitlines()[1:]
    named = ["broken", "silent", "unsure", "close", "wide"]
    assert [next(name for name in named if name in row) for row in rows] == named


def test_the_head_says_what_was_judged_and_what_follows() -> None:
    told = answer_text("p", answer("pass", 0, gate()))
    assert told.splitlines()[:3] == [
        "Verdict: pass (p, generation 3, publication 7, candidate at 5 % of the traffic, "
        "counted up to 2026-01-05T10:00:00Z)",
        "Evidence: valid",
        "Action: hold (no rollout is open)",
    ]


def test_a_percentile_is_never_shown_without_its_method() -> None:
    p95 = gate(metric="completion_p95_ms", value="1310", bound="1500", margin="190")
    assert "Percentiles: nearest rank." in answer_text("p", answer("pass", 0, p95))
    assert "Percentiles" not in answer_text("p", answer("pass", 0, gate()))


def test_what_many_gates_take_and_a_prior_that_is_too_small_are_told() -> None:
    told = answer("pass", 0, gate())
    assert "Neighbours" not in answer_text("p", told)
    several, effect = "17 tests; each passes at e >= 20", {"declared": 1.0, "blocks": 40}
    for due, is_told in ((3.25, True), (1.0, False), (None, False)):
        figures = {"multiplicity": {"said": several}, "design_effect": effect | {"to_declare": due}}
        said = answer_text("p", told | {"evaluation": told["evaluation"] | {"figures": figures}})
        assert f"Multiplicity: {several}." in said
        assert ("design effect of 3.2 where the document declares 1" in said) is is_told


def test_a_canary_is_told_beside_the_incumbent_where_it_gates_nothing() -> None:
    told = answer("pass", 0, gate())
    share = {"metric": "attainment_against_incumbent", "message": "+0.40 points, it gates nothing"}
    figures = {"against_incumbent": [share]}
    said = answer_text("p", told | {"evaluation": told["evaluation"] | {"figures": figures}})
    assert "Attainment beside the incumbent: +0.40 points, it gates nothing." in said


def test_a_row_has_value_bound_margin_interval_and_sample() -> None:
    heads, row = gates_text([gate()], None).splitlines()
    assert heads.split() == [
        *("verdict", "gate", "segment", "value", "bound", "margin", "interval", "n", "needs")
    ]
    for part in ("98.4 %", ">= 96 %", "+2.4 points", "97.1 to 99.2 %", "4,210"):
        assert part in row


def test_columns_stand_under_their_heads() -> None:
    heads, *rows = gates_text([gate(), gate(segment="a longer name", n=7)], None).splitlines()
    at = heads.index("bound")
    assert all(row[at:].startswith(">= 96 %") for row in rows)


@pytest.mark.parametrize(
    ("needs", "seconds", "said"),
    [
        (240, 480.0, "about 240 more, about 8 min at this rate"),
        (240, None, "about 240 more"),
        (None, None, "-"),
    ],
)
def test_what_a_verdict_still_takes_is_promised_only_where_more_would_help(
    needs: int | None, seconds: float | None, said: str
) -> None:
    row = gates_text([gate(verdict="inconclusive", needs=needs, needs_s=seconds)], None)
    assert row.splitlines()[1].endswith(said)


@pytest.mark.parametrize(
    ("value", "said"), [("0.00016", "$0.00016"), ("0.0001600000002", "$0.0001600000002")]
)
def test_no_figure_is_rounded_onto_its_bound(value: str, said: str) -> None:
    cost = gate(metric="cost_per_success_usd", segment="", value=value, bound="0.00016", margin="0")
    assert said in gates_text([cost], None).split()


def test_a_narrow_terminal_gets_a_block_for_each_gate() -> None:
    told = gates_text([gate(), gate(segment="B", verdict="inconclusive", needs=240)], 40)
    lines = told.splitlines()
    assert lines[0] == "pass: Attainment, A"
    assert all(len(line) <= 40 for line in lines)
    assert "needs about 240 more" in " ".join(line.strip() for line in lines)


def test_a_gate_of_a_later_version_is_shown_as_it_came() -> None:
    row = gates_text([gate(metric="queue_dwell_ms", value="12.5", bound="20", margin="7.5")], None)
    assert "queue dwell ms" in row
    assert "<= 20" in row


@pytest.mark.parametrize(
    ("metric", "value", "limit", "parts"),
    [
        ("utility", "0.91", "0.9", ("Utility index, as accepted", ">= 0.9")),
        ("attainment", "0.99", "0.98", ("Attainment, as accepted", "99 %", ">= 98 %", "+1 points")),
        ("completion_p95_ms", "380", "1040", ("Completion p95, as accepted", "<= 1,040 ms")),
        ("cost_per_success_usd", "0.00023", "0.00024", ("$0.00023", "<= $0.00024")),
    ],
)
def test_an_accepted_figure_is_written_as_its_gate_is(
    metric: str, value: str, limit: str, parts: tuple[str, ...]
) -> None:
    signed = gate(metric=f"{PREFIX}{metric}", value=value, bound=limit, margin="0.01")
    row = gates_text([signed], None)
    assert all(part in row for part in parts)


def test_json_leaves_numbers_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    api, _ = answering(answer("pass", 0, gate()))
    monkeypatch.setattr(command, "Api", lambda **options: api)
    assert exit_of(monkeypatch, "check", "--product", "p", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["evaluation"]["verdicts"][0] == GATE


def test_a_pipeline_waits_for_no_import_that_a_verdict_has_no_use_for() -> None:
    heavy = ("numpy", "scipy", "orchid.cli.policy", "orchid.engine.document.model")
    code = f"import sys, orchid.cli.check; print([one for one in {heavy} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
