"""The product that the load is about, and what becomes of the load in its tables."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import issue_credential
from ingest.models import Batch, EngineAttempt, EngineSpan, RequestRow, TouchedTraces
from ingest.selectors.recount import recount
from orchid.engine.document.canonical import manifest_digest
from policies.models import Product
from policies.selectors import document_of
from policies.services import create_product

SLUG = "orchid-demo"
DOCUMENT = Path(__file__).parents[2] / "examples" / "orchid-demo" / "generation-1.yaml"


@dataclass(frozen=True)
class Seeded:
    """Who sends, and under which generation."""

    tokens: dict[str, str]
    digest: str
    manifest: str


def seed() -> Seeded:
    product = create_product(SYSTEM_ACTOR, SLUG, "Under load", document=DOCUMENT.read_bytes())
    owner = User.objects.create(username="ana")
    tokens = {
        kind: issue_credential(
            SYSTEM_ACTOR, kind=kind, name=f"{kind}-1", product_slug=SLUG, owner=owner
        )[1]
        for kind in ("edge", "ci", "otel")
    }
    digest = str(product.generations.get(number=1).revisions.get().digest)
    return Seeded(tokens, digest, manifest_digest(document_of(digest).models["full"]))


def waiting() -> int:
    """Deliveries that no figure has yet."""
    return Batch.objects.filter(status="received").count() + TouchedTraces.objects.count()


@dataclass
class Judgement:
    """What was found, and every sentence of what is wrong with it."""

    stored: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def judged(acknowledged: dict[str, set[str]]) -> Judgement:
    """Acknowledged is stored, once, and the rollups say what the rows say."""
    found = Judgement()
    for kind, stored in (("records", _requests()), ("trace", _attempts()), ("spans", _spans())):
        counts = Counter(stored)
        found.stored[kind] = len(counts)
        lost, twice = acknowledged[kind] - counts.keys(), counts.total() - len(counts)
        strange = counts.keys() - acknowledged[kind]
        for what, count in (("lost", len(lost)), ("twice", twice), ("unasked", len(strange))):
            if count:
                found.faults.append(f"{kind}: {count} {what}")
    if aside := Batch.objects.filter(status="set_aside").values_list("reason", flat=True):
        found.faults.append(f"{len(aside)} set aside: {aside[0]}")
    found.faults += _recounted(found.stored["records"])
    return found


def _recounted(requests: int) -> list[str]:
    now = datetime.now(UTC)
    span = now - timedelta(hours=6), now + timedelta(hours=1)
    found = recount(Product.objects.get(slug=SLUG), *span)
    faults = [f"rollups: {one}" for one in found.differences[:5]]
    if found.requests != requests:
        faults.append(f"rollups were compared over {found.requests} requests of {requests}")
    return faults


def _requests() -> Any:
    return RequestRow.objects.values_list("request_id", flat=True)


def _attempts() -> Any:
    """By run of a server and number in it, for both are in the id that the load gave."""
    return EngineAttempt.objects.filter(source__kind="triton_trace").values_list(
        "attempt_id", flat=True
    )


def _spans() -> Any:
    rows = EngineSpan.objects.values_list("trace_id", "span_id")
    return (f"{trace.hex}-{span & (2**64 - 1):016x}" for trace, span in rows)
