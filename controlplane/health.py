"""Is the process alive, is the product ready, what does it measure: for machines that watch us."""

from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from accounts.models import AuditPending
from controlplane import metrics
from controlplane.models import Heartbeat

SILENT_AFTER = timedelta(seconds=30)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Nothing else is asked, so a slow database never restarts us."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether pages would work: database, migrations, a living worker; 503 says which not."""
    checks = readiness(timezone.now())
    ready = all(found == "ok" for found in checks.values())
    status = 200 if ready else 503
    return JsonResponse({"status": "ok" if ready else "not ready", "checks": checks}, status=status)


def readiness(now: datetime) -> dict[str, str]:
    """Each check's name and `ok`, or what is wrong in words."""
    try:
        return {"database": _database(), "migrations": _migrations(), "worker": _worker(now)}
    except (DatabaseError, InterfaceError):
        return {"database": "can't be reached"}


def _database() -> str:
    """A standby, or a server that was set read-only, can store nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        (read_only,) = cursor.fetchone()
    return "ok" if read_only == "off" else "read-only"


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} not applied; run `manage.py migrate`" if plan else "ok"


def _worker(now: datetime) -> str:
    beat = Heartbeat.objects.filter(name="worker").first()
    if beat is None:
        return "has never ticked"
    silent = now - beat.at
    return "ok" if silent < SILENT_AFTER else f"silent for {int(silent.total_seconds())} s"


@require_safe
@never_cache
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Prometheus' text form. Names no product, tenant or person."""
    try:
        beat = Heartbeat.objects.filter(name="worker").first()
        age = (timezone.now() - beat.at).total_seconds() if beat else float("inf")
        metrics.HEARTBEAT_AGE.set(age)
        metrics.UNSEALED.set(AuditPending.objects.count())
    except (DatabaseError, InterfaceError):
        metrics.HEARTBEAT_AGE.set(float("nan"))
    return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_LATEST)
