"""What tests of commands share: an ASGI application behind a real port, the demo's catalogue."""

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from orchid.cli import main as command_line

EXAMPLES = Path(__file__).parents[2] / "examples"
Serve = Callable[[Any], contextlib.AbstractContextManager[str]]
#: Exit code, output and error output of a command.
Run = Callable[..., tuple[int, str, str]]


@contextlib.contextmanager
def serving(application: Any) -> Iterator[str]:
    """The base address of the application for as long as the block runs."""
    config = uvicorn.Config(
        application, log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def serve() -> Serve:
    return serving


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `orchid policy ...`; returns its exit code, output and error output."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["orchid", "policy", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return run
