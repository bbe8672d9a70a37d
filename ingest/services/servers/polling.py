"""A server's check: claim it, look at it, judge it, write down what was found.

The network comes before the transaction and never inside it. A worker holds a server by a lease
and a number: whoever comes too late finds another number and writes nothing, so a check may run
twice, or be killed at any line, and the next tick checks again.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import F, Q

from ingest.models import CounterSeries, ServerChange, Source, TritonServer
from ingest.services import counters
from ingest.services.inbox import source_for
from ingest.services.servers import judging, manifest, tracing, warming
from ingest.services.servers.clients import Client, Deadline
from ingest.services.servers.expected import expected_of
from ingest.services.servers.findings import Finding
from ingest.services.servers.manifest import Expected
from ingest.services.servers.observing import CHECK_S, Observation, SeenModel, observe, opened
from ingest.services.servers.restarts import Restart, restarts
from ingest.services.storing import SourceKey
from ingest.states import ServerKind, ServerState, SourceKind

#: A claimed server is left to its worker for this long; a check and its writing take less.
LEASE = timedelta(seconds=30)
#: Seconds between the samples that are kept of a series; where it stands is brought up each time.
SAMPLED_EVERY = timedelta(seconds=60)
#: A server that does not answer is asked less and less often, up to this.
LONGEST_PAUSE = timedelta(seconds=60)
#: Servers that one tick hands out; the others are still due at the next.
AT_ONCE = 50
KEPT_FINDINGS, KEPT_CHANGES, KEPT_PINS = 100, 200, 20


def due_servers(now: datetime) -> list[int]:
    """Servers whose check is due and that nobody has, those that wait longest first."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    found = TritonServer.objects.filter(free, due_at__lte=now).order_by("due_at")
    return list(found.values_list("pk", flat=True)[:AT_ONCE])


@dataclass
class Check:
    """What one look came to, on its way to the database."""

    seen: Observation
    expected: Sequence[Expected] = ()
    restart: Restart = field(default_factory=Restart)
    standings: dict[str, Any] = field(default_factory=dict)
    probes: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    took: timedelta = timedelta(0)


def poll(server_pk: int, now: datetime) -> bool:
    """Check one server; False where it isn't due or somebody else has it."""
    server = _claimed(server_pk, now)
    if server is None:
        return False
    check = _looked(server, now)
    with transaction.atomic():
        locked = TritonServer.objects.select_for_update(of=("self",)).select_related("source")
        current = locked.filter(pk=server.pk, checks=server.checks).first()
        if current is not None:
            _write(current, check, now)
    return True


def _claimed(server_pk: int, now: datetime) -> TritonServer | None:
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    due = TritonServer.objects.filter(free, pk=server_pk, due_at__lte=now)
    if not due.update(lease_until=now + LEASE, checks=F("checks") + 1):
        return None
    return TritonServer.objects.select_related("source", "product").get(pk=server_pk)


def _looked(server: TritonServer, now: datetime) -> Check:
    begun, deadline = time.monotonic(), Deadline(CHECK_S)
    client = opened(server, deadline)
    try:
        seen = observe(server, client, deadline)
        check = Check(seen, expected_of(server))
        if not seen.no_answer:
            _judge(server, client, check, now)
    finally:
        if client is not None:
            client.close()
    check.took = timedelta(seconds=time.monotonic() - begun)
    return check


def _judge(server: TritonServer, client: Client | None, check: Check, now: datetime) -> None:
    seen = check.seen
    was_away = server.state == ServerState.UNREACHABLE
    check.restart = restarts(_series(server), seen.figures, was_away=was_away)
    if check.restart.server:
        server.server_run = run_name(server, now)
    check.standings = judging.standings(server.standings, seen.figures)
    if seen.told_models:
        check.findings = list(manifest.check(check.expected, seen.models, server.pins))
    if client is not None and seen.ready:
        rate = tracing.wanted_rate(server, check.expected)
        check.findings += tracing.bring_about(client, seen, rate)
        wanted = _wanted(seen, check.expected)
        check.probes = warming.probe(client, server, seen, wanted, now)
    check.findings += judging.lies(seen, check.standings, check.probes)


def _wanted(seen: Observation, expected: Sequence[Expected]) -> list[SeenModel]:
    """Models that some served generation needs; all of them where none is expected here."""
    ready = [model for model in seen.models if model.ready]
    names = {name for one in expected for name in one.names}
    return [model for model in ready if not names or model.name in names]


def _series(server: TritonServer) -> dict[tuple[str, str, str], float | None]:
    rows = CounterSeries.objects.filter(source=server.source)
    return {(one.model, one.name, one.labels): one.value for one in rows}


def run_name(server: TritonServer, now: datetime) -> str:
    """Names a run by the check that first saw it; a check's number is never used again."""
    return f"{now:%Y%m%dT%H%M%S}-{server.checks}"


def _write(server: TritonServer, check: Check, now: datetime) -> None:
    """Everything that a check found, in the caller's transaction, under the row's lock."""
    seen, findings = check.seen, check.findings
    state, why = judging.state_of(seen, findings)
    if not seen.no_answer:
        _write_run(server, check, now)
        _write_seen(server, check)
    untold = [
        Finding("not_told", f"Not told: {line}.", "Look whether its address and options allow it.")
        for line in seen.untold
    ]
    server.findings = msgspec.to_builtins([*findings, *untold][:KEPT_FINDINGS])
    _move(server, state, why, now)
    if state == ServerState.READY:
        server.last_good_at = now
    server.checked_at, server.lease_until = now, None
    server.answered_in_ms = seen.answered_in_ms
    server.failed_in_a_row = server.failed_in_a_row + 1 if seen.no_answer else 0
    # A server that takes long gets a fifth of one worker at most, however often it is wanted.
    server.due_at = now + max(pause(server), 4 * check.took)
    server.save()


def pause(server: TritonServer) -> timedelta:
    """Until the next check: twice as long each time that it did not answer again."""
    usual = timedelta(seconds=server.poll_every_s)
    doubled = usual * (1 << min(max(server.failed_in_a_row - 1, 0), 6))
    return max(usual, min(doubled, LONGEST_PAUSE))


def _write_run(server: TritonServer, check: Check, now: datetime) -> None:
    if check.restart.server:
        _begin_run(server, now)
    for model in check.restart.models[:10]:
        _changed(server, server.state, f"{model} was loaded again.", now)
    recorded = counters.record(server.source, check.seen.figures, now, SAMPLED_EVERY)
    server.series_left_out = recorded.left_out
    Source.objects.filter(pk=server.source.pk).update(last_seen_at=now)


def _begin_run(server: TritonServer, now: datetime) -> None:
    """A source for the new run; what releases wrote on the last one holds for this one too."""
    before, server.server_run = server.source, run_name(server, now)
    engine = "triton" if server.kind == ServerKind.TRITON else ""
    key = SourceKey(SourceKind.POLLED, server.name, server.server_run, engine)
    server.source = source_for(server.product, key)
    server.source.expected_manifest = before.expected_manifest
    server.source.save(update_fields=["expected_manifest"])
    _changed(server, server.state, "The server has started again.", now)


def _write_seen(server: TritonServer, check: Check) -> None:
    seen = check.seen
    server.about = seen.about
    server.seen_models = {one.key: msgspec.to_builtins(one) for one in seen.models}
    server.trace_settings, server.probes = seen.trace, check.probes
    server.standings = check.standings
    pins = {digest: dict(kept) for digest, kept in server.pins.items()}
    for digest, fresh in manifest.new_pins(check.expected, seen.models, pins).items():
        pins.setdefault(digest, {}).update(fresh)
    server.pins = _bounded(pins, {one.digest for one in check.expected})


def _bounded(pins: dict[str, Any], served: set[str]) -> dict[str, Any]:
    """Those of what is served, and of generations that may come back by a rollback."""
    others = [digest for digest in pins if digest not in served][:KEPT_PINS]
    return {digest: pins[digest] for digest in [*served & pins.keys(), *others]}


def _move(server: TritonServer, state: ServerState, why: str, now: datetime) -> None:
    if server.state != state:
        server.state, server.state_since = state, now
        _changed(server, state, why, now)


def _changed(server: TritonServer, state: str, why: str, now: datetime) -> None:
    ServerChange.objects.create(
        server=server, at=now, state=state, server_run=server.server_run, why=why[:300]
    )
    kept = ServerChange.objects.filter(server=server).order_by("-at", "-pk")
    oldest = kept.values_list("pk", flat=True)[KEPT_CHANGES:]
    ServerChange.objects.filter(pk__in=list(oldest)).delete()
