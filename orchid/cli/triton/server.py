"""Run one Triton server for one pool, in a folder of its own, until it is told to stop."""

import http.client
import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchid.cli.embedded.process import Child, end, spawn
from orchid.cli.triton.catalogue import Pool, write_repository
from orchid.cli.triton.environment import Environment, TritonUnavailableError
from orchid.cli.triton.state import ServerState, free_ports, new_run, published

# One file of traces after this many requests: small enough to upload while the run goes on.
TRACES_PER_FILE = 50
READY_WITHIN_S = 90.0
STOP_WITHIN_S = 15.0


@dataclass(frozen=True)
class Ports:
    """The three loopback ports of a server."""

    http: int
    grpc: int
    metrics: int


@dataclass(frozen=True)
class Otlp:
    """Where spans go instead of trace files, and the bearer token that is sent with them."""

    url: str
    token: str = ""

    @property
    def env(self) -> dict[str, str]:
        """The exporter reads its headers from the environment alone."""
        headers = f"authorization=Bearer {self.token}"
        return {"OTEL_EXPORTER_OTLP_HEADERS": headers} if self.token else {}

    @property
    def options(self) -> tuple[str, ...]:
        """Exported every second: by its own default a span comes five seconds late."""
        told = (f"url={self.url}", "resource=service.name=triton", "bsp_schedule_delay=1000")
        return ("mode=opentelemetry", *(f"opentelemetry,{one}" for one in told))


class Server:
    """One tritonserver process, from its start to its end."""

    def __init__(
        self,
        pool: Pool,
        environment: Environment,
        examples: Path,
        var: Path,
        ports: Ports,
        otlp: Otlp | None = None,
    ):
        self.pool, self.ports, self.var = pool, ports, var
        self.run_id, self.folder = new_run(var, pool.name)
        self.asked_to_stop = False
        (self.folder / "trace").mkdir()
        write_repository(pool, examples, self.folder / "models")
        self._child = Child(
            name=f"triton-{pool.name}",
            argv=command(pool, environment, self.folder, ports, otlp),
            env=environment.process_env() | (otlp.env if otlp else {}),
            # The signal that makes it write its last traces, also when it comes because we died.
            stop_signal=signal.SIGTERM,
            stop_within_s=STOP_WITHIN_S,
        )
        self.process = spawn(self._child, self.log)

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def stop(self) -> None:
        """SIGTERM, which makes the server write its last traces."""
        self.asked_to_stop = True
        self.process.terminate()

    def wait_ready(self) -> ServerState:
        """The server's state once it answers ready; TritonUnavailableError when it doesn't."""
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if _get(self.ports.http, "/v2/health/ready") is not None:
                return self._state()
            time.sleep(0.1)
        raise TritonUnavailableError(f"Triton did not get ready. Its log ends:\n{_tail(self.log)}")

    def close(self) -> None:
        """Leave no process behind: ask, wait, and only then insist."""
        end(self.process, self._child)

    def _state(self) -> ServerState:
        about = json.loads(_get(self.ports.http, "/v2") or b"{}")
        return ServerState(
            pool=self.pool.name,
            kind="triton",
            server_version=about.get("version", "unknown"),
            run_id=self.run_id,
            pid=self.process.pid,
            slots=self.pool.slots,
            models=sorted([*self.pool.models, *self.pool.composites]),
            http=f"127.0.0.1:{self.ports.http}",
            grpc=f"127.0.0.1:{self.ports.grpc}",
            metrics=f"127.0.0.1:{self.ports.metrics}",
            trace_dir=str(self.folder / "trace"),
        )


def serve(server: Server, ready: Callable[[ServerState], None]) -> int:
    """Run until SIGTERM or SIGINT; returns the exit code, 0 after a stop that was asked for."""
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: server.stop())
    try:
        state = server.wait_ready()
        with published(server.var, state):
            ready(state)
            code = server.process.wait()
    except TritonUnavailableError:
        if not server.asked_to_stop:
            raise
        return 0
    finally:
        server.close()
    return 0 if server.asked_to_stop else code or 1


def default_ports() -> Ports:
    return Ports(*free_ports(3))


def command(
    pool: Pool, environment: Environment, folder: Path, ports: Ports, otlp: Otlp | None = None
) -> list[str]:
    """tritonserver's command line, bound to loopback: its own default is every interface."""
    shared_memory = ("shm-default-byte-size=1048576", "shm-growth-byte-size=1048576")
    files = (
        "mode=triton",
        f"triton,file={folder / 'trace/trace.json'}",
        f"triton,log-frequency={TRACES_PER_FILE}",
    )
    trace = (*(otlp.options if otlp else files), "rate=1", "level=TIMESTAMPS")
    return [
        str(environment.server),
        f"--model-repository={folder / 'models'}",
        f"--backend-directory={environment.backends}",
        f"--cache-directory={environment.caches}",
        *(f"--{kind}-address=127.0.0.1" for kind in ("http", "grpc", "metrics")),
        f"--http-port={ports.http}",
        f"--grpc-port={ports.grpc}",
        f"--metrics-port={ports.metrics}",
        "--allow-gpu-metrics=false",
        "--exit-timeout-secs=10",
        "--log-format=ISO8601",
        *(f"--backend-config=python,{size}" for size in shared_memory),
        "--metrics-config",
        "summary_latencies=true",
        "--rate-limit=execution_count",
        f"--rate-limit-resource=SLOTS:{pool.slots}",
        *(part for one in trace for part in ("--trace-config", one)),
    ]


def _get(port: int, path: str) -> bytes | None:
    """The body of a 200 answer from loopback, or None."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return body if answer.status == 200 else None


def _tail(log: Path) -> str:
    """The last lines that say something, without the server's tables of versions and options."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join([line for line in lines if not re.match(r"^[|+]", line)][-12:])
