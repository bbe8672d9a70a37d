"""A watched folder is delivered as a server writes it, over its restarts and the watcher's own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchid.cli.client import Api
from orchid.cli.ingest.memory import Memory
from orchid.cli.ingest.origin import Origin
from orchid.cli.ingest.watch import Watcher
from orchid.cli.stop import Stop
from orchid.formats import triton_trace

ROOT = Path(__file__).parents[2]


class Inbox:
    """Takes deliveries by run, and can be away."""

    def __init__(self) -> None:
        self.away = False
        self.bodies: list[tuple[str, str, bytes]] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.away:
            raise httpx.ConnectError("away")
        about: dict[str, Any] = {"kind": "triton_trace", "reason": "", "rejected": []}
        if request.method == "GET":
            name = request.url.path.rsplit("/", 1)[-1]
            counts = {"inserted": 1, "partial": 0}
            return httpx.Response(
                200, json={**about, "batch_id": name, "status": "done", "counts": counts}
            )
        name = request.headers["Batch-Id"]
        self.bodies.append((request.url.params["server_run"], name, request.content))
        received = {**about, "batch_id": name, "status": "received", "counts": {}}
        return httpx.Response(202, json=received)

    def executions(self) -> dict[str, set[int]]:
        """Numbers by run, however often they were delivered."""
        found: dict[str, set[int]] = {}
        for run, _, body in self.bodies:
            numbers = {trace.id for trace in triton_trace.read(body).records}
            found.setdefault(run, set()).update(numbers)
        return found


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def server(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "six"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def watcher(
    inbox: Inbox, server: Path, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_example")

    def start() -> Watcher:
        stop = Stop()
        api = Api(httpx.MockTransport(inbox.answer), pause=lambda _: None)
        memory = Memory.of(server.parent, "here", tmp_path / "note.json")
        return Watcher(api, server.parent, Origin(product="p"), memory, stop, said.append)

    return start


def objects(*numbers: int, start: int = 1000) -> str:
    """Whole objects of these executions, as they stand in the array."""
    lines = []
    for number in numbers:
        stamps = [{"name": "REQUEST_START", "ns": start + number}]
        lines.append(json.dumps({"id": number, "model_name": "m", "model_version": 1}))
        lines.append(json.dumps({"id": number, "timestamps": stamps}))
    return ",".join(lines)


def array(*numbers: int, start: int = 1000) -> str:
    return f"[{objects(*numbers, start=start)}]"


def test_finished_files_go_once_under_a_run_of_their_folder(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    for index in range(3):
        (server / f"trace.json.{index}").write_text(array(2 * index + 1, 2 * index + 2))
    follower = watcher()
    follower.look()
    follower.look()
    assert inbox.executions() == {"six@1001": {1, 2, 3, 4, 5, 6}}
    assert len(inbox.bodies) == 3
    (server / "trace.json.3").write_text(array(7))
    follower.look()
    assert inbox.executions() == {"six@1001": {1, 2, 3, 4, 5, 6, 7}}


def test_a_growing_file_goes_on_from_its_last_whole_object(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    whole = array(1, 2, 3)
    follower = watcher()
    for end in (30, 150, 151, 290, len(whole)):
        (server / "trace.json").write_text(whole[:end])
        follower.look()
    assert inbox.executions() == {"six@1001": {1, 2, 3}}
    assert not any(triton_trace.read(body).partial for _, _, body in inbox.bodies)


def test_a_file_written_over_is_another_run_and_its_followers_belong_to_it(
    watcher: Any, inbox: Inbox, server: Path, said: list[str]
) -> None:
    follower = watcher()
    for index in range(3):
        (server / f"trace.json.{index}").write_text(array(index + 1))
    follower.look()
    for index in range(2):
        (server / f"trace.json.{index}").write_text(array(index + 1, start=9000))
    follower.look()
    (server / "trace.json.2").write_text(array(3, start=9000))
    follower.look()
    assert inbox.executions() == {"six@1001": {1, 2, 3}, "six@9001": {1, 2, 3}}
    assert any("six@9001: the server began anew" in line for line in said)


def test_a_shorter_file_with_the_same_beginning_is_another_run(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    follower = watcher()
    (server / "trace.json").write_text(array(*range(1, 9)))
    follower.look()
    (server / "trace.json").write_text("[" + objects(1))
    follower.look()
    assert len(inbox.bodies) == 2


def test_a_watcher_that_starts_again_sends_nothing_again(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    (server / "trace.json.0").write_text(array(1, 2))
    watcher().look()
    (server / "trace.json.1").write_text(array(3))
    watcher().look()
    assert inbox.executions() == {"six@1001": {1, 2, 3}}
    assert len(inbox.bodies) == 2


def test_a_lost_note_costs_work_and_names_every_run_as_before(
    watcher: Any, inbox: Inbox, server: Path, tmp_path: Path
) -> None:
    for index in range(3):
        (server / f"trace.json.{index}").write_text(array(index + 1, start=9000))
    watcher().look()
    before = inbox.executions()
    ids = {name for _, name, _ in inbox.bodies}
    for junk in ("", "{}", '{"files": {"a": 1}, "runs": {}}'):
        (tmp_path / "note.json").write_text(junk)
        watcher().look()
    assert inbox.executions() == before
    assert {name for _, name, _ in inbox.bodies} == ids


def test_files_that_an_earlier_run_left_are_told_apart_without_a_note(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    (server / "trace.json.1").write_text(array(5))
    os.utime(server / "trace.json.1", (1000, 1000))
    (server / "trace.json.0").write_text(array(1, start=9000))
    watcher().look()
    assert inbox.executions() == {"six@9001": {1}, "six@1005": {5}}


def test_an_inbox_that_is_away_is_told_once_and_tried_again(
    watcher: Any, inbox: Inbox, server: Path, said: list[str]
) -> None:
    (server / "trace.json.0").write_text(array(1))
    inbox.away = True
    follower = watcher()
    follower.look()
    follower.look()
    assert follower.failed
    assert sum("No control plane answers" in line for line in said) == 1
    inbox.away = False
    follower.look()
    assert not follower.failed
    assert inbox.executions() == {"six@1001": {1}}


def test_it_tells_what_became_of_each_delivery(watcher: Any, server: Path, said: list[str]) -> None:
    (server / "trace.json.0").write_text(array(1))
    follower = watcher()
    follower.look()
    follower.ask()
    assert any(line.endswith("inserted 1") for line in said)
    assert follower.open == []


def test_the_watched_folder_itself_may_be_the_run_and_other_files_are_left_alone(
    watcher: Any, inbox: Inbox, server: Path
) -> None:
    (server.parent / "trace.json.0").write_text(array(1))
    (server / "notes.txt").write_text("not a trace")
    watcher().look()
    assert inbox.executions() == {"runs@1001": {1}}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(server: Path, tmp_path: Path, how: signal.Signals) -> None:
    away = {"ORCHID_URL": "http://127.0.0.1:9", "ORCHID_TOKEN": "orc_ci_example"}
    command = [sys.executable, "-m", "orchid", "ingest", "watch", str(server), "--every", "0.1s"]
    process = subprocess.Popen(
        [*command, "--state", str(tmp_path / "note.json")],
        cwd=ROOT,
        env={**os.environ, **away},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "Watching" in process.stderr.readline()
    process.send_signal(how)
    try:
        _, rest = process.communicate(timeout=120)
    finally:
        process.kill()
    assert "Stopped. 0 parts delivered" in rest
    assert process.returncode == 0
