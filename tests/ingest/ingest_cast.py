"""Who sends, and what the workers would do, for the tests of this room."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import issue_credential
from ingest import services
from ingest.models import Batch, TouchedTraces
from ingest.services.derived import derive

SLUG = "orchid-demo"
RecordMaker = Callable[..., dict[str, Any]]
RollupMaker = Callable[..., dict[str, Any]]


def token(kind: str, owner: User, slug: str = SLUG) -> str:
    return issue_credential(
        SYSTEM_ACTOR, kind=kind, name=f"{kind}-1", product_slug=slug, owner=owner
    )[1]


class Sender:
    """A machine that delivers over HTTP, and lets the worker count at once."""

    def __init__(self, bearer: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {bearer}"})
        self.numbers = itertools.count(1)

    def post(self, path: str, body: bytes, **headers: str) -> Any:
        return self.client.post(
            path, body, content_type=headers.pop("media", "application/x-ndjson"), headers=headers
        )

    def records(self, *records: dict[str, Any] | bytes, **headers: str) -> Any:
        body = b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records)
        headers.setdefault("Batch-Id", f"batch-{next(self.numbers)}")
        return self.post("/api/v1/ingest/requests", body, **headers)

    def file(self, path: Path, query: str, **headers: str) -> Any:
        headers.setdefault("Batch-Id", f"file-{next(self.numbers)}")
        return self.post(f"/api/v1/ingest/files?{query}", path.read_bytes(), **headers)


def count_waiting() -> None:
    """What the workers would do: count every stored batch."""
    for pk in Batch.objects.filter(status="received").order_by("pk").values_list("pk", flat=True):
        services.process(pk)


def derive_waiting() -> None:
    """What the workers would do with new spans: work out the attempts of every touched trace."""
    touched = TouchedTraces.objects.order_by("source").values_list("source_id", flat=True)
    for source_pk in touched.distinct():
        derive(source_pk)
