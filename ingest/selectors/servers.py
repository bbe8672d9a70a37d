"""Registered servers as pages and the API show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.errors import NotFound
from ingest.models import ServerChange, TritonServer
from ingest.selectors.figures import EngineFigures, engine_figures, requests_from_outside, runs_of
from ingest.services.servers.expected import expected_of
from ingest.services.servers.findings import Finding
from ingest.services.servers.manifest import Expected
from ingest.services.servers.observing import SeenModel
from ingest.services.servers.seen import seen_models
from ingest.states import ServerState
from policies.models import Product

#: What an operator does about a state; the findings say more.
NEXT_STEPS = {
    ServerState.UNKNOWN: "The first check comes within seconds, unless the worker is down.",
    ServerState.READY: "",
    ServerState.NOT_READY: "Wait for its models to load, or look in its log for one that fails.",
    ServerState.UNREACHABLE: "Look whether it runs and whether this address is the right one.",
    ServerState.SLOW: "Look at the load of its host; a health answer does no work.",
    ServerState.LYING: "Take it out of traffic: it accepts requests and answers none.",
}
#: Checks that may be missed before a state is no longer believed.
LATE_CHECKS = 4
LATE_STEP = "Its checks are late: look whether a worker runs and keeps up, or check it now."


@dataclass(frozen=True)
class ServerRow:
    """A server with what its last check found, in types."""

    server: TritonServer
    findings: Sequence[Finding]
    expected: Sequence[Expected]
    now: datetime

    @property
    def overdue(self) -> bool:
        """Whether its checks have stopped, so that its state is what it was and not what it is."""
        at, every_s = self.server.checked_at, self.server.poll_every_s
        return at is not None and self.now - at > LATE_CHECKS * timedelta(seconds=every_s)

    @property
    def state(self) -> ServerState:
        return ServerState(self.server.state)

    @property
    def next_step(self) -> str:
        return LATE_STEP if self.overdue else NEXT_STEPS[self.state]

    @property
    def told(self) -> list[Finding]:
        """Findings that ask for something; what was merely not told stands apart."""
        return [one for one in self.findings if one.code != "not_told"]

    @property
    def untold(self) -> list[Finding]:
        return [one for one in self.findings if one.code == "not_told"]

    @property
    def manifest(self) -> str:
        """Whether it holds what is published: `held`, `broken`, `unproven` or `nothing`."""
        if not self.expected:
            return "nothing"
        if any(one.breaks_manifest for one in self.findings):
            return "broken"
        good = self.state in (ServerState.READY, ServerState.SLOW) and not self.overdue
        proven = bool(self.server.seen_models) and not self.unproven
        return "held" if good and proven else "unproven"

    @property
    def unproven(self) -> list[str]:
        """Models that no inference has proven in this run, each with why."""
        return [
            f"{model}: {probe['text'] or probe['outcome']}"
            for model, probe in sorted(self.server.probes.items())
            if probe["outcome"] not in ("answered", "failed")
        ]

    @property
    def acceptable(self) -> bool:
        """Whether some difference could be accepted as what is wanted now."""
        return any(
            one.code in ("other_version", "other_digest", "other_shape") for one in self.findings
        )


def servers(product: Product) -> list[ServerRow]:
    """Every server of the product, by name."""
    return [_row(server) for server in _rows(product).order_by("name")]


def server_of(product: Product, name: str) -> ServerRow:
    """One server of the product; raises NotFound."""
    server = _rows(product).filter(name=name).first()
    if server is None:
        raise NotFound("not_found", "This product has no server of that name.")
    return _row(server)


def _rows(product: Product) -> QuerySet[TritonServer]:
    return TritonServer.objects.filter(product=product).select_related("source", "product")


def _row(server: TritonServer) -> ServerRow:
    findings = msgspec.convert(server.findings, list[Finding])
    return ServerRow(server, findings, expected_of(server), timezone.now())


def changes(server: TritonServer, limit: int = 20) -> list[ServerChange]:
    """Its last states and restarts, the newest first."""
    return list(ServerChange.objects.filter(server=server).order_by("-at", "-pk")[:limit])


@dataclass(frozen=True)
class Counted:
    """What a server has counted since it was first asked, over all its runs."""

    figures: Sequence[EngineFigures]
    requests: int
    restarts: int
    ensembles: dict[str, tuple[str, ...]]

    @property
    def resets(self) -> int:
        """Times that some model's counters began again while the server went on."""
        return max(max((one.resets for one in self.figures), default=0) - self.restarts, 0)


def counted(server: TritonServer) -> Counted:
    """Increases by model, and requests each once: steps of an ensemble are not further ones."""
    figures = engine_figures(server.product, server.source.pk)
    ensembles = ensembles_of(seen_models(server))
    runs = runs_of(server.product, server.source.pk)
    requests = requests_from_outside(figures, ensembles)
    return Counted(figures, requests, len(runs) - 1, ensembles)


def ensembles_of(models: Sequence[SeenModel]) -> dict[str, tuple[str, ...]]:
    """The models that each ensemble calls."""
    return {one.name: one.config.steps for one in models if one.config and one.config.steps}


def models_of(row: ServerRow) -> list[dict[str, Any]]:
    """Each model with its probe and the figures of its last statistics."""
    probes = row.server.probes
    return [{"model": model, "probe": probes.get(model.key)} for model in seen_models(row.server)]
