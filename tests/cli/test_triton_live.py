"""A real server shares its slots, takes them back from who left, and leaves nothing behind."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchid.cli.demo.backends import TimedOutError, Triton
from orchid.cli.triton.environment import TritonUnavailableError, built
from orchid.cli.triton.state import ServerState, ready, state_path
from orchid.formats import triton_trace

pytestmark = pytest.mark.triton

REPOSITORY = Path(__file__).parents[2]
CATALOGUE = """
[models.slow]
base_ms = 200
per_input_token_us = 0
per_output_token_us = 1000
[models.other]
base_ms = 200
per_input_token_us = 0
per_output_token_us = 1000
[pools.two]
slots = 2
instances = { slow = 2, other = 2 }
[pools.one]
slots = 1
instances = { slow = 1 }
"""


def until(condition: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with pools of its own, on the Triton that `make triton` built."""
    try:
        home = built(REPOSITORY / ".triton").home
    except TritonUnavailableError as reason:
        pytest.skip(str(reason))
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(REPOSITORY / "examples/triton", root / "examples/triton")
    (root / "examples/triton/models.toml").write_text(CATALOGUE)
    (root / ".triton").symlink_to(home)
    return root


@contextlib.contextmanager
def running(root: Path, pool: str) -> Iterator[tuple[subprocess.Popen[bytes], ServerState]]:
    """A ready server of the pool, stopped after the block unless the block did."""
    state_path(root / "var", pool).unlink(missing_ok=True)
    words = [sys.executable, "-m", "orchid", "triton", "run", "--pool", pool, "--root", str(root)]
    environment = os.environ | {"ORCHID_VAR": str(root / "var"), "DEMO_TRITON": "1"}
    process = subprocess.Popen(words, env=environment, cwd=REPOSITORY)
    try:
        until(lambda: process.poll() is not None or _is_ready(root, pool), 90)
        assert process.poll() is None
        state = json.loads(state_path(root / "var", pool).read_text(encoding="utf-8"))
        yield process, ServerState(**state)
    finally:
        process.terminate()
        process.wait(60)


def _is_ready(root: Path, pool: str) -> bool:
    return any(state.pool == pool for state in ready(root / "var"))


@pytest.fixture(scope="module")
def two(checkout: Path) -> Iterator[ServerState]:
    with running(checkout, "two") as (_, state):
        yield state


async def flush(state: ServerState) -> None:
    client = Triton(state.grpc or "")
    await client.flush_traces()
    await client.close()


def computed(state: ServerState, prefix: str) -> list[tuple[int, int]]:
    """When the requests whose id begins with `prefix` ran: begin and end in ns."""
    spans = []
    for path in Path(state.trace_dir or "").glob("trace.json.*"):
        for trace in triton_trace.read(path.read_bytes()).records:
            at = dict(trace.events)
            if (trace.request_id or "").startswith(prefix) and "COMPUTE_END" in at:
                spans.append((at["COMPUTE_START"], at["COMPUTE_END"]))
    return spans


async def test_slots_are_shared_by_all_models_of_a_server(two: ServerState) -> None:
    client = Triton(two.grpc or "")
    calls = [
        client.infer(model, f"shared-{model}-{n}", (1, 1, 1), 30)
        for n in range(3)
        for model in ("slow", "other")
    ]
    assert await asyncio.gather(*calls) == [1] * 6
    await client.close()
    await flush(two)
    spans = computed(two, "shared-")
    changes = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    assert len(spans) == 6
    assert most == 2


async def test_the_answer_is_cut_at_the_cap(two: ServerState) -> None:
    client = Triton(two.grpc or "")
    assert await client.infer("slow", "capped", (1, 30, 20), 30) == 20
    await client.close()


async def test_a_request_out_of_time_is_cancelled_and_gives_its_slot_back(
    two: ServerState,
) -> None:
    client = Triton(two.grpc or "")
    with pytest.raises(TimedOutError):
        await client.infer("slow", "late-1", (1, 60_000, 60_000), 0.5)
    assert await client.infer("slow", "after", (1, 1, 1), 30) == 1
    await client.close()
    await flush(two)
    ((begin, end),) = computed(two, "late-")
    assert (end - begin) / 1e9 < 30


async def ask_once(state: ServerState, request_id: str) -> None:
    client = Triton(state.grpc or "")
    await client.infer("slow", request_id, (1, 1, 1), 30)
    await client.close()


def test_a_stop_writes_the_last_traces_and_takes_the_state_away(checkout: Path) -> None:
    with running(checkout, "one") as (process, state):
        asyncio.run(ask_once(state, "last"))
        process.terminate()
        assert process.wait(60) == 0
    assert not _is_ready(checkout, "one")
    written = triton_trace.read((Path(state.trace_dir or "") / "trace.json.0").read_bytes())
    assert [trace.request_id for trace in written.records] == ["last"]


def test_a_server_does_not_outlive_whoever_started_it(checkout: Path) -> None:
    with running(checkout, "one") as (process, state):
        server = Path(f"/proc/{state.pid}")
        assert server.exists()
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        until(lambda: not server.exists(), 60)
