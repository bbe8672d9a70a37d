"""Starts children in order, restarts one that dies alone, and stops all in reverse.

One thread and no event loop: the kernel ties a child's life to the *thread* that forked it, and
looking at each child five times a second costs nothing.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from orchid.cli.embedded.logs import Follower, last_lines, rotate
from orchid.cli.embedded.process import Child, Process, ask, end, finish, spawn, sweep
from orchid.cli.stop import Stop

LOOK_EVERY_S = 0.2
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
STEADY_AFTER_S = 60.0  # a child that ran this long has its pauses forgotten


class StartError(Exception):
    """A child did not come up; the message carries the end of its log."""


class StopAsked(Exception):  # noqa: N818 (not an error)
    """The operator asked to stop while something was still starting."""


@dataclass
class Running:
    """One child with its process of the moment."""

    child: Child
    log: Path
    process: Process
    started_at: float
    step: int  # children that were started side by side have the same
    restarts: int = 0
    pause_s: float = FIRST_PAUSE_S
    again_at: float | None = None  # set while it is dead and waiting for its next start


@dataclass
class Supervisor:
    """`say` prints one line for people; `stop` is set by a signal, from any place."""

    var: Path
    say: Callable[[str], None]
    stop: Stop
    url: str = ""
    follower: Follower | None = None
    running: list[Running] = field(default_factory=list)

    def start(self, *children: Child) -> None:
        """Start children side by side, then wait for each. Raises StartError, or StopAsked."""
        self.wait_for(self.begin(*children))

    def begin(self, *children: Child) -> list[Running]:
        """Start children side by side and go on; `wait_for` them before they are needed."""
        step = self.running[-1].step + 1 if self.running else 0
        started = [self._begin(child, step) for child in children]
        self.write_status()
        return started

    def wait_for(self, started: list[Running]) -> None:
        """Wait until each answers. Raises StartError, or StopAsked."""
        for one in started:
            self._until_ready(one)
            one.step = self.running[-1].step  # it stops together with what it came up beside

    def run_once(self, child: Child) -> None:
        """Run a child to its end, such as a migration. Raises StartError when it fails."""
        log = self.log_of(child)
        rotate(log)
        began = time.monotonic()
        process = self._spawn(child, log)
        try:
            while process.poll() is None:
                self._pause()
        finally:
            end(process, child)
        if process.returncode:
            raise StartError(failure(child, log, f"failed with exit code {process.returncode}"))
        self.say(f"{child.name} done ({time.monotonic() - began:.1f} s)")

    def watch(self) -> None:
        """Look after the children until asked to stop."""
        while not self.stop.is_set():
            for one in self.running:
                self._look_after(one)
            try:
                self._pause()
            except StopAsked:
                return

    def stop_all(self) -> None:
        """Stop in reverse order, together what began together: nothing loses its footing."""
        while self.running:
            newest = [one for one in self.running if one.step == self.running[-1].step]
            alive = [one for one in reversed(newest) if one.process.poll() is None]
            for one in alive:
                self.say(f"stopping {one.child.name}")
                ask(one.process, one.child)
            for one in newest:
                finish(one.process, one.child)
                self.running.remove(one)
            self.write_status()
        self.status_file.unlink(missing_ok=True)

    @property
    def status_file(self) -> Path:
        return self.var / "run" / "up.json"

    def write_status(self) -> None:
        """Who runs, for `orchid status` and whoever looks for a port. Replaced as a whole."""
        children = [
            {
                "name": one.child.name,
                "pid": one.process.pid,
                "port": one.child.port,
                "restarts": one.restarts,
                "alive": one.process.poll() is None,
            }
            for one in self.running
        ]
        status = {"pid": os.getpid(), "url": self.url, "written_at": now(), "children": children}
        fresh = self.status_file.with_suffix(".new")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(status, indent=2) + "\n")
        fresh.replace(self.status_file)

    def log_of(self, child: Child) -> Path:
        return self.var / "log" / f"{child.name}.log"

    def _begin(self, child: Child, step: int) -> Running:
        log = self.log_of(child)
        rotate(log)
        one = Running(child, log, self._spawn(child, log), time.monotonic(), step)
        self.running.append(one)
        return one

    def _spawn(self, child: Child, log: Path) -> Process:
        if child.prepare:
            child.prepare()
        if self.follower:
            self.follower.follow(child.name, log)
        return spawn(child, log)

    def _until_ready(self, one: Running) -> None:
        child = one.child
        while child.ready and not child.ready():
            if (code := one.process.poll()) is not None:
                raise StartError(failure(child, one.log, f"ended with exit code {code}"))
            if time.monotonic() - one.started_at > child.ready_within_s:
                waited = f"was not ready within {child.ready_within_s:.0f} s"
                raise StartError(failure(child, one.log, waited))
            self._pause(0.05)
        self.say(f"{child.name} is ready ({time.monotonic() - one.started_at:.1f} s)")

    def _pause(self, seconds: float = LOOK_EVERY_S) -> None:
        if self.follower:
            self.follower.print_new()
        if self.stop.wait(seconds):
            raise StopAsked

    def _look_after(self, one: Running) -> None:
        now_s, code = time.monotonic(), one.process.poll()
        if code == 0 and one.child.once:
            return
        if one.again_at is None and code is not None:
            sweep(one.process)  # what it left behind must not hold its port or its queue
            if now_s - one.started_at > STEADY_AFTER_S:
                one.pause_s = FIRST_PAUSE_S
            one.again_at = now_s + one.pause_s
            self.say(f"{one.child.name} ended ({code}); again in {one.pause_s:g} s, see {one.log}")
            one.pause_s = min(one.pause_s * 2, LONGEST_PAUSE_S)
            self.write_status()
        elif one.again_at is not None and now_s >= one.again_at:
            one.process = self._spawn(one.child, one.log)
            one.started_at, one.again_at, one.restarts = now_s, None, one.restarts + 1
            self.write_status()


def failure(child: Child, log: Path, what: str) -> str:
    return f"{child.name} {what}. The end of {log}:\n{last_lines(log)}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
