"""`orchid evidence push` and `list` over answers of a control plane."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from orchid.cli import evidence as command
from orchid.cli.client import Api

PIECE = {"suite": "tasks", "suite_version": "3", "kind": "frozen_suite", "route": "full"}
ROW = PIECE | {"where": {"task": "a"}, "n": 9, "mean": 0.9, "violations": 0, "superseded": None}


class ControlPlane:
    """Answers whatever it is asked, and keeps what it was asked."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer, self.asked = answer, list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return httpx.Response(200, json=self.answer)

    @property
    def body(self) -> Any:
        return json.loads(self.asked[-1].content)


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    monkeypatch.setenv("ORCHID_TOKEN", "token")
    found = ControlPlane({"results": [ROW], "created": 1, "next_cursor": "abc"})
    monkeypatch.setattr(command, "Api", lambda: Api(httpx.MockTransport(found)))
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.evidence, list(arguments))


def written(folder: Path, content: Any) -> str:
    file = folder / "evidence.json"
    file.write_text(json.dumps(content))
    return str(file)


def test_a_set_is_sent_as_it_is(plane: ControlPlane, tmp_path: Path) -> None:
    given = {"schema": "orchid.evidence-set/v1", "product": "demo", "evidence": [PIECE]}
    result = run("push", written(tmp_path, given))
    assert result.exit_code == 0, result.output
    assert plane.asked[0].url.path == "/api/v1/products/demo/evidence"
    assert plane.body == given
    assert "1 of 1 are new" in result.output


def test_one_piece_becomes_a_set_of_one(plane: ControlPlane, tmp_path: Path) -> None:
    run("push", written(tmp_path, PIECE), "--product", "demo")
    assert plane.body == {"items": [PIECE]}


def test_when_it_was_measured_is_said_once_for_all(plane: ControlPlane, tmp_path: Path) -> None:
    file = written(tmp_path, {"items": [PIECE]})
    run("push", file, "--product", "demo", "--measured-at", "2026-01-05T10:00:00Z")
    assert plane.body["measured_at"] == "2026-01-05T10:00:00+00:00"
    run("push", file, "--product", "demo", "--measured-at", "now")
    assert plane.body["measured_at"].endswith("+00:00")


@pytest.mark.parametrize("moment", ["yesterday", "2026-01-05T10:00:00"])
def test_a_moment_without_an_offset_is_none(
    plane: ControlPlane, tmp_path: Path, moment: str
) -> None:
    file = written(tmp_path, {"items": [PIECE]})
    result = run("push", file, "--product", "demo", "--measured-at", moment)
    assert result.exit_code != 0
    assert plane.asked == []


def test_a_list_is_narrowed_and_goes_on(plane: ControlPlane) -> None:
    result = run("list", "--product", "demo", "--route", "full", "--kind", "frozen_suite")
    assert dict(plane.asked[0].url.params) == {"route": "full", "kind": "frozen_suite"}
    assert "in force" in result.output
    assert "--cursor abc" in result.output


def test_an_empty_list_says_so(plane: ControlPlane) -> None:
    plane.answer = {"results": [], "next_cursor": ""}
    assert "No evidence like that." in run("list", "--product", "demo").output
