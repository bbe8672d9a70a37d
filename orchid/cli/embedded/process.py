"""One child process: how it is started so that it cannot outlive us, and how it is ended."""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

PR_SET_PDEATHSIG = 1

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Child:
    """What to run. `ready` is asked until it says yes; without one, started counts as ready."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cwd: Path | None = None
    once: bool = False  # it ends by itself, and an exit code of 0 is its proper end
    prepare: Callable[[], object] | None = None  # before every start, the restarts too
    ready: Callable[[], bool] | None = None
    ready_within_s: float = 30.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_within_s: float = 15.0
    user: tuple[int, int] | None = None  # uid, gid; needs root
    port: int | None = None


def die_with(parent: int, with_signal: signal.Signals) -> Callable[[], None]:
    """Run in the child before exec: the kernel sends it `with_signal` when `parent` ends.

    The kernel means the *thread* that forked, so children are started from the main thread only.
    """
    # Loaded here: after the fork nothing but plain calls is safe.
    libc = ctypes.CDLL(None, use_errno=True)

    def bind() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
        if os.getppid() != parent:  # it ended between fork and prctl: the signal will never come
            os.kill(os.getpid(), signal.SIGKILL)

    return bind


def spawn(child: Child, log: Path) -> Process:
    """Start the child with its output in `log`, in a session of its own: Ctrl-C reaches only us."""
    log.parent.mkdir(parents=True, exist_ok=True)
    uid, gid = child.user or (None, None)
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603  (argv is ours, no shell)
            list(child.argv),
            env={**os.environ, **child.env},
            cwd=child.cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with(os.getpid(), child.stop_signal),
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
        )


def ask(process: Process, child: Child) -> None:
    """Ask the child to end, without waiting for it."""
    if process.poll() is None:
        process.send_signal(child.stop_signal)


def end(process: Process, child: Child) -> int:
    """Ask and wait for the end. Returns the exit code."""
    ask(process, child)
    return finish(process, child)


def finish(process: Process, child: Child) -> int:
    """Wait for a child that was asked, insist, and sweep what it left in its session."""
    try:
        process.wait(child.stop_within_s)
    except subprocess.TimeoutExpired:
        process.kill()
    sweep(process)
    return process.wait()


def sweep(process: Process) -> None:
    """Kill whatever is left of the child's process group (pool workers of one that was killed)."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
