"""What an edge says of itself to whoever looks after it."""

from typing import Any

from orchid.edge.service import Service
from orchid.edge.sync import Sync
from orchid.edge.telemetry import Telemetry
from orchid.engine.admission.pool import Pool


async def status_of(service: Service, sync: Sync, telemetry: Telemetry) -> dict[str, Any]:
    """The generation it decides by, its fleet and rungs, what is open, what waits to be sent."""
    return {
        "edge": service.edge,
        "product": service.product,
        **_bundle(sync),
        "at_safe_floor": service.active.at_floor if service.active else False,
        "pools": {name: _pool(pool, service) for name, pool in service.state.pools.items()},
        **service.fleet.status(),
        "open_sequences": service.requests.open_sequences(),
        "resting": len(service.requests.resting),
        "deferred": len(service.requests.deferred),
        "decided_twice": _beside(service),
        **await _records(service, telemetry),
    }


def _bundle(sync: Sync) -> dict[str, Any]:
    active, refusal = sync.active, sync.refusal
    refused = {"publication": refusal.publication, "reason": refusal.reason} if refusal else None
    return {
        "publication": active.bundle.publication if active else None,
        "kind": active.bundle.kind if active else None,
        "expires_at": active.bundle.expires_at.isoformat() if active else None,
        "incumbent": active.incumbent.digest if active else None,
        "candidate": active.candidate.digest if active and active.candidate else None,
        "refused": refused,
    }


def _beside(service: Service) -> dict[str, Any]:
    """What a candidate is asked or enforced for, and what of it is yet to be read and sent."""
    shadow = service.shadow
    return {"mode": shadow.mode, "noted": shadow.noted, "lines_waiting": len(shadow.lines.waiting)}


def _pool(pool: Pool, service: Service) -> dict[str, Any]:
    now_ms = service.now_ms()
    return {
        "slots": pool.slots,
        "running": sum(len(replica.running) for replica in pool.replicas.values()),
        "queued": sum(len(lane.queue) for lane in pool.lanes),
        "queued_teu": pool.queued_teu(),
        "live_tokens": pool.live_tokens,
        "replicas": {
            name: {
                "slots": replica.slots,
                "in_flight": replica.in_flight,
                "limit": replica.limiter.limit if replica.limiter else None,
                "breaker": replica.breaker.state(now_ms) if replica.breaker else None,
                "signal_age_ms": now_ms - replica.signal.at_ms if replica.signal else None,
            }
            for name, replica in pool.replicas.items()
        },
    }


async def _records(service: Service, telemetry: Telemetry) -> dict[str, Any]:
    spool = await service.journal.state()
    return {
        "records_waiting": spool.waiting,
        "records_lost": spool.lost,
        "telemetry_problem": telemetry.last_problem,
    }
