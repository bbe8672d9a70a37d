"""What every measurement here stands on: a product, registered edges, a web process, helpers."""

import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.ports import free_port, wait_for

PRODUCT = "orchid-demo"
EXAMPLES = Path(__file__).parents[2] / "examples" / PRODUCT
#: Who writes, and who votes for what.
PEOPLE = {"ana": "engineer", "ben": "product_owner", "dee": "sre"}
#: The web process keeps the connections of everybody; sockets of both ends are ours.
FILES = 65_536
#: A helper that tells nothing for so long waits for what won't come.
SILENT_S = 120


@dataclass(frozen=True)
class Web:
    """A web process as in production."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """Seconds of a core that it took so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """What it holds for itself and its part of what is shared (PSS)."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        found = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
        return int(found.split()[1]) / 1024


class Helper:
    """A process that is spoken to by lines of JSON."""

    def __init__(self, module: str, given: dict[str, Any]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(json.dumps(given))

    def tell(self, line: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def heard(self) -> dict[str, Any]:
        """The next thing it tells; raises RuntimeError when it ended or is silent for too long."""
        assert self._process.stdout is not None
        late = threading.Timer(SILENT_S, self._process.kill)
        late.start()
        line = self._process.stdout.readline()
        late.cancel()
        if not line:
            raise RuntimeError(f"a helper process ended, or told nothing within {SILENT_S} s")
        return dict(json.loads(line))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def helpers(module: str, given: Sequence[dict[str, Any]]) -> Iterator[list[Helper]]:
    started = [Helper(module, one) for one in given]
    try:
        yield started
    finally:
        for one in started:
            one.close()


@contextmanager
def web(application: str = "controlplane.asgi:application", **env: str) -> Iterator[Web]:
    port = free_port()
    argv = ["uvicorn", application, "--no-access-log", "--log-level", "warning"]
    where = ["--port", str(port), "--timeout-graceful-shutdown", "1", "--backlog", "4096"]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", *argv, *where],
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield Web(port, process.pid)
    finally:
        process.kill()
        process.wait()


def document(number: int, **changes: Any) -> dict[str, Any]:
    """A shipped document with keys of its `admission` changed; nobody has to prove it first."""
    from orchid.engine.document.parse import parse

    given = dict(parse((EXAMPLES / f"generation-{number}.yaml").read_bytes(), "yaml"))
    given["admission"] = {**given["admission"], **changes}
    given["approvals"] = {**given["approvals"], "evidence_required": []}
    return given


def product() -> Any:
    """The demo's product with its first publication, and the people who may change it."""
    from accounts.guard import SYSTEM_ACTOR
    from accounts.models import User
    from accounts.roles import EVERY_PRODUCT
    from accounts.services import grant
    from policies.models import Revision
    from policies.services import create_product
    from releases.services.publish import bootstrap

    for name, role in PEOPLE.items():
        grant(SYSTEM_ACTOR, User.objects.create_user(name), role, EVERY_PRODUCT)
    made = create_product(SYSTEM_ACTOR, PRODUCT, "Demo", document=document(1))
    bootstrap(SYSTEM_ACTOR, made, Revision.objects.get(generation__product=made), "the beginning")
    return made


def actor(name: str) -> Any:
    from accounts.guard import person
    from accounts.models import User

    return person(User.objects.get(username=name))


def edges(made: Any, count: int) -> list[list[str]]:
    """Registered edges, by name and token."""
    from django.utils import timezone

    from accounts.models import Credential, User
    from releases.models import Edge

    owner, now = User.objects.get(username="dee"), timezone.now()
    tokens = [f"orc_edge_{secrets.token_urlsafe(32)}" for _ in range(count)]
    rows = Credential.objects.bulk_create(
        Credential(
            kind="edge",
            name=f"edge-{number}",
            product_slug=PRODUCT,
            token_hash=sha256(token.encode()).hexdigest(),
            prefix=token[:13],
            owner=owner,
        )
        for number, token in enumerate(tokens)
    )
    Edge.objects.bulk_create(
        Edge(product=made, name=row.name, credential=row, registered_at=now) for row in rows
    )
    return [[row.name, token] for row, token in zip(rows, tokens, strict=True)]


def approved(made: Any, queued: int, **rollout: Any) -> Any:
    """A proposal for the second generation with another bound of its queue, ready to publish.

    Keys of its `rollout` may be changed.
    """
    from policies.services import draft_generation
    from releases.services.binding import bound_digest
    from releases.services.propose import propose, submit
    from releases.services.review import vote
    from releases.states import Choice

    changed = document(2, max_queued_teu=queued)
    changed["rollout"] = {**changed["rollout"], **rollout}
    revision = draft_generation(actor("ana"), made, changed, f"A queue of {queued}")
    number = revision.generation.number
    row = submit(actor("ana"), propose(actor("ana"), made, number, "Measure", "it is measured"))
    for name in ("ben", "dee"):
        row.refresh_from_db()
        row = vote(actor(name), row, Choice.APPROVE, "measured", bound_digest(row))
    row.refresh_from_db()
    return row
