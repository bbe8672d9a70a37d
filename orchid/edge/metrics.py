"""What the edge counts, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from orchid.engine.admission.overload import Event, Ladder, Sample
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
        self._rung = self._by_pool("overload_rung", "Highest overload rung in force")
        self._wait = self._by_pool("queue_wait_seconds", "Predicted wait that rungs go by")
        self._queued = self._by_pool("queued_share", "Queued work of the queue's room")
        self._held = self._by_pool("live_token_share", "Held live tokens of the pool's")
        self._breakers = self._by_pool("breakers_not_closed", "Replicas taken out or on trial")
        self._rung_changes = Counter(
            "orchid_edge_overload_changes",
            "Changes of the overload rung; the same name twice is a route restored",
            ["pool", "before", "after"],
            registry=self.registry,
        )
        self.resting = Gauge(
            "orchid_edge_resting_requests",
            "Requests between two attempts",
            registry=self.registry,
        )
        self.deferred = Gauge(
            "orchid_edge_deferred_requests",
            "Deferrals that are remembered",
            registry=self.registry,
        )
        self._retries = Counter(
            "orchid_edge_retries",
            "Admitted attempts after a request's first",
            registry=self.registry,
        )
        self._decided_twice = Counter(
            "orchid_edge_decided_twice",
            "Requests that a candidate, or its limits, decided too, by how that differs",
            ["mode", "difference"],
            registry=self.registry,
        )
        self._passed_over = Counter(
            "orchid_edge_passed_over",
            "Requests that were to be decided twice and were left out",
            ["reason"],
            registry=self.registry,
        )
        self.lost = Gauge(
            "orchid_edge_lost_records",
            "Records given up since the first start",
            registry=self.registry,
        )

    def decided(self, decision: Decision) -> None:
        route = decision.offer.route if decision.offer else decision.shape.route
        self._decisions.labels(decision.action, route, decision.reason).inc()

    def attempted(self, attempt: int) -> None:
        if attempt > 1:
            self._retries.inc()

    def decided_twice(self, mode: str, differs: str) -> None:
        self._decided_twice.labels(mode, differs).inc()

    def passed_over(self, reason: str) -> None:
        self._passed_over.labels(reason).inc()

    def pressed(self, pool: str, ladder: Ladder, sample: Sample) -> None:
        """Where a pool stands, by the figures that its rungs go by."""
        self._rung.labels(pool).set(ladder.rung)
        self._wait.labels(pool).set(sample.queue_wait_ms / 1000.0)
        self._queued.labels(pool).set(sample.queued)
        self._held.labels(pool).set(sample.live_tokens)

    def rung_changed(self, pool: str, event: Event) -> None:
        self._rung_changes.labels(pool, event.before, event.after).inc()

    def breakers(self, pool: str, count: int) -> None:
        self._breakers.labels(pool).set(count)

    def _by_pool(self, name: str, help_text: str) -> Gauge:
        return Gauge(f"orchid_edge_{name}", help_text, ["pool"], registry=self.registry)

    def refused_without_bundle(self) -> None:
        self._decisions.labels("reject", "", "no_bundle").inc()

    def ended(self, record: RequestRecord) -> None:
        self._outcomes.labels(record.outcome).inc()
        if record.completion_ms is not None:
            self._completion.observe(record.completion_ms / 1000.0)

    def text(self) -> bytes:
        return generate_latest(self.registry)
