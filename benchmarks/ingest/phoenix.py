"""OTLP spans over HTTP until they are durable, beside arize-phoenix.

Ours answers when the rows are committed, so an answer is the end of the clock. Phoenix answers
before it has rows, so its clock runs until its database holds them. It is measured with PEER=1 and
only where its own environment stands (`.venv-phoenix`, made from requirements-phoenix.in); else the
figure that was seen on two cores is taken, and called declared. On a machine that others load, it
had made no database some minutes after its start: measure it alone.
"""

import http.client
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.ingest.database import database
from benchmarks.ingest.spans import DOCUMENT, TRITON, bodies_of
from benchmarks.line import Against, Line

#: Spans a second of arize-phoenix with SQLite on two cores, until they were rows.
DECLARED = 100
PROGRAM = Path(__file__).parents[2] / ".venv-phoenix/bin/phoenix"
_PATIENCE_S = 300


def run(smoke: bool) -> Iterable[Line]:
    measured = os.environ.get("PEER") == "1"
    peer = _peer(256 if smoke else 1_024) if measured else float(DECLARED)
    name = "arize-phoenix until its rows exist" + ("" if measured else ", declared")
    spans = 1_024 if smoke else 65_536
    with database():
        yield Line(
            "OTLP spans over HTTP, acknowledged after commit",
            _ours(spans),
            "spans/s",
            Against(name, peer),
            ">= 300",
            note=f"one sender, one process, {TRITON} spans a body as Triton sends them",
        )


def _ours(spans: int) -> float:
    token = _token()
    port = _free_port()
    argv = [sys.executable, "-m", "uvicorn", "controlplane.asgi:application", "--no-access-log"]
    with _server([*argv, "--port", str(port)], port, "/healthz", {}):
        began = _send(port, list(bodies_of(spans, TRITON)), token)
        return spans / (time.perf_counter() - began)


def _token() -> str:
    from django.utils import timezone

    from accounts.guard import SYSTEM_ACTOR
    from accounts.models import User
    from accounts.services import issue_credential
    from ingest.services.span_rows import keep_days
    from policies.services import create_product

    create_product(SYSTEM_ACTOR, "orchid-demo", "Demo", document=DOCUMENT.read_bytes())
    keep_days(timezone.now())
    owner = User.objects.create(username="bench")
    _, token = issue_credential(
        SYSTEM_ACTOR, kind="otel", name="otel-1", product_slug="orchid-demo", owner=owner
    )
    return token


def _send(port: int, bodies: Sequence[bytes], token: str = "") -> float:
    """Send them one after another; the moment at which the first went off."""
    headers = {"Content-Type": "application/x-protobuf", "Authorization": f"Bearer {token}"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        began = time.perf_counter()
        for body in bodies:
            connection.request("POST", "/v1/traces", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {text[:200]!r}")
    return began


def _peer(spans: int) -> float:
    with tempfile.TemporaryDirectory(prefix="orchid-bench-") as place:
        port = _free_port()
        settings = {
            "PHOENIX_WORKING_DIR": place,
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(_free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        with _server([str(PROGRAM), "serve"], port, "/healthz", settings):
            began = _send(port, list(bodies_of(spans, TRITON)))
            _until(lambda: _rows(Path(place)) >= spans)
            return spans / (time.perf_counter() - began)


def _rows(place: Path) -> int:
    with closing(sqlite3.connect(place / "phoenix.db", timeout=30)) as database:
        (count,) = database.execute("SELECT count(*) FROM spans").fetchone()
    return int(count)


@contextmanager
def _server(
    argv: Sequence[str], port: int, healthy: str, settings: Mapping[str, str]
) -> Iterator[None]:
    process = subprocess.Popen(  # noqa: S603 - our own programs
        argv, env=os.environ | settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until(lambda: process.poll() is not None or _answers(port, healthy))
        if process.returncode is not None:
            raise RuntimeError(f"{argv[0]} ended with {process.returncode} before it answered")
        yield
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int, path: str) -> bool:
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status < 500
    except OSError:
        return False


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing came within {_PATIENCE_S} s")
        time.sleep(0.05)


def _free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
