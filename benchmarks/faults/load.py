"""Many senders at once, which keep what is not acknowledged and note exactly what is."""

import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import zstandard

from benchmarks.faults.product import Seeded

# Longer than the slowest start of a part on a machine that is short of everything.
GIVE_UP_S = 300.0


@dataclass(frozen=True)
class Sent:
    """One delivery, and the ids that are stored once it is acknowledged."""

    kind: str
    path: str
    token: str
    body: bytes
    headers: dict[str, str]
    ids: tuple[str, ...]


@dataclass
class Load:
    """The senders' threads, and what all of them have heard."""

    url: str
    seeded: Seeded
    seed: int
    acknowledged: dict[str, set[str]] = field(
        default_factory=lambda: {"records": set(), "trace": set(), "spans": set()}
    )
    answers: Counter[str] = field(default_factory=Counter)
    given_up: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, senders: int) -> None:
        for number in range(senders):
            thread = threading.Thread(target=self._send_for_ever, args=(number,))
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Let each sender bring its last delivery home."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    @property
    def total(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def _send_for_ever(self, number: int) -> None:
        dice = random.Random(self.seed * 1_000 + number)  # noqa: S311 (a load, no secret)
        makers = (_records, _records, _trace, _spans)
        with httpx.Client(base_url=self.url, timeout=20) as client:
            while not self._stop.is_set():
                sent = dice.choice(makers)(self.seeded, dice)
                self._bring_home(client, sent, dice)
                if dice.random() < 0.1:  # as a sender whose receipt was lost on its way
                    self._bring_home(client, sent, dice)
                time.sleep(dice.uniform(0, 0.05))

    def _bring_home(self, client: httpx.Client, sent: Sent, dice: random.Random) -> None:
        deadline = time.monotonic() + GIVE_UP_S
        while time.monotonic() < deadline:
            status = self._post(client, sent)
            if status in ("200", "202"):
                with self._lock:
                    self.acknowledged[sent.kind].update(sent.ids)
                return
            if status.isdigit() and status not in ("429", "503"):
                break
            time.sleep(dice.uniform(0.1, 0.5))
        with self._lock:
            self.given_up.append(f"{sent.kind}: {status}")

    def _post(self, client: httpx.Client, sent: Sent) -> str:
        headers = {"Authorization": f"Bearer {sent.token}", **sent.headers}
        try:
            answer = client.post(sent.path, content=sent.body, headers=headers)
            status = str(answer.status_code)
        except httpx.HTTPError as error:
            status = type(error).__name__
        with self._lock:
            self.answers[status] += 1
        return status


def _records(seeded: Seeded, dice: random.Random) -> Sent:
    ids = tuple(f"r-{dice.getrandbits(64):016x}" for _ in range(dice.randint(1, 60)))
    lines = [_record(seeded, name, dice) for name in ids]
    # A part of what was sent already, as after a spool that was read twice.
    lines += lines[: dice.randint(0, 2)]
    body, encoding = _packed(b"\n".join(json.dumps(line).encode() for line in lines), dice)
    headers = {"Batch-Id": _id(dice), "Content-Type": "application/x-ndjson", **encoding}
    token = seeded.tokens["edge"]
    return Sent("records", "/api/v1/ingest/requests", token, body, headers, ids)


def _record(seeded: Seeded, name: str, dice: random.Random) -> dict[str, Any]:
    arrived = datetime.now(UTC) - timedelta(seconds=dice.uniform(0, 120))
    return {
        "request_id": name,
        "product": "orchid-demo",
        "edge": "edge-1",
        "publication": 1,
        "digest": seeded.digest,
        "cohort": "incumbent",
        "tenant": f"tenant-{dice.randint(1, 70)}",
        "tenant_class": "standard",
        "class": "short_assistant",
        "segment": {"task": "assistant", "tenant_class": "standard"},
        "arrived_at": arrived.isoformat(),
        "completion_ms": dice.lognormvariate(6, 0.5),
        "first_token_ms": 90.0,
        "input_tokens": 1000,
        "max_output_tokens": 200,
        "output_tokens": dice.randint(1, 200),
        "decision": {"action": "admit", "route": "full", "teu": "320"},
        "outcome": dice.choice(["completed", "completed", "timed_out", "cancelled"]),
        "policy_valid": True,
        "schema_valid": True,
        "attempts": [
            {
                "attempt_id": f"a-{name}",
                "route": "full",
                "model": "full",
                "manifest": seeded.manifest,
                "status": "completed",
            }
        ],
    }


def _trace(seeded: Seeded, dice: random.Random) -> Sent:
    """A trace file of a server run of its own, in which ids count from 1."""
    run, start = _id(dice), dice.randint(10**12, 10**15)
    ids = tuple(f"{run}-{number}" for number in range(1, dice.randint(2, 30)))
    objects: list[dict[str, Any]] = []
    for number, name in enumerate(ids, 1):
        begin = start + number * 1_000_000
        objects.append({"id": number, "model_name": "full", "model_version": 1, "request_id": name})
        stamps = [("REQUEST_START", 0), ("QUEUE_START", 10), ("REQUEST_END", 900_000)]
        timestamps = [{"name": stamp, "ns": begin + after} for stamp, after in stamps]
        objects.append({"id": number, "timestamps": timestamps})
    body, encoding = _packed(json.dumps(objects).encode(), dice)
    path = f"/api/v1/ingest/files?kind=triton_trace&source=pool&server_run={run}"
    headers = {"Batch-Id": f"t-{run}", **encoding}
    return Sent("trace", path, seeded.tokens["ci"], body, headers, ids)


def _spans(seeded: Seeded, dice: random.Random) -> Sent:
    trace = f"{dice.getrandbits(128) or 1:032x}"
    spans = [f"{dice.getrandbits(64) or 1:016x}" for _ in range(dice.randint(1, 20))]
    now_ns = time.time_ns()
    body = {
        "resourceSpans": [
            {
                "resource": {"attributes": []},
                "scopeSpans": [{"spans": [_span(trace, name, now_ns) for name in spans]}],
            }
        ]
    }
    ids = tuple(f"{trace}-{name}" for name in spans)
    packed, encoding = _packed(json.dumps(body).encode(), dice)
    headers = {"Content-Type": "application/json", **encoding}
    return Sent("spans", "/v1/traces", seeded.tokens["otel"], packed, headers, ids)


def _span(trace: str, name: str, now_ns: int) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": name,
        "name": "step",
        "startTimeUnixNano": str(now_ns - 5_000_000),
        "endTimeUnixNano": str(now_ns),
    }


def _packed(body: bytes, dice: random.Random) -> tuple[bytes, dict[str, str]]:
    pack: Callable[[bytes], bytes] = zstandard.compress
    return (pack(body), {"Content-Encoding": "zstd"}) if dice.random() < 0.5 else (body, {})


def _id(dice: random.Random) -> str:
    return uuid.UUID(int=dice.getrandbits(128)).hex
