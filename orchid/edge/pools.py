"""Which replicas are ready, from the state files that their servers write."""

from pathlib import Path

import msgspec

from orchid.engine.wire.fields import Instant, Milliseconds, Name, Tokens


class ToldSignal(msgspec.Struct, frozen=True):
    """What a server writes of itself into its file: the wait in its queue, the tokens it holds."""

    at: Instant
    queue_wait_ms: Milliseconds | None = None
    live_tokens: Tokens | None = None


class PoolEndpoint(msgspec.Struct, frozen=True):
    """A ready replica: its slots, its warm routes, whom it may serve, where it takes requests.

    A pool of several has one file for each, under a name of its own in `replica`.
    """

    pool: str
    slots: int
    models: tuple[str, ...]
    http: str | None = None
    grpc: str | None = None
    run_id: str | None = None
    replica: str | None = None
    region: str | None = None
    privacy_cells: tuple[Name, ...] = ()
    manifests: dict[str, str] = {}
    devices: int | None = None
    signal: ToldSignal | None = None

    @property
    def name(self) -> str:
        """Of the replica; the pool's own where it has just one."""
        return self.replica or self.pool


Endpoints = dict[tuple[str, str], PoolEndpoint]


def read_pools(folder: Path) -> Endpoints:
    """Every replica that says it is ready. A file that is gone or half written says nothing."""
    found = (_read(path) for path in sorted(folder.glob("triton-*.json")))
    return {(one.pool, one.name): one for one in found if one is not None}


def _read(path: Path) -> PoolEndpoint | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=PoolEndpoint)
    except (OSError, msgspec.DecodeError):
        return None


def silent(endpoint: PoolEndpoint) -> PoolEndpoint:
    """The replica without what it last said: what is left changes only when the replica does."""
    return msgspec.structs.replace(endpoint, signal=None)
