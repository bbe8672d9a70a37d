"""The models of a server as its last check stored them."""

import msgspec

from ingest.models import TritonServer
from ingest.services.servers.observing import SeenModel


def seen_models(server: TritonServer) -> list[SeenModel]:
    """In order of their names and versions."""
    return [
        msgspec.convert(told, SeenModel, strict=False)
        for _, told in sorted(server.seen_models.items())
    ]
