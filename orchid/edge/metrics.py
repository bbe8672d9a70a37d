"""What the edge counts, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from orchid.engine.admission.request import Decision
from orchid.engine.wire.records import RequestRecord

SECONDS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)


class Metrics:
    """One registry an edge, so that two edges in a process don't share a figure."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._decisions = Counter(
            "orchid_edge_decisions",
            "Decisions by action, route and reason",
            ["action", "route", "reason"],
            registry=self.registry,
        )
        self._outcomes = Counter(
            "orchid_edge_outcomes", "Ended attempts", ["outcome"], registry=self.registry
        )
        self._completion = Histogram(
            "orchid_edge_completion_seconds",
            "Intended arrival to complete response",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.refused_bundles = Counter(
            "orchid_edge_bundles_refused", "Offered bundles", ["code"], registry=self.registry
        )
        self.publication = Gauge(
            "orchid_edge_publication", "Active admission generation", registry=self.registry
        )
        self.open_attempts = Gauge(
            "orchid_edge_open_attempts", "Attempts not ended", registry=self.registry
        )
        self.spooled = Gauge(
            "orchid_edge_spooled_records", "Records not acknowledged", registry=self.registry
        )
        self.lost = Gauge(
            "orchid_edge_lost_records",
            "Records given up since the first start",
            registry=self.registry,
        )

    def decided(self, decision: Decision) -> None:
        route = decision.offer.route if decision.offer else decision.shape.route
        self._decisions.labels(decision.action, route, decision.reason).inc()

    def refused_without_bundle(self) -> None:
        self._decisions.labels("reject", "", "no_bundle").inc()

    def ended(self, record: RequestRecord) -> None:
        self._outcomes.labels(record.outcome).inc()
        if record.completion_ms is not None:
            self._completion.observe(record.completion_ms / 1000.0)

    def text(self) -> bytes:
        return generate_latest(self.registry)
