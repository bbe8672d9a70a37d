"""Complete trace files go to the control plane, each once, and are kept until it has them."""

import json
from pathlib import Path

import httpx
import pytest

from orchid.cli.demo.tracefiles import UploadError, upload
from orchid.cli.triton.state import ServerState


@pytest.fixture
def run(tmp_path: Path) -> ServerState:
    return ServerState(
        pool="six",
        kind="triton",
        server_version="2.51.0",
        run_id="six-run-1",
        pid=1,
        slots=6,
        models=["full"],
        http="127.0.0.1:1",
        trace_dir=str(tmp_path),
        anchor={"monotonic_ns": 5, "unix_ns": 7},
    )


class Inbox:
    """Takes batches, or answers with `status`."""

    def __init__(self) -> None:
        self.status = 202
        self.taken: list[httpx.Request] = []

    def client(self) -> httpx.AsyncClient:
        def answer(request: httpx.Request) -> httpx.Response:
            self.taken.append(request)
            return httpx.Response(self.status)

        return httpx.AsyncClient(base_url="http://inbox", transport=httpx.MockTransport(answer))


async def test_complete_files_go_in_the_order_they_were_written(
    run: ServerState, tmp_path: Path
) -> None:
    for number in (10, 2):
        (tmp_path / f"trace.json.{number}").write_text(json.dumps([{"id": number}]))
    inbox = Inbox()
    async with inbox.client() as api:
        assert await upload(api, run) == 2
        assert await upload(api, run) == 0
    assert [r.headers["Batch-Id"] for r in inbox.taken] == [
        "six-run-1-trace.json.2",
        "six-run-1-trace.json.10",
    ]


async def test_a_file_goes_with_its_run_and_both_clocks(run: ServerState, tmp_path: Path) -> None:
    (tmp_path / "trace.json.0").write_text("[]")
    inbox = Inbox()
    async with inbox.client() as api:
        await upload(api, run)
    assert dict(inbox.taken[0].url.params) == {
        "kind": "triton_trace",
        "source": "triton-six",
        "server_run": "six-run-1",
        "engine_kind": "triton",
        "anchor_monotonic_ns": "5",
        "anchor_unix_ns": "7",
    }


async def test_a_file_still_being_written_waits(run: ServerState, tmp_path: Path) -> None:
    (tmp_path / "trace.json.0").write_text('[{"id": 1},')
    inbox = Inbox()
    async with inbox.client() as api:
        assert await upload(api, run) == 0
    assert not inbox.taken


async def test_what_is_not_taken_stays_for_the_next_time(run: ServerState, tmp_path: Path) -> None:
    file = tmp_path / "trace.json.0"
    file.write_text("[]")
    inbox = Inbox()
    inbox.status = 503
    async with inbox.client() as api:
        with pytest.raises(UploadError, match="503"):
            await upload(api, run)
        assert file.exists()
        inbox.status = 200  # known already: taken before an answer that we never saw
        assert await upload(api, run) == 1
    assert not file.exists()
