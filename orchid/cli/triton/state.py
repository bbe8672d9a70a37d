"""What a running model server tells others: a small state file, its run folder, its clocks."""

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from orchid.cli.clocks import anchor


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class ServerState:
    """What others need to know of a running server: the content of `var/run/triton-<pool>.json`."""

    pool: str
    kind: str  # triton | stand-in
    server_version: str
    run_id: str
    pid: int
    slots: int
    models: list[str]
    http: str  # host:port, as the next two
    grpc: str | None = None  # the stand-in speaks HTTP alone
    metrics: str | None = None
    trace_dir: str | None = None  # where trace.json.N files appear; the stand-in writes none
    anchor: dict[str, int] = field(default_factory=anchor)
    started_at: str = field(default_factory=_now)


def state_path(var: Path, pool: str) -> Path:
    return var / "run" / f"triton-{pool}.json"


def ready(var: Path) -> list[ServerState]:
    """The servers that say they are ready."""
    files = sorted((var / "run").glob("triton-*.json"))
    return [ServerState(**json.loads(path.read_text(encoding="utf-8"))) for path in files]


def runs(var: Path) -> list[ServerState]:
    """Every Triton run whose folder is still there, ended ones too, oldest first."""
    files = (var / "triton").glob("*/*/state.json")
    states = [ServerState(**json.loads(path.read_text(encoding="utf-8"))) for path in files]
    return sorted(states, key=lambda state: state.started_at)


@contextlib.contextmanager
def published(var: Path, state: ServerState) -> Iterator[None]:
    """Say that the server is ready for as long as the block runs; its run folder keeps the note."""
    path = state_path(var, state.pool)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(var / "triton" / state.pool / state.run_id / "state.json", state)
    _write(path, state)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _write(path: Path, state: ServerState) -> None:
    """In one go, so that no reader sees half of it."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(state), indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)


def new_run(var: Path, pool: str) -> tuple[str, Path]:
    """A fresh run id and folder. Trace files are numbered from 0, so runs never share one.

    What a killed run left of its readiness goes: nobody shall take the new one for ready by it.
    """
    state_path(var, pool).unlink(missing_ok=True)
    run_id = f"{pool}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
    folder = var / "triton" / pool / run_id
    folder.mkdir(parents=True)
    return run_id, folder


def free_ports(count: int) -> list[int]:
    """Loopback ports nobody listens on just now, all different."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
