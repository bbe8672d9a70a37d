"""Which pools of replicas are ready, from the state files that their servers write."""

from pathlib import Path

import msgspec


class PoolEndpoint(msgspec.Struct, frozen=True):
    """A ready pool: its slots, its warm routes, and where it takes requests."""

    pool: str
    slots: int
    models: tuple[str, ...]
    http: str | None = None
    grpc: str | None = None
    run_id: str | None = None


def read_pools(folder: Path) -> dict[str, PoolEndpoint]:
    """Every pool that says it is ready. A file that is gone or half written says nothing."""
    found = (_read(path) for path in sorted(folder.glob("triton-*.json")))
    return {endpoint.pool: endpoint for endpoint in found if endpoint is not None}


def _read(path: Path) -> PoolEndpoint | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=PoolEndpoint)
    except (OSError, msgspec.DecodeError):
        return None
