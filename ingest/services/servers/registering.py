"""Servers come and go by hand: register, change, forget, ask at once, accept what is there."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, Invalid, NotFound
from ingest.models import TritonServer
from ingest.services.inbox import source_for
from ingest.services.servers.addresses import grpc_address, http_address
from ingest.services.servers.clients import Deadline, NoAnswerError, RefusedError
from ingest.services.servers.expected import expected_of
from ingest.services.servers.manifest import new_pins
from ingest.services.servers.observing import CHECK_S, opened
from ingest.services.servers.seen import seen_models
from ingest.services.servers.tracing import flush
from ingest.services.storing import SourceKey
from ingest.states import ServerKind, ServerProtocol, SourceKind, WarmUp
from policies.models import Product

#: Servers of one product: what a tick asks in turn has to end before it is due again.
MOST_SERVERS = 50
FASTEST_S, SLOWEST_S = 5, 300
MOST_RATE = 1_000_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


#: What an operator says of a server beside its name; only what is given is changed.
WISHES = (
    *("http_url", "grpc_url", "metrics_url", "protocol", "pool", "poll_every_s", "warm_up"),
    *("trace_rate", "candidate_trace_rate"),
)
Wish = Mapping[str, Any]


def may_manage(actor: Actor, slug: str) -> None:
    """For people and CI that bring data in. A mere sender's credential can't make us connect."""
    require(actor, Permission.VIEW, slug)
    require(actor, Permission.INGEST, slug)


@transaction.atomic
def register(actor: Actor, product: Product, name: str, wish: Wish) -> TritonServer:
    """A new server, due at once. One with a metrics address alone is taken for vLLM's.

    Raises BadInput for what can't be used, Conflict for a name that is taken.
    """
    may_manage(actor, product.slug)
    if not _NAME.fullmatch(name):
        raise BadInput("bad_name", "A name takes 1 to 64 letters, digits and . _ -")
    Product.objects.select_for_update(no_key=True).get(pk=product.pk)
    if TritonServer.objects.filter(product=product).count() >= MOST_SERVERS:
        raise Invalid("too_many_servers", f"A product has up to {MOST_SERVERS} servers.")
    server = TritonServer(product=product, name=name)
    _apply(server, wish)
    now = timezone.now()
    run = SourceKey(SourceKind.POLLED, name, f"{now:%Y%m%dT%H%M%S}-{now:%f}")
    server.server_run, server.source = run.server_run, source_for(product, run)
    try:
        with transaction.atomic():
            server.save()
    except IntegrityError as error:
        raise Conflict("server_exists", f"{product.slug} has a server {name}.") from error
    _audit(actor, "server.registered", server, _told(server))
    return server


@transaction.atomic
def change(actor: Actor, server: TritonServer, wish: Wish) -> TritonServer:
    """Other addresses or wishes; it is due at once. Changing nothing leaves no trace."""
    may_manage(actor, server.product.slug)
    current = _locked(server)
    before = _told(current)
    _apply(current, wish)
    after = _told(current)
    if before != after:
        current.due_at, current.lease_until = timezone.now(), None
        # A check that is under way looked at the old address: its number is used up.
        current.checks += 1
        current.save()
        changed = {key: value for key, value in after.items() if before[key] != value}
        _audit(actor, "server.changed", current, changed)
    return current


@transaction.atomic
def forget(actor: Actor, server: TritonServer) -> None:
    """The server is not asked any more; what it told stays with its sources."""
    may_manage(actor, server.product.slug)
    current = _locked(server)
    _audit(actor, "server.forgotten", current, _told(current))
    current.delete()


@transaction.atomic
def check_now(actor: Actor, server: TritonServer, now: datetime) -> None:
    """Make it due, and ask a worker to look at once."""
    from ingest.tasks import poll_server

    may_manage(actor, server.product.slug)
    TritonServer.objects.filter(pk=server.pk).update(due_at=now)
    transaction.on_commit(lambda: poll_server.delay(server.pk), robust=True)


@transaction.atomic
def accept(actor: Actor, server: TritonServer) -> TritonServer:
    """What the last check saw is what its generations hold it to from now on."""
    may_manage(actor, server.product.slug)
    current = _locked(server)
    expected = expected_of(current)
    pins = new_pins(expected, seen_models(current), {})
    if not pins:
        raise Conflict("nothing_to_accept", "No model that a live generation expects was seen.")
    before = current.pins
    current.pins = {**before, **pins}
    current.due_at = timezone.now()
    current.save(update_fields=["pins", "due_at"])
    _audit(actor, "server.manifest_accepted", current, {"before": before, "after": pins})
    return current


def flush_traces(actor: Actor, server: TritonServer) -> None:
    """Have the server write the traces it holds, at once."""
    may_manage(actor, server.product.slug)
    client = opened(server, Deadline(CHECK_S))
    if client is None:
        raise Invalid("no_traces", "A server that only shows its metrics has no trace settings.")
    try:
        flush(client)
    except (NoAnswerError, RefusedError) as failed:
        raise Conflict("not_flushed", f"{server.name}: {failed}") from failed
    finally:
        client.close()
    with transaction.atomic():
        _audit(actor, "server.traces_flushed", server, {})


def _locked(server: TritonServer) -> TritonServer:
    rows = TritonServer.objects.select_for_update(of=("self",))
    found = rows.select_related("product", "source").filter(pk=server.pk).first()
    if found is None:
        raise NotFound("not_found", "This server is registered no more.")
    return found


def _apply(server: TritonServer, wish: Wish) -> None:
    given = {name: wish[name] for name in WISHES if name in wish}
    for name, checked in (("http_url", http_address), ("grpc_url", grpc_address)):
        if given.get(name):
            given[name] = checked(given[name], name)
    if given.get("metrics_url"):
        given["metrics_url"] = http_address(given["metrics_url"], "metrics_url")
    for name, value in given.items():
        setattr(server, name, value)
    _check(server)
    only_metrics = not (server.http_url or server.grpc_url)
    server.kind = ServerKind.VLLM if only_metrics else ServerKind.TRITON


def _check(server: TritonServer) -> None:
    """Raises BadInput for the first value, or pair of values, that can't be used."""
    if not (server.http_url or server.grpc_url or server.metrics_url):
        raise BadInput("no_address", "Give an HTTP, gRPC or metrics address.")
    # The one that has an address, where there is only one.
    if not server.http_url and server.grpc_url:
        server.protocol = ServerProtocol.GRPC
    if not server.grpc_url and server.http_url:
        server.protocol = ServerProtocol.HTTP
    if server.protocol not in ServerProtocol.values:
        raise BadInput("bad_protocol", "protocol is http or grpc.")
    if server.warm_up not in WarmUp.values:
        raise BadInput("bad_warm_up", f"warm_up is one of {', '.join(WarmUp.values)}.")
    if not FASTEST_S <= server.poll_every_s <= SLOWEST_S:
        raise BadInput("bad_interval", f"poll_every_s is {FASTEST_S} to {SLOWEST_S} seconds.")
    if server.pool and not _NAME.fullmatch(server.pool):
        raise BadInput("bad_pool", "A pool is named as the document names it in fleet.pool.")
    for rate in (server.trace_rate, server.candidate_trace_rate):
        if rate is not None and not 0 <= rate <= MOST_RATE:
            raise BadInput("bad_trace_rate", "A trace rate is 0, or every how many-th request.")


def _told(server: TritonServer) -> dict[str, Any]:
    return {name: getattr(server, name) for name in WISHES}


def _audit(actor: Actor, action: str, server: TritonServer, data: dict[str, Any]) -> None:
    slug = server.product.slug
    record(actor, action, product=slug, obj=("server", server.name), data=data)
