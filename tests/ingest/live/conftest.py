"""Two real servers, once for this folder: one writes trace files, the other sends spans."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchid.cli.triton.environment import TritonUnavailableError, built
from orchid.cli.triton.state import ServerState, state_path

REPOSITORY = Path(__file__).parents[3]
POOL = "everything"


def until(condition: Callable[[], bool], within_s: float, what: str) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} within {within_s:g} s"
        time.sleep(0.05)


@contextlib.contextmanager
def running(var: Path, *options: str, token: str = "") -> Iterator[ServerState]:
    """A ready server of every kind of model, stopped after the block."""
    try:
        built(REPOSITORY / ".triton")
    except TritonUnavailableError as reason:
        pytest.skip(str(reason))
    state = state_path(var, POOL)
    words = [sys.executable, "-m", "orchid", "triton", "run", "--pool", POOL, *options]
    told = {"ORCHID_VAR": str(var), "ORCHID_TOKEN": token, "DEMO_TRITON": "1"}
    process = subprocess.Popen(words, env=os.environ | told, cwd=REPOSITORY)
    try:
        until(lambda: state.is_file() or process.poll() is not None, 120, "it is ready")
        assert process.poll() is None
        yield ServerState(**json.loads(state.read_text()))
    finally:
        process.terminate()
        process.wait(60)
