"""`orchid check` as a CI job runs it: the real command, in a real shell, against a live server."""

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts.guard import SYSTEM_ACTOR
from policies.services import draft_generation
from tests.cli.junit_shape import sound
from tests.gates.gates_cast import SLUG, Judged, given, machine_token

pytestmark = pytest.mark.django_db(transaction=True)
ORCHID = shlex.join([sys.executable, "-m", "orchid"])
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(live_server: LiveServer, judged: Judged, tmp_path: Path) -> Shell:
    """Run a line of bash in which `orchid` is the command and everything is set as CI sets it."""
    known = {
        "ORCHID_URL": live_server.url,
        "ORCHID_TOKEN": machine_token(),
        "ORCHID_PRODUCT": SLUG,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
    }

    def run(line: str, **changed: str) -> subprocess.CompletedProcess[str]:
        script = f'orchid() {{ {ORCHID} "$@"; }}\n{line}\n'
        return subprocess.run(
            ["bash", "-c", script],
            env={**known, **changed},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_pass_is_0_and_lets_the_next_command_run(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    done = shell("orchid check && echo shipped")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Verdict: pass ({SLUG}, generation 1, publication 1, ")
    assert done.stdout.endswith("shipped\n")
    again = shell("set -o pipefail; orchid check | head -n 1 && echo shipped")
    assert (again.returncode, again.stdout.count("\n")) == (0, 2)


def test_a_fail_is_1_in_every_kind_of_pipeline(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    judged.judge()
    alone = shell("orchid check && echo shipped")
    assert alone.returncode == 1
    assert "shipped" not in alone.stdout
    assert "fail" in alone.stdout.split("\n\n")[1].splitlines()[1]  # worst first, below the heads
    assert shell("set -o pipefail; orchid check | head -n 1").returncode == 1
    assert shell("set -o pipefail; orchid check --json | head -c 10").returncode == 1
    assert shell("set -o pipefail; orchid check | cat").returncode == 1
    assert shell("set -e; orchid check > table.txt; echo shipped").returncode == 1
    assert shell("orchid check || echo stopped").stdout.endswith("stopped\n")


def test_nobody_reading_changes_no_verdict(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    judged.judge()
    # The reader has gone before the first byte, every time.
    line = "orchid check 2>errors | true; echo ${PIPESTATUS[0]}; cat errors"
    assert [shell(line).stdout for _ in range(2)] == ["1\n", "1\n"]


def test_inconclusive_and_no_data_are_2(shell: Shell, judged: Judged) -> None:
    draft_generation(SYSTEM_ACTOR, judged.product, given(step_s=30), "Next")
    judged.everywhere(20_000, good=19_190)
    judged.judge()
    live = shell("orchid check")
    assert live.returncode == 2
    assert live.stdout.startswith("Verdict: inconclusive")
    proposed = shell("orchid check --generation 2")
    assert proposed.returncode == 2
    assert "Verdict: no data" in proposed.stdout
    assert "No request of generation 2 was ever recorded by an edge" in proposed.stdout
    assert "Next: Propose generation 2 for publication" in proposed.stdout
    assert shell("orchid check --publication 7").returncode == 2


#: A line, what is set otherwise, what is said about it.
ERRORS: list[tuple[str, dict[str, str], str]] = [
    ("orchid check", {"ORCHID_URL": "http://127.0.0.1:1"}, "No control plane answers"),
    ("orchid check", {"ORCHID_TOKEN": "orc_ci_wrong"}, "unknown, expired or revoked"),
    ("orchid check", {"ORCHID_TOKEN": ""}, "ORCHID_TOKEN is not set"),
    ("orchid check", {"ORCHID_PRODUCT": ""}, "Name the product"),
    ("orchid check --product unknown", {}, "not_found"),
    ("orchid check --generation 99", {}, "no generation 99"),
    ("orchid check --generation two", {}, "two"),
    ("orchid check --stage first", {}, "not_a_stage"),
    ("orchid check --junit no/such/folder.xml", {}, "can't be written"),
    ("orchid check --junit /dev/full", {}, "can't be written"),
    ("orchid check > /dev/full", {}, "No space left"),
    ("orchid check --json --junit -", {}, "not both"),
    ("orchid check --no-such-option", {}, "No such option"),
]


def test_an_error_is_3_and_says_what_to_do(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    for line, changed, said in ERRORS:
        done = shell(f"set -o pipefail; {line} && echo shipped", **changed)
        assert done.returncode == 3, line
        assert said in done.stderr, line
        assert "Traceback" not in done.stderr
        assert "shipped" not in done.stdout


def test_a_control_plane_that_never_answers_is_3_in_time(shell: Shell, silent_port: int) -> None:
    address = f"http://127.0.0.1:{silent_port}"
    done = shell("orchid check --timeout 0.2 --wait 60", ORCHID_URL=address)
    assert done.returncode == 3
    assert "No control plane answers" in done.stderr


def test_the_report_for_ci_has_a_case_for_each_gate_and_segment(
    shell: Shell, judged: Judged, tmp_path: Path
) -> None:
    judged.everywhere(20_000, good=10_000)
    evaluation = judged.judge()
    done = shell("orchid check --junit report.xml > /dev/null")
    assert done.returncode == 1
    suite = sound(tmp_path / "report.xml")
    rows = evaluation.verdicts.all()
    assert len(suite.findall("testcase")) == 1 + len(rows)
    assert len(suite.findall("testcase/failure")) == 1 + sum(r.verdict == "fail" for r in rows)
    case = suite.find("testcase[@name='attainment'][@classname='orchid-demo.A']/failure")
    assert case is not None
    assert "where 96 % are due" in str(case.get("message"))
    assert Xml.fromstring(shell("orchid check --junit -").stdout).tag == "testsuites"


def test_an_error_leaves_no_older_report_behind(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text("<testsuites/>")
    done = shell("orchid check --junit report.xml", ORCHID_TOKEN="orc_ci_wrong")
    assert done.returncode == 3
    suite = sound(tmp_path / "report.xml")
    assert [case.get("type") for case in suite.findall("testcase/error")] == ["error"]


def test_json_is_the_whole_answer(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    answer: dict[str, Any] = json.loads(shell("orchid check --json").stdout)
    assert (answer["verdict"], answer["exit_code"], answer["generation"]) == ("pass", 0, 1)
    assert answer["validity"]["valid"]
    assert answer["action"] == "hold"
    row = next(one for one in answer["evaluation"]["verdicts"] if one["segment"] == "A")
    assert {"value", "bound", "margin", "low", "high", "n", "needs"} <= row.keys()


def test_a_packet_travels_through_a_pipe_and_is_recomputed(shell: Shell, judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    evaluation = judged.judge()
    done = shell("set -o pipefail; orchid packet export | orchid packet verify -")
    assert done.returncode == 0
    assert f"standard input holds: evaluation of {SLUG}" in done.stdout
    shown = shell(f"set -o pipefail; orchid packet export {evaluation.pk} | orchid packet show -")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"{SLUG}: fail, hold")
    figures = shell("set -o pipefail; orchid packet export --figures | orchid packet verify -")
    assert figures.returncode == 0
    altered = "sed s/technical_success/technical_successes/"
    line = (
        f"orchid packet export -o p.json && {altered} p.json | orchid packet verify - | head -n 1"
    )
    assert shell(f"set -o pipefail; {line}").returncode == 1
    assert shell("orchid packet export 999999").returncode == 3
