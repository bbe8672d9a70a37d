"""The real parts of the product as processes that may be killed: PostgreSQL, web, worker, beat."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.ports import free_port
from orchid.cli.embedded import database
from orchid.cli.embedded.logs import last_lines
from orchid.cli.embedded.machine import Machine
from orchid.cli.embedded.process import Child, Process, end, spawn, sweep


class RigError(Exception):
    """A part does not come up; the text has the end of its log."""


@dataclass
class Part:
    """One process with what it is started from."""

    child: Child
    log: Path
    process: Process
    restarts: int = 0


@dataclass
class Rig:
    """Parts by name. All starts come from the thread that made the rig: they die with it."""

    machine: Machine
    settings: dict[str, str]
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.machine.var / "log"

    def start(self) -> None:
        self._begin(self.machine.cluster.child())
        self.until_ready()
        database.provision(self.machine.cluster)
        self._run(self.machine.manage("migrate", "migrate", "--no-input"))

    def start_product(self) -> None:
        for child in (self.machine.web(), self.machine.worker(), self.machine.beat()):
            self._begin(replace(child, env={**child.env, **self.settings}))
        self.until_ready()

    def start_edge(self, product: str, token: str) -> None:
        """One edge that follows by its own credential; it is a part as the others are."""
        secret = self.machine.var / "secrets" / "edge-token"
        secret.parent.mkdir(exist_ok=True)
        secret.write_text(token)
        self._begin(self.machine.edge(product))
        self.until_ready()

    def let_in(self) -> None:
        """This process reads and writes the machine's database with the product's own models."""
        os.environ |= {**self.machine.env, "DJANGO_SETTINGS_MODULE": "controlplane.settings"}
        import django

        django.setup()

    def kill(self, name: str, pid: int | None = None) -> None:
        """SIGKILL to a part or to one of its processes; what dies with it is started again.

        A process inside a part, such as a server's connection, may have ended since it was picked.
        """
        with suppress(ProcessLookupError):
            os.kill(pid or self.parts[name].process.pid, signal.SIGKILL)

    def members(self, name: str) -> list[int]:
        """The processes that a part has started itself."""
        pid = self.parts[name].process.pid
        path = Path(f"/proc/{pid}/task/{pid}/children")
        return [int(child) for child in path.read_text().split()]

    def revive(self) -> list[str]:
        """Start again what has ended, as the supervisor of `orchid up` does; their names."""
        ended = [name for name, part in self.parts.items() if part.process.poll() is not None]
        for name in ended:
            part = self.parts[name]
            sweep(part.process)
            if part.child.prepare:
                part.child.prepare()
            part.restarts += 1
            # A worker is ready by what its own log says, so that each start has a log of its own.
            part.log.rename(part.log.with_suffix(f".{part.restarts}"))
            part.process = spawn(part.child, part.log)
        return ended

    def until_ready(self, within_s: float = 120) -> None:
        """Wait until every part answers, and start again whatever ends meanwhile."""
        deadline = time.monotonic() + within_s
        while waiting := [name for name, part in self.parts.items() if not self._is_up(part)]:
            self.revive()
            if time.monotonic() > deadline:
                logs = "\n".join(last_lines(self.parts[name].log) for name in waiting)
                raise RigError(f"{', '.join(waiting)} not ready in {within_s} s\n{logs}")
            time.sleep(0.05)

    def stop(self) -> None:
        for part in reversed(self.parts.values()):
            end(part.process, part.child)

    def _is_up(self, part: Part) -> bool:
        ready = part.child.ready
        return part.process.poll() is None and (ready is None or ready())

    def _begin(self, child: Child) -> None:
        if child.prepare:
            child.prepare()
        log = self.log / f"{child.name}.log"
        self.parts[child.name] = Part(child, log, spawn(child, log))

    def _run(self, child: Child) -> None:
        log = self.log / f"{child.name}.log"
        if spawn(child, log).wait() != 0:
            raise RigError(last_lines(log))


@contextmanager
def rig(settings: dict[str, str]) -> Iterator[Rig]:
    """A machine in a folder of its own, with a running database; everything ends with the block."""
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "BROKER_URL"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="orchid-faults-") as folder:
        place = Path(folder)
        place.chmod(0o711)  # passable for the user whom PostgreSQL runs as where we are root
        made = Rig(Machine(place, free_port(), free_port(), demo=False), settings)
        try:
            made.start()
            yield made
        finally:
            made.stop()


def until(done: Callable[[], bool], within_s: float) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + within_s
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
