"""What the published generations expect of a server, from what releases wrote on its source."""

from collections import defaultdict

from ingest.models import TritonServer
from ingest.selectors.routes import mappings
from ingest.services.servers.manifest import Expected
from orchid.engine.document.model import PolicyDocument
from policies.selectors import document_of

ROLES = ("live", "candidate")


def expected_of(server: TritonServer) -> list[Expected]:
    """The routes of each served generation whose pool this server is."""
    told = server.source.expected_manifest
    found = []
    for role in ROLES:
        digest = told.get(role)
        if digest and server.pool in ("", told.get("pools", {}).get(digest, "")):
            found += expected_routes(server, digest, role)
    return found


def expected_routes(server: TritonServer, digest: str, role: str) -> list[Expected]:
    """The routes of one generation, whether or not it is served now."""
    document, mapped = document_of(digest), _mapped(server)
    return [
        Expected(digest, role, route, frozenset({route, *mapped[route]}), document)
        for route in served_routes(document)
    ]


def served_routes(document: PolicyDocument) -> list[str]:
    """The routes that have replicas; a document that counts none is served whole."""
    return [route for route in document.models if route in document.fleet.replicas] or list(
        document.models
    )


def _mapped(server: TritonServer) -> dict[str, set[str]]:
    """The engine's models that an operator mapped to each route, for this server or for all."""
    names: dict[str, set[str]] = defaultdict(set)
    for row in mappings(server.product):
        if row.source is None or row.source.name == server.name:
            names[row.route].add(row.model)
    return names
