"""The product under check: every process of its own, in a fresh folder and on free ports."""

import contextlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from orchid.cli.embedded.logs import last_lines
from orchid.cli.embedded.machine import CHECKOUT
from orchid.cli.embedded.process import Child, Process, end, spawn

# What another installation is addressed by. The check must never play in one.
FOREIGN = ("DATABASE_URL", "DATABASE_OWNER_URL", "BROKER_URL", "ORCHID_TOKEN", "ORCHID_PRODUCT")
STOP_WITHIN_S = 60.0
LOOK_EVERY_S = 0.25
Found = TypeVar("Found")


class StepError(Exception):
    """A step of the story did not come out as it should; the message says what was found."""


@dataclass
class Site:
    """A running `orchid up --demo`."""

    var: Path
    url: str
    edge_url: str
    log: Path
    process: Process

    def secret(self, name: str) -> str:
        return (self.var / "secrets" / name).read_text().strip()

    def password(self, name: str) -> str:
        return str(json.loads(self.secret("demo-passwords.json"))[name])

    def until(self, what: str, seconds: float, look: Callable[[], Found | None]) -> Found:
        """Look until there is an answer; StepError after `seconds`, or when the product ended."""
        deadline = time.monotonic() + seconds
        while (found := look()) is None:
            if self.process.poll() is not None:
                raise StepError(
                    f"the product ended. The end of {self.log}:\n{last_lines(self.log)}"
                )
            if time.monotonic() > deadline:
                raise StepError(f"{what} did not come within {seconds:.0f} s")
            time.sleep(LOOK_EVERY_S)
        return found


@contextlib.contextmanager
def started(var: Path) -> Iterator[Site]:
    """The demo, started on nothing stored and stopped whatever happens; it dies with us."""
    port, edge_port = free_ports(2)
    shutil.rmtree(var, ignore_errors=True)
    for name in FOREIGN:
        os.environ.pop(name, None)
    up = [sys.executable, "-m", "orchid", "up", "--demo", "--var", str(var)]
    child = Child(
        name="orchid-up",
        argv=[*up, "--port", str(port), "--edge-port", str(edge_port)],
        env={"ORCHID_DEMO_CI": "0", "PYTHONUNBUFFERED": "1"},
        cwd=CHECKOUT,
        stop_within_s=STOP_WITHIN_S,
    )
    log = var / "log" / "up.log"
    process = spawn(child, log)
    try:
        at = "http://127.0.0.1"
        yield Site(var, f"{at}:{port}", f"{at}:{edge_port}", log, process)
    finally:
        end(process, child)


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on now, all different."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]
