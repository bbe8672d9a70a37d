"""A rollout at a stage whose clock runs, and requests that were counted in it."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from gates.models import Evaluation, Verdict, Window
from ingest import services
from ingest.services import SourceKey, accept
from ingest.services.storing import BatchMeta
from policies.models import Product
from releases.models import Edge, EdgeSeen, Publication, Rollout
from releases.selectors.progress import Progress, progress
from releases.services.reconcile import reconcile
from tests.releases.releases_cast import judged, published, says

#: The named segments of the demo's document.
STANDARD, PREMIUM, EXTRACTION = "assistant-standard", "assistant-premium", "extraction"
APART = ["task", "tenant_class"]


def staged(product: Product, gateway: Edge, *stages: dict[str, Any], **changes: Any) -> Rollout:
    """Published a quarter of an hour ago, activated ten minutes ago, its clock running since."""
    rollout = published(product, stages=list(stages), **changes)
    published_at = timezone.now() - timedelta(minutes=15)
    Rollout.objects.filter(pk=rollout.pk).update(created_at=published_at)
    return activated(rollout, gateway, timezone.now() - timedelta(minutes=10))


def activated(rollout: Rollout, gateway: Edge, at: datetime | None = None) -> Rollout:
    """The edge runs the rollout's present publication; the tick has seen it."""
    rollout.refresh_from_db()
    says(gateway, rollout.publication, at=at or timezone.now())
    EdgeSeen.objects.filter(edge=gateway).update(at=timezone.now())
    reconcile(rollout.product_id, timezone.now())
    return fresh(rollout)


def fresh(rollout: Rollout) -> Rollout:
    """As it is stored now."""
    rows = Rollout.objects.select_related("product", "publication", "proposal")
    return rows.get(pk=rollout.pk)


def found(rollout: Rollout, now: datetime | None = None) -> Progress:
    return progress(fresh(rollout), now or timezone.now())


def waits(rollout: Rollout, now: datetime | None = None) -> str:
    """Everything that it waits for, as the page says it."""
    return " ".join(found(rollout, now).blockers)


def candidate_window(rollout: Rollout) -> Window:
    number = fresh(rollout).publication.number
    return Window.objects.get(product=rollout.product, publication=number, cohort="candidate")


def passes(rollout: Rollout, at: datetime | None = None) -> Evaluation:
    """The gates pass on everything, over the whole hold, and edges are heard at that moment."""
    at = at or timezone.now()
    EdgeSeen.objects.update(at=at)
    return judged(candidate_window(rollout), "pass", at)


def judged_by_segment(rollout: Rollout, at: datetime, **verdicts: str) -> Evaluation:
    """A judgement with a row for each named segment; `whole` is all of it."""
    worst = "fail" if "fail" in verdicts.values() else "inconclusive"
    whole = "pass" if set(verdicts.values()) == {"pass"} else worst
    evaluation = judged(candidate_window(rollout), whole, at)
    for name, verdict in verdicts.items():
        segment = "" if name == "whole" else name.replace("_", "-")
        Verdict.objects.create(
            evaluation=evaluation,
            metric="attainment",
            segment=segment,
            verdict=verdict,
            bound="0.96",
            n=0 if verdict == "no_data" else 200,
            n_effective=0,
            minimum=200,
            message=f"{verdict}: 0 of 200 requests" if verdict == "no_data" else verdict,
        )
    return evaluation


def served(
    publication: Publication,
    cohort: str,
    count: int,
    *,
    at: datetime | None = None,
    tenant_class: str = "standard",
    teu: float = 100.0,
    sessions: int = 0,
    **changes: Any,
) -> None:
    """Completed requests of one cohort, of so many sessions, counted as an edge's records are."""
    at = at or timezone.now() - timedelta(minutes=5)
    candidate = publication.candidate_digest
    digest = candidate if cohort == "candidate" else publication.incumbent_digest
    lines = [
        record_of(publication, cohort, str(digest), at, tenant_class, teu, changes)
        for _ in range(count)
    ]
    for number, line in enumerate(lines if sessions else ()):
        line["session"] = f"{cohort}-{tenant_class}-{number % sessions}"
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    key, name = SourceKey("edge", "edge-1"), uuid.uuid4().hex
    meta = BatchMeta(watermark=timezone.now())
    batch, _ = accept(publication.product, key, name, "edge", body, meta=meta)
    services.process(batch.pk)
    batch.refresh_from_db()
    assert batch.status == "done", batch.reason
    assert not batch.rejected


def record_of(
    publication: Publication,
    cohort: str,
    digest: str,
    at: datetime,
    tenant_class: str,
    teu: float,
    changes: dict[str, Any],
) -> dict[str, Any]:
    """A completed request as an edge tells it; `attempt` changes its one attempt."""
    changes = dict(changes)
    attempt = {
        "attempt_id": uuid.uuid4().hex,
        "route": "full",
        "model": "full",
        "status": "completed",
        "accelerator_ms": 120.0,
        "teu_predicted": str(teu),
        "teu_observed": str(changes.pop("observed", teu)),
    }
    attempt |= changes.pop("attempt", {})
    record = {
        "request_id": uuid.uuid4().hex,
        "product": publication.product.slug,
        "edge": "edge-1",
        "publication": publication.number,
        "digest": digest,
        "cohort": cohort,
        "tenant": "tenant-1",
        "tenant_class": tenant_class,
        "class": "short_assistant",
        "segment": {"task": "assistant", "tenant_class": tenant_class},
        "deadline_ms": 1500.0,
        "arrived_at": at.isoformat(),
        "admission_ms": 4.0,
        "first_token_ms": 70.0,
        "completion_ms": 300.0,
        "input_tokens": 300,
        "max_output_tokens": 200,
        "output_tokens": 90,
        "decision": {"action": "admit", "route": "full", "teu": str(teu)},
        "outcome": "completed",
        "policy_valid": True,
        "schema_valid": True,
        "attempts": [attempt],
    }
    return record | changes
