"""What the web process tells Prometheus."""

from django.http import HttpRequest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

registry = CollectorRegistry()
ProcessCollector(registry=registry)
PlatformCollector(registry=registry)

REQUESTS = Counter(
    "orchid_http_requests", "Requests answered", ["route", "method", "status"], registry=registry
)
SECONDS = Histogram(
    "orchid_http_request_seconds", "Time to answer a request", ["route"], registry=registry
)
HEARTBEAT_AGE = Gauge(
    "orchid_worker_heartbeat_age_seconds", "Since the worker last ticked", registry=registry
)
UNSEALED = Gauge("orchid_audit_unsealed", "Audit events not yet in the chain", registry=registry)


def observe_request(request: HttpRequest, status: int, seconds: float) -> None:
    match = request.resolver_match
    route = match.view_name if match and match.view_name else "unmatched"
    observe(route, request.method or "", status, seconds)


def observe(route: str, method: str, status: int, seconds: float) -> None:
    """Count one answer under the name of its route, never under its path."""
    # An unknown method is the caller's text: it must not become a label of its own.
    method = method if method in ("GET", "POST", "HEAD", "OPTIONS") else "other"
    REQUESTS.labels(route, method, str(status)).inc()
    SECONDS.labels(route).observe(seconds)


def exposition() -> bytes:
    return generate_latest(registry)
