"""`orchid rollback`: one command, and a rehearsal whose exit code is its verdict."""

import json
import sys
from typing import Any

import httpx
import pytest

from orchid.cli import main as command_line
from orchid.cli.client import Api

AT = "/api/v1/products/demo"
ANSWER = {
    "edge": "edge-1",
    "state": "ready",
    "reason": "",
    "after_ms": 41.0,
    "fetch_ms": 3.0,
    "prepare_ms": 9.0,
    "replicas": 2,
}


def drill(state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "state": state,
        "took_ms": 41.0 if state == "passed" else None,
        "digest": "sha256:" + "a" * 64,
        "pool": "six",
        "silent": [],
        "answers": [ANSWER],
        **more,
    }


class Plane:
    """A control plane that answers as told, and keeps what it was asked."""

    def __init__(self, ends: str) -> None:
        self.ends = ends
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            assert request.url.path == "/api/v1/drills/7"
            return httpx.Response(200, json=drill(self.ends))
        self.asked.append(json.loads(request.content))
        if request.url.path == f"{AT}/drills":
            return httpx.Response(201, json=drill("running", answers=[]))
        assert request.url.path == f"{AT}/rollbacks"
        made = {"number": 9, "kind": "rollback", "incumbent_digest": "sha256:" + "b" * 64}
        return httpx.Response(201, json=made)


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHID_TOKEN", "a token")


def called(monkeypatch: pytest.MonkeyPatch, plane: Plane, *arguments: str) -> int:
    transport = httpx.MockTransport(plane)
    monkeypatch.setattr("orchid.cli.rollback.Api", lambda: Api(transport, pause=lambda _: None))
    monkeypatch.setattr(sys, "argv", ["orchid", "rollback", "--product", "demo", *arguments])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(("ends", "code"), [("passed", 0), ("failed", 1), ("incomplete", 2)])
def test_a_drill_waits_for_its_answers_and_ends_as_they_say(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ends: str,
    code: int,
) -> None:
    assert called(monkeypatch, Plane(ends), "--drill") == code
    said = capsys.readouterr().out
    assert f"Drill 7 {ends}" in said
    assert "edge-1" in said
    assert ("41 ms to the last of 1 edges" in said) == (ends == "passed")


def test_one_command_rolls_back_and_needs_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plane = Plane("passed")
    assert called(monkeypatch, plane, "--reason", "users complain", "--to", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["number"] == 9
    assert called(monkeypatch, plane) == 3
    assert called(monkeypatch, plane, "--drill", "--to", "3") == 3
    assert plane.asked == [{"reason": "users complain", "to": 3}]
    assert "needs a --reason" in capsys.readouterr().err
