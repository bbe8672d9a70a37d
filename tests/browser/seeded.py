"""A product in the middle of its life, so that no page is empty: made once for this folder."""

import json
import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.guard import Actor, person
from accounts.models import Credential, User
from accounts.services import seal_audit
from gates.models import DecisionDiff, Evaluation, Window
from gates.services import evaluate, push_evidence_set
from gates.services.recorded_diff import compute
from ingest import services
from ingest.models import Batch, Source
from ingest.services import SourceKey, accept
from ingest.services.inbox import BatchMeta
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.parse import parse
from policies.models import Product
from policies.selectors import document_of
from policies.services import draft_generation
from releases import demo
from releases.models import Activation, Edge, EdgeSeen, Proposal, Publication
from releases.services.binding import bound_digest
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.review import vote
from releases.states import Choice

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUN = EXAMPLES / "recordings/run1"
FILES = {
    "triton_trace": RUN / "trace/trace.json.7",
    "client_log": RUN / "client-log.jsonl",
    "statistics": RUN / "statistics-after.http.json",
}


def actor(name: str) -> Actor:
    return person(User.objects.get(username=name))


def seed(folder: Path) -> list[tuple[str, str]]:
    """Fill the database. Returns every page with the person who opens it."""
    demo.load(EXAMPLES, folder)
    product = Product.objects.get(slug="orchid-demo")
    for kind, path in FILES.items():
        key = SourceKey(kind, "recording", "run1", "triton")
        counted(*accept(product, key, f"{kind}-1", kind, path.read_bytes()))
    runs(product, Publication.objects.get(product=product, number=1))
    cells = json.loads((EXAMPLES / "orchid-demo/evidence.json").read_text())["evidence"]
    push_evidence_set(actor("ana"), product, {"items": cells})
    decided = proposed(product, "Compact fallback", queued=8000)
    for name in ("ben", "dee"):
        vote(actor(name), decided, Choice.APPROVE, "Every floor holds", bound_digest(decided))
        decided.refresh_from_db()
    publish(actor("dee"), decided)
    runs(product, Publication.objects.get(product=product, number=2))
    waiting = proposed(product, "A shorter queue", queued=7000)
    for diff in DecisionDiff.objects.all():
        compute(diff.pk)
    seal_audit()
    return pages(decided, waiting)


def pages(decided: Proposal, waiting: Proposal) -> list[tuple[str, str]]:
    batch = Batch.objects.filter(kind="edge").latest("id")
    source = Source.objects.get(kind="statistics")
    evaluation = Evaluation.objects.latest("id")
    diff = DecisionDiff.objects.filter(changed__gt=0).latest("id")
    inside = [
        ("ben", ""),
        ("ben", "gates/"),
        ("ben", "gates/evaluations/"),
        ("ben", f"gates/evaluations/{evaluation.pk}/"),
        ("ana", "evidence/"),
        ("ana", "generations/"),
        ("ana", "generations/new"),
        ("ana", "generations/1/"),
        ("ana", f"generations/{waiting.generation.number}/revise"),
        ("ana", "generations/2/diff/1/"),
        ("ana", "generations/1/?what_if=short_assistant+%2B60%25%2C+lose+1+group&at=24"),
        ("ana", "generations/2/try"),
        ("ana", "generations/2/try?class=short_assistant&deadline_in_ms=400&load=1500"),
        ("ana", f"decision-diffs/{diff.pk}/"),
        ("ana", "proposals/"),
        ("ben", f"proposals/{decided.pk}/"),
        ("dee", f"proposals/{waiting.pk}/"),
        ("dee", "publications/"),
        ("dee", "edges/"),
        ("dee", "rollout/"),
        ("dee", "rollback/"),
        ("ana", "sources/"),
        ("ana", f"sources/{source.pk}/figures/"),
        ("ana", "batches/"),
        ("ana", f"batches/{batch.pk}/"),
        ("ana", "attempts/"),
        ("ana", "requests/"),
        ("ben", "access/"),
    ]
    return [
        ("", "/login"),
        ("", "/password-reset"),
        ("ben", "/"),
        ("ben", "/products/new"),
        ("eve", "/audit/"),
        ("ben", "/nowhere"),
        ("ben", "/products/orchid-serve/gates/"),
        ("ben", "/products/orchid-serve/generations/1/"),
        *((who, f"/products/orchid-demo/{path}") for who, path in inside),
    ]


def proposed(product: Product, title: str, queued: int) -> Proposal:
    """Generation 2's content with another queue, in review."""
    given: dict[str, Any] = parse((EXAMPLES / "orchid-demo/generation-2.yaml").read_bytes(), "yaml")
    given["admission"]["max_queued_teu"] = queued
    revision = draft_generation(actor("ana"), product, given, title)
    row = propose(actor("ana"), product, revision.generation.number, title, "It pays")
    return submit(actor("ana"), row)


def runs(product: Product, publication: Publication) -> None:
    """The edge activates a publication, serves under it, and is judged."""
    now = timezone.now()
    says_active(product, publication, now - timedelta(minutes=2))
    reconcile(product.pk, now)
    records = [served(product, publication, n, now) for n in range(60)]
    body = b"\n".join([*(json.dumps(one).encode() for one in records), b"{"])
    meta = BatchMeta(watermark=now)
    key = SourceKey("edge", "edge-1")
    batch, new = accept(product, key, f"records-{publication.number}", "edge", body, meta=meta)
    counted(batch, new)
    window = Window.objects.get(product=product, publication=publication.number)
    evaluate(window.pk, now)


def says_active(product: Product, publication: Publication, at: datetime) -> None:
    edge, _ = Edge.objects.get_or_create(
        product=product,
        name="edge-1",
        defaults={
            "credential": Credential.objects.get(kind="edge"),
            "share": 1.0,
            "registered_at": at,
        },
    )
    Activation.objects.create(
        edge=edge, publication=publication, state="active", at=at, reported_at=at
    )
    seen = {"at": timezone.now(), "active_publication": publication.number, "open_sequences": {}}
    EdgeSeen.objects.update_or_create(edge=edge, defaults=seen)


def served(product: Product, publication: Publication, number: int, now: datetime) -> Any:
    digest = publication.candidate_digest or publication.incumbent_digest
    return {
        "request_id": f"request-{publication.number}-{number}",
        "product": product.slug,
        "edge": "edge-1",
        "publication": publication.number,
        "digest": digest,
        "cohort": "candidate" if publication.candidate_digest else "incumbent",
        "tenant": "tenant-1",
        "tenant_class": "standard",
        "class": "short_assistant",
        "segment": {"task": "assistant", "tenant_class": "standard"},
        "arrived_at": (now - timedelta(seconds=100 - number)).isoformat(),
        "completion_ms": 200.0 + 10 * number,
        "input_tokens": 900,
        "max_output_tokens": 200,
        "output_tokens": 150,
        "decision": {"action": "admit", "route": "full", "teu": "320"},
        "outcome": "completed",
        "policy_valid": True,
        "schema_valid": True,
        "attempts": [
            {
                "attempt_id": uuid.uuid4().hex,
                "route": "full",
                "model": "full",
                "manifest": manifest_digest(document_of(digest).models["full"]),
                "status": "completed",
            }
        ],
    }


def counted(batch: Batch, new: bool) -> None:
    assert new
    services.process(batch.pk)
    batch.refresh_from_db()
    assert batch.status == "done", batch.reason
