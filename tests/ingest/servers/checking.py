"""What a worker does with a server, for tests: a check each minute."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from ingest.models import Source, TritonServer
from ingest.services import servers


def checked(server: TritonServer, at: datetime | None = None) -> TritonServer:
    """The server after another check, a good minute after the last."""
    stored = TritonServer.objects.get(pk=server.pk)
    now = at or (stored.checked_at or timezone.now()) + timedelta(seconds=61)
    TritonServer.objects.filter(pk=server.pk).update(due_at=now)
    assert servers.poll(server.pk, now)
    return TritonServer.objects.select_related("source", "product").get(pk=server.pk)


def codes(server: TritonServer) -> set[str]:
    return {finding["code"] for finding in server.findings}


def finding(server: TritonServer, code: str) -> dict[str, Any]:
    (found,) = [one for one in server.findings if one["code"] == code]
    return dict(found)


def publish(server: TritonServer, live: str, candidate: str | None = None) -> None:
    """What releases writes: the generations that are served, and no pool of their own."""
    told = {"publication": 1, "live": live, "candidate": candidate, "pools": {}}
    Source.objects.filter(pk=server.source.pk).update(expected_manifest=told)
