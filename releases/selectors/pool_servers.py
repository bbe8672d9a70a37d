"""What the checks of model servers say of the pool that a rollback would go back to."""

from dataclasses import dataclass

from ingest.models import TritonServer
from ingest.selectors.servers import ServerRow, servers
from ingest.services.servers.expected import expected_routes
from ingest.services.servers.manifest import check
from ingest.services.servers.seen import seen_models
from ingest.states import ServerState
from policies.models import Product
from releases.states import Readiness

GOOD = (ServerState.READY, ServerState.SLOW)


@dataclass(frozen=True)
class PoolServers:
    """The registered servers of one pool, against one generation's manifests."""

    pool: str
    rows: list[ServerRow]
    broken: dict[str, str]
    """By server, the first thing in which it is not what the generation expects."""

    @property
    def answering(self) -> Readiness:
        """Ready where every server of the pool answers; not known where none is registered."""
        if not self.rows:
            return Readiness.UNKNOWN
        if any(row.overdue for row in self.rows):
            return Readiness.UNKNOWN
        good = all(row.state in GOOD for row in self.rows)
        return Readiness.READY if good else Readiness.NOT_READY

    @property
    def words(self) -> str:
        if not self.rows:
            return f"No model server of {self.pool} is registered, so nobody checks it."
        return "; ".join(f"{row.server.name}: {_state(row)}" for row in self.rows) + "."

    @property
    def holding(self) -> Readiness:
        """Whether they hold, by inference and not only by name, what the generation pins."""
        if self.broken:
            return Readiness.NOT_READY
        seen = all(row.server.seen_models and not row.unproven for row in self.rows)
        proven = seen and self.answering == Readiness.READY
        return Readiness.READY if proven else Readiness.UNKNOWN

    @property
    def manifest_words(self) -> str:
        if self.broken:
            return " ".join(f"{name}: {text}" for name, text in self.broken.items())
        if not self.rows:
            return "No model server says what it holds; a drill asks the edges."
        if self.holding == Readiness.READY:
            names = ", ".join(row.server.name for row in self.rows)
            return f"Every route answered on {names} as it was pinned."
        unproven = [one for row in self.rows for one in row.unproven]
        return f"Not proven by an answer: {'; '.join(unproven) or 'checks are late'}."


def servers_of(product: Product, pool: str, digest: str) -> PoolServers:
    """The servers of a pool; those without a pool of their own serve every generation."""
    rows = [row for row in servers(product) if row.server.pool in ("", pool)]
    found = {row.server.name: _broken(row.server, digest) for row in rows if row.server.seen_models}
    return PoolServers(pool, rows, {name: text for name, text in found.items() if text})


def _broken(server: TritonServer, digest: str) -> str:
    """What the last check found against this generation, whichever is served now."""
    expected = expected_routes(server, digest, "restored")
    findings = check(expected, seen_models(server), server.pins)
    return next((one.text for one in findings if one.breaks_manifest), "")


def _state(row: ServerRow) -> str:
    return "not checked lately" if row.overdue else row.state.label.lower()
