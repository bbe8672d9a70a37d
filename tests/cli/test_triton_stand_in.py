"""The stand-in answers, waits and lets go as the real server does, and says that it is none."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchid.cli.demo.backends import BackendError, StandIn, TimedOutError
from orchid.cli.modelserver import application
from orchid.cli.triton.catalogue import Pool, ToyModel
from orchid.cli.triton.state import ready

REPOSITORY = Path(__file__).parents[2]
Serve = Callable[[Any], AbstractContextManager[str]]
MODELS = {name: ToyModel(name, 0, 0, per_output_token_us=1000) for name in ("full", "compact")}


@pytest.fixture
def url(serve: Serve) -> Iterator[str]:
    """Two slots for both models together, one instance of compact."""
    with serve(application(Pool("two", 2, {"full": 4, "compact": 1}, MODELS))) as url:
        yield url


@pytest.fixture
def address(url: str) -> str:
    return url.removeprefix("http://")


async def timed(address: str, *models: str) -> float:
    """Seconds until one request of 100 ms to each of the models is answered."""
    client = StandIn(address)
    began = time.monotonic()
    await asyncio.gather(*(client.infer(model, "x", (1, 100, 100), 30) for model in models))
    took = time.monotonic() - began
    await client.close()
    return took


async def test_slots_are_shared_by_all_models(address: str) -> None:
    assert await timed(address, "full", "full", "full", "compact") >= 0.2


async def test_a_model_runs_no_more_than_its_instances(address: str) -> None:
    assert await timed(address, "compact", "compact") >= 0.2


async def test_the_answer_is_cut_at_the_cap(address: str) -> None:
    client = StandIn(address)
    assert await client.infer("full", "capped", (1, 30, 20), 30) == 20
    await client.close()


async def test_a_client_that_leaves_gives_its_slot_back(address: str) -> None:
    client = StandIn(address)
    for _ in range(2):
        with pytest.raises(TimedOutError):
            await client.infer("full", "late", (1, 600_000, 600_000), 0.2)
    assert await client.infer("full", "after", (1, 1, 1), 30) == 1
    await client.close()


async def test_an_unknown_model_is_an_error(address: str) -> None:
    client = StandIn(address)
    with pytest.raises(BackendError, match="404"):
        await client.infer("premium", "x", (1, 1, 1), 5)
    await client.close()


def test_an_infer_without_lengths_says_what_is_expected(url: str) -> None:
    answer = httpx.post(f"{url}/v2/models/full/infer", json={"inputs": []})
    assert answer.status_code == 400
    assert "INPUT_TOKENS" in answer.json()["error"]


def test_it_takes_tritons_place_on_request_and_says_so(tmp_path: Path) -> None:
    environment = os.environ | {"ORCHID_VAR": str(tmp_path), "DEMO_TRITON": "0"}
    words = [
        sys.executable,
        "-m",
        "orchid",
        "triton",
        "run",
        "--pool",
        "four",
        "--root",
        str(REPOSITORY),
    ]
    process = subprocess.Popen(
        words, env=environment, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("stand-in")
    (state,) = ready(tmp_path)
    assert (state.kind, state.slots, state.grpc, state.trace_dir) == ("stand-in", 4, None, None)
    assert httpx.get(f"http://{state.http}/v2/health/ready").status_code == 200
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()
    assert ready(tmp_path) == []
