"""The processes of one machine: what each is run with. What order they come in is up.py's."""

import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from orchid.cli.embedded import database
from orchid.cli.embedded.postgres import Cluster
from orchid.cli.embedded.process import Child

CHECKOUT = Path(__file__).resolve().parents[3]
# One queue a room, so that a long replay never stands before a rollback's tick.
QUEUES = "hall,ingest,servers,gates,releases,replay"
DEMO_PRODUCT, DEMO_POOLS = "orchid-demo", ("six", "four")


@dataclass(frozen=True)
class Machine:
    """Where this machine keeps its state and which ports it listens on (loopback only)."""

    var: Path
    port: int
    edge_port: int
    demo: bool

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster(self.var / "postgres")

    @property
    def embeds_postgres(self) -> bool:
        """The operator's DATABASE_URL and BROKER_URL each replace a part; both, the whole."""
        return not {"DATABASE_URL", "BROKER_URL"} <= os.environ.keys()

    @cached_property
    def env(self) -> dict[str, str]:
        """What every child is told. An address that the operator gave is left as it is."""
        addresses = database.urls(self.cluster) if self.embeds_postgres else {}
        return {
            "ORCHID_VAR": str(self.var),
            "ORCHID_PORT": str(self.port),
            "ORCHID_URL": self.url,
            "ORCHID_EDGE_PORT": str(self.edge_port),
            "PYTHONUNBUFFERED": "1",
            **{name: os.environ.get(name, url) for name, url in addresses.items()},
        }

    def manage(self, name: str, *arguments: str) -> Child:
        """A management command that runs to its end, as the role that owns the tables."""
        return Child(
            name=name,
            # The tests run Django's checks; here they would load every page's code once more.
            argv=[sys.executable, "manage.py", *arguments, "--skip-checks"],
            env=self.env | {"ORCHID_DATABASE_AS": "owner"},
            cwd=CHECKOUT,
        )

    def web(self) -> Child:
        application = ["uvicorn", "controlplane.asgi:application", "--no-access-log"]
        where = ["--host", "127.0.0.1", "--port", str(self.port)]
        # Streams never end by themselves: one second of grace is for requests, not for them.
        stop = ["--timeout-graceful-shutdown", "1"]
        web = self._python("web", *application, *where, *stop)
        return replace(web, ready=lambda: answers(f"{self.url}/healthz"), port=self.port)

    def worker(self) -> Child:
        log = self.var / "log" / "worker.log"
        size = ["--concurrency", "2", "--queues", QUEUES, "--hostname", "worker@orchid"]
        # Without remote control there is nothing to gossip about.
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        worker = self._celery("worker", *size, *quiet)
        return replace(worker, ready=lambda: b" ready." in log.read_bytes())

    def beat(self) -> Child:
        """The ticks. Inside a worker they would end with one of its processes, and nobody sees."""
        return self._celery("beat", "--schedule", str(self.var / "run" / "beat"))

    def edge(self, product: str) -> Child:
        where = ["--product", product, "--port", str(self.edge_port)]
        edge = self._python("edge", "orchid", "edge", "run", *where)
        return replace(
            edge,
            env={**edge.env, "ORCHID_TOKEN": self.secret("edge-token") or ""},
            ready=lambda: answers(f"http://127.0.0.1:{self.edge_port}/healthz"),
            port=self.edge_port,
        )

    def pool(self, name: str) -> Child:
        """A model server of the demo: Triton, or the stand-in that says so in its state file."""
        state = self.var / "run" / f"triton-{name}.json"
        return replace(
            self._python(f"triton-{name}", "orchid", "triton", "run", "--pool", name),
            prepare=lambda: state.unlink(missing_ok=True),
            ready=state.exists,
            ready_within_s=120,
            stop_within_s=20,
        )

    def demo_step(self, name: str, *, once: bool = False) -> Child:
        """A part of the demo that plays its clients or its CI: seed, traffic, ci."""
        step = self._python(f"demo-{name}", "orchid", "demo", name)
        token = self.secret("ci-token") or ""
        return replace(step, env={**step.env, "ORCHID_TOKEN": token}, once=once)

    def build_triton(self) -> Child:
        return self._python("triton-build", "orchid", "triton", "build")

    def _celery(self, name: str, *arguments: str) -> Child:
        app = ["celery", "--app", "controlplane.celery:app", name, "--loglevel", "INFO"]
        return self._python(name, *app, *arguments)

    def _python(self, name: str, *arguments: str) -> Child:
        argv = [sys.executable, "-m", *arguments]
        return Child(name=name, argv=argv, env=self.env, cwd=CHECKOUT, ready_within_s=180)

    def secret(self, name: str) -> str | None:
        """A credential that was issued here (ci-token, edge-token ...), or None."""
        path = self.var / "secrets" / name
        return path.read_text().strip() if path.exists() else None


def answers(url: str) -> bool:
    """Whether something there answers with success."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 (http on loopback)
            return bool(200 <= answer.status < 300)
    except (OSError, urllib.error.URLError):
        return False
