"""The demo's model servers on the Servers page: where they answer this time."""

from collections.abc import Sequence

from orchid.cli.client import Api
from orchid.cli.triton.state import ServerState

SERVERS = "/api/v1/ingest/servers"


def register(api: Api, states: Sequence[ServerState]) -> list[str]:
    """Register each running server, or tell its new addresses; returns their names.

    A server that is stopped keeps its last address, and shows as unreachable.
    """
    known = {row["name"] for row in api.get(SERVERS)["results"]}
    for state in states:
        if state.pool in known:
            api.patch(f"{SERVERS}/{state.pool}", addresses(state))
        else:
            api.post(SERVERS, {"name": state.pool, "pool": state.pool, **addresses(state)})
    return [state.pool for state in states]


def addresses(state: ServerState) -> dict[str, str]:
    """Triton is asked over gRPC; the stand-in speaks HTTP alone and shows no metrics."""
    return {
        "http_url": f"http://{state.http}",
        "grpc_url": f"grpc://{state.grpc}" if state.grpc else "",
        "metrics_url": f"http://{state.metrics}/metrics" if state.metrics else "",
        "protocol": "grpc" if state.grpc else "http",
    }
