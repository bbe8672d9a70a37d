"""A product in the middle of its life, so that no page is empty: made once for this folder."""

import json
import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.guard import Actor, person
from accounts.models import Credential, User
from accounts.services import seal_audit
from gates.models import DecisionDiff, Evaluation, Evidence, RevisitItem, Window
from gates.services import evaluate, push_evidence_set
from gates.services.calibration import read_requests
from gates.services.recorded_diff import compute
from gates.services.revisit import watch
from ingest import services
from ingest.models import ArrivalTrace, Batch, EngineAttempt, RequestRow, Source, Trial
from ingest.services import SourceKey, accept, servers
from ingest.services.storing import BatchMeta
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.parse import parse
from orchid.engine.wire.shadow import ShadowRecord, Side, encode_shadow
from policies.models import Product
from policies.selectors import document_of
from policies.services import draft_generation
from releases import demo
from releases.models import Activation, Edge, EdgeSeen, Proposal, Publication, Rollout
from releases.services.binding import bound_digest
from releases.services.cap import cap_tenant
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.review import vote
from releases.services.stage import hold_back
from releases.states import Choice
from tests.browser import ways_in
from tests.browser.way_back import drained, rehearsed, told
from tests.ingest.servers.checking import checked
from tests.ingest.servers.double import Triton, over_http

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUN = EXAMPLES / "recordings/run1"
FILES = {
    "triton_trace": RUN / "trace/trace.json.7",
    "client_log": RUN / "client-log.jsonl",
    "statistics": RUN / "statistics-after.http.json",
}
#: Class, task and tenant class of what is asked, so that each gated segment has its figures.
KINDS = (
    ("short_assistant", "assistant", "standard"),
    ("long_assistant", "assistant", "premium"),
    ("structured_extraction", "structured_extraction", "standard"),
)
STAGES = [{"canary": 0.5, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
#: Nanoseconds after an execution's start, of one that calls another; both in Triton's own words.
CHAIN = {
    "REQUEST_START": 0,
    "QUEUE_START": 1_000_000,
    "REQUEST_END": 182_000_000,
    "INFER_RESPONSE_COMPLETE": 181_000_000,
}
STEP = {
    "REQUEST_START": 2_000_000,
    "QUEUE_START": 3_000_000,
    "COMPUTE_START": 41_000_000,
    "COMPUTE_INPUT_END": 43_000_000,
    "COMPUTE_OUTPUT_START": 177_000_000,
    "COMPUTE_END": 178_000_000,
    "REQUEST_END": 180_000_000,
}


def actor(name: str) -> Actor:
    return person(User.objects.get(username=name))


def seed(folder: Path) -> list[tuple[str, str]]:
    """Fill the database. Returns every page with the person who opens it."""
    demo.load(EXAMPLES, folder)
    product, serve = (Product.objects.get(slug=slug) for slug in (demo.DEMO, demo.REFERENCE))
    for kind, path in FILES.items():
        key = SourceKey(kind, "recording", "run1", "triton")
        counted(*accept(product, key, f"{kind}-1", kind, path.read_bytes()))
    runs(product, Publication.objects.get(product=product, number=1))
    trials(product)
    model_servers(product)
    traced(product)
    set_aside(product)
    cells = json.loads((EXAMPLES / "orchid-demo/evidence.json").read_text())["evidence"]
    cells += [{**cell, "load_state": "compact_fallback"} for cell in cells]
    push_evidence_set(actor("ana"), product, {"items": cells})
    decided = proposed(product, "Compact fallback", queued=8000)
    for name in ("ben", "dee"):
        vote(actor(name), decided, Choice.APPROVE, "Every floor holds", bound_digest(decided))
        decided.refresh_from_db()
    late = proposed(product, "A longer queue", queued=9000)
    publish(actor("dee"), decided)
    held_back(product)
    runs(product, Publication.objects.get(product=product, number=2))
    fell_back(product, Publication.objects.get(product=product, number=2))
    decided_twice(product, Publication.objects.get(product=product, number=2))
    rehearsed(product)
    waiting = proposed(product, "A shorter queue", queued=7000)
    told(product)
    for diff in DecisionDiff.objects.all():
        compute(diff.pk)
    read_requests(product, timezone.now() + timedelta(minutes=2))
    ways_in.with_factors()
    seal_audit()
    cap_tenant(actor("dee"), serve, "acme", "1d", {"max_usd": "50"}, "A loop in their batch")
    return pages(decided, waiting, late)


def model_servers(product: Product) -> None:
    """One that differs from what is published and fails, and one that nobody runs."""
    triton = Triton(failing={"full": "Stub process 'full_0_0' is not healthy."})
    with over_http(triton) as url:
        wish = {"http_url": url, "metrics_url": f"{url}/metrics"}
        server = servers.register(actor("ana"), product, "four", wish)
        reconcile(product.pk, timezone.now())
        checked(server)
        triton.configs["full"]["max_batch_size"] = 2
        triton.metrics = (RUN / "metrics-after.txt").read_bytes()
        checked(server)
    away = servers.register(actor("ana"), product, "six", {"http_url": "http://127.0.0.1:9"})
    checked(away)


def trials(product: Product) -> None:
    """Two files of one run, told by the client and by the server, and recorded traffic."""
    stage = ROOT / "tests/data/trials/perf/inference_perf_vllm"
    for path in sorted(stage.glob("stage_*.json")):
        meta = BatchMeta(declared={"title": path.name, "facts": {"residency": "warm"}})
        key = SourceKey("trial", "lab", "kubecon")
        counted(*accept(product, key, path.name, "trial", path.read_bytes(), meta=meta))
    traffic = (EXAMPLES / "traces/azure-conversation-1000.csv").read_bytes()
    meta = BatchMeta(declared={"title": "Azure conversations", "warm_up_s": 10})
    key = SourceKey("arrivals", "Azure")
    counted(*accept(product, key, "traffic-1", "arrivals", traffic, meta=meta))


def pages(decided: Proposal, waiting: Proposal, late: Proposal) -> list[tuple[str, str]]:
    batch = Batch.objects.filter(kind="edge").latest("id")
    source = Source.objects.get(kind="statistics")
    attempt = EngineAttempt.objects.filter(source__name="four", parent_key="").latest("id")
    request = RequestRow.objects.get(attempt_ids__contains=[attempt.attempt_id])
    evaluation = Evaluation.objects.latest("id")
    diff = DecisionDiff.objects.filter(changed__gt=0).latest("id")
    inside = [
        ("ben", ""),
        ("ben", "gates/"),
        ("ben", "gates/segments/"),
        ("ben", "gates/history/attainment/"),
        ("ben", "gates/history/completion_p95_ms/?span=1h"),
        ("ben", "gates/evaluations/"),
        ("ben", "gates/evaluations/?show=all"),
        ("ben", f"gates/evaluations/{evaluation.pk}/"),
        ("ana", "diagnosis/"),
        ("ana", "diagnosis/?metric=cost_per_success_usd&minutes=1"),
        ("ben", "revisits/"),
        ("ben", f"revisits/{RevisitItem.objects.latest('id').pk}/"),
        ("ben", "economics/"),
        ("ben", "economics/?period=window&by=tenant"),
        ("ben", "budgets/"),
        ("ana", "evidence/"),
        ("ana", "evidence/?generation=2"),
        ("ana", "evidence/pieces/"),
        ("ana", f"evidence/pieces/{Evidence.objects.latest('id').pk}/"),
        ("ana", "evidence/push/"),
        ("ben", "frontier/"),
        ("ben", "frontier/?segment=task%3Dassistant%7Ctenant_class%3Dstandard"),
        ("ben", "frontier/?load=compact_fallback"),
        ("ana", "calibration/"),
        ("ana", "calibration/?measure=output"),
        ("ana", "calibration/cell/?route=full&input=0-512&output=0%2B&measure=work"),
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
        ("ana", f"proposals/{waiting.pk}/rebase"),
        ("ana", f"proposals/{late.pk}/rebase"),
        ("dee", "emergency/"),
        ("ben", "second-looks/"),
        ("ana", f"proposals/{waiting.pk}/record"),
        ("ben", f"proposals/{decided.pk}/record"),
        ("dee", "publications/"),
        ("dee", "edges/"),
        ("ben", "edges/?standing=silent"),
        ("ben", "edges/edge-1/"),
        ("dee", "rollout/"),
        ("dee", "shadow/"),
        ("ben", "shadow/?near=floor"),
        ("ben", "shadow/?difference=defers"),
        ("dee", "rollback/"),
        ("ben", "notices/"),
        ("dee", "reconciliation/"),
        ("ben", f"reconciliation/release?digest={drained(decided.product)}"),
        ("ana", "sources/"),
        ("ana", f"sources/{source.pk}/figures/"),
        ("ana", "batches/"),
        ("ana", f"batches/{batch.pk}/"),
        ("ana", "attempts/"),
        ("ana", "requests/"),
        ("ana", "requests/?segment=task%3Dassistant"),
        ("ana", f"requests/{request.day}/{request.id}/"),
        ("ana", "engine/"),
        ("ana", "engine/?window=5m"),
        ("ana", "servers/"),
        ("ana", "servers/four/"),
        ("ana", "trials/"),
        ("ana", f"trials/{Trial.objects.latest('id').pk}/"),
        ("ana", f"arrivals/{ArrivalTrace.objects.latest('id').pk}/"),
        ("ben", "access/"),
    ]
    return [
        *ways_in.pages(),
        ("ben", "/"),
        ("ben", "/products/new"),
        ("ben", "/nowhere"),
        ("ben", "/products/orchid-serve/second-looks/"),
        ("ben", "/products/orchid-serve/gates/"),
        ("ben", "/products/orchid-serve/frontier/"),
        ("ben", "/products/orchid-serve/generations/1/"),
        ("ben", "/products/orchid-serve/diagnosis/"),
        *((who, f"/products/orchid-demo/{path}") for who, path in inside),
    ]


def proposed(product: Product, title: str, queued: int) -> Proposal:
    """Generation 2's content with another queue, in review."""
    given: dict[str, Any] = parse((EXAMPLES / "orchid-demo/generation-2.yaml").read_bytes(), "yaml")
    given["admission"]["max_queued_teu"] = queued
    given["rollout"].update(stages=STAGES, strata=["task", "tenant_class"])
    revision = draft_generation(actor("ana"), product, given, title)
    row = propose(actor("ana"), product, revision.generation.number, title, "It pays")
    return submit(actor("ana"), row)


def held_back(product: Product) -> None:
    """One segment stays behind, so that the rollout shows segments apart."""
    rollout = Rollout.objects.get(product=product)
    hold_back(actor("dee"), rollout, "assistant-premium", "Their contract renews on Friday")


def window_of(publication: Publication) -> Window:
    """Where the newer of what a publication serves is judged as a whole."""
    digest = publication.candidate_digest or publication.incumbent_digest
    windows = Window.objects.filter(publication=publication.number, digest=digest)
    return windows.filter(product=publication.product).earliest("id")


def runs(product: Product, publication: Publication) -> None:
    """The edge activates a publication, serves under it, and is judged."""
    now = timezone.now()
    says_active(product, publication, now - timedelta(minutes=2))
    reconcile(product.pk, now)
    window = window_of(publication)
    evaluate(window.pk, now - timedelta(minutes=1))
    records = [served(product, publication, n, now) for n in range(60)]
    body = b"\n".join([*(json.dumps(one).encode() for one in records), b"{"])
    meta = BatchMeta(watermark=now)
    key = SourceKey("edge", "edge-1")
    batch, new = accept(product, key, f"records-{publication.number}", "edge", body, meta=meta)
    counted(batch, new)
    evaluate(window.pk, now)


def fell_back(product: Product, publication: Publication) -> None:
    """Requests that the compact route served and often failed, judged and looked at again."""
    now = timezone.now()
    body = b"\n".join(
        json.dumps(on_compact(product, publication, n, now)).encode() for n in range(60)
    )
    key, meta = SourceKey("edge", "edge-1"), BatchMeta(watermark=now)
    counted(*accept(product, key, "records-compact", "edge", body, meta=meta))
    window = window_of(publication)
    evaluate(window.pk, now)
    watch(product, now)


def decided_twice(product: Product, publication: Publication) -> None:
    """What an edge told of a candidate that was asked beside the incumbent."""
    now = timezone.now()
    body = b"\n".join(encode_shadow(twice(publication, n, now)) for n in range(90))
    key = SourceKey("shadow", "edge-1")
    counted(*accept(product, key, "shadow-1", "shadow", body))


def twice(publication: Publication, number: int, now: datetime) -> ShadowRecord:
    """One request, which the candidate serves as before, by another route, or not at all."""
    late, long = number % 11 == 0, number % 7 == 0
    full = Side(
        action="admit",
        reason="requested",
        route="full",
        teu=Decimal(288),
        completion_ms=1380.0 if late else 310.0,
        output_tokens=248,
        budget_used=0.91 if number % 13 == 0 else 0.3,
    )
    compact = Side(
        action="fallback",
        reason="fallback_preferred",
        route="compact",
        teu=Decimal(86),
        completion_ms=140.0,
        output_tokens=248,
    )
    refused = Side(
        action="reject",
        reason="deadline_infeasible",
        fell_out={"compact": "fallback_prohibited", "full": "deadline_infeasible"},
    )
    return ShadowRecord(
        mode="shadow",
        request_id=f"request-{publication.number}-{number}",
        product=publication.product.slug,
        publication=publication.number,
        incumbent_digest=publication.incumbent_digest,
        candidate_digest=publication.candidate_digest or publication.incumbent_digest,
        at=now - timedelta(seconds=90 - number),
        class_="short_assistant",
        incumbent=full,
        candidate=refused if late else compact if long or number % 13 == 0 else full,
        tenant="tenant-1",
        segment={"task": "assistant", "tenant_class": "premium" if late else "standard"},
        deadline_ms=1500.0,
        input_tokens=6200 if long else 700,
        passed_over={"overload": 12, "behind": 1} if number == 40 else {},
    )


def on_compact(product: Product, publication: Publication, number: int, now: datetime) -> Any:
    """One request that fell back; every third has no answer."""
    record = served(product, publication, number, now)
    record |= {
        "request_id": f"compact-{number}",
        "arrived_at": (now - timedelta(seconds=20 - number / 10)).isoformat(),
        "decision": {"action": "fallback", "route": "compact", "teu": "144"},
    }
    manifest = manifest_digest(document_of(record["digest"]).models["compact"])
    for attempt in record["attempts"]:
        attempt |= {"route": "compact", "model": "compact", "manifest": manifest}
    if number % 3 == 0:
        record["outcome"] = record["attempts"][0]["status"] = "failed"
        record |= {"completion_ms": None, "schema_valid": None, "policy_valid": None}
    return record


def traced(product: Product) -> None:
    """What the engine told of half of the requests: each a router that calls one model."""
    attempt_ids = [row.attempt_ids[0] for row in RequestRow.objects.order_by("arrived_at")[:30]]
    pieces: list[dict[str, Any]] = []
    for number, attempt_id in enumerate(attempt_ids):
        start = 7_000_000_000_000 + number * 1_000_000_000
        for place, (model, events) in enumerate((("router", CHAIN), ("full", STEP)), start=1):
            told = {"id": 2 * number + place, "model_name": model, "model_version": 1}
            told |= {"request_id": attempt_id} | (
                {"parent_id": 2 * number + 1} if place > 1 else {}
            )
            stamps = [{"name": name, "ns": start + at} for name, at in events.items()]
            pieces += [told, {"id": told["id"], "timestamps": stamps}]
    arrived = RequestRow.objects.earliest("arrived_at").arrived_at.timestamp()
    anchor = 7_000_000_000_000, int((arrived + 0.02) * 1e9)
    key = SourceKey("triton_trace", "four", "run-1", "triton", *anchor)
    counted(*accept(product, key, "trace-four", "triton_trace", json.dumps(pieces).encode()))


def set_aside(product: Product) -> None:
    """A file that is not what it says."""
    key = SourceKey("metrics", "four", "run-1", "triton")
    batch, _ = accept(product, key, "metrics-four", "metrics", b"<html>502</html>")
    services.process(batch.pk)


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
    heard_at = timezone.now()
    seen = {
        "at": heard_at,
        "reported_at": heard_at,
        "active_publication": publication.number,
        "open_sequences": {},
    }
    EdgeSeen.objects.update_or_create(edge=edge, defaults=seen)


def served(product: Product, publication: Publication, number: int, now: datetime) -> Any:
    digest = publication.candidate_digest or publication.incumbent_digest
    input_tokens = 900 if number % 2 else 300
    kind, task, tenant_class = KINDS[number // 3 % len(KINDS)]
    return {
        "request_id": f"request-{publication.number}-{number}",
        "product": product.slug,
        "edge": "edge-1",
        "publication": publication.number,
        "digest": digest,
        "cohort": "candidate" if publication.candidate_digest else "incumbent",
        "tenant": "tenant-1",
        "tenant_class": tenant_class,
        "class": kind,
        "segment": {
            "task": task,
            "tenant_class": tenant_class,
            "load_state": "compact_fallback" if number % 3 == 0 else "normal",
        },
        "deadline_ms": 1500.0,
        "arrived_at": (now - timedelta(seconds=100 - number)).isoformat(),
        "admission_ms": 4.0,
        "first_token_ms": 70.0,
        "completion_ms": 200.0 + 10 * number,
        "input_tokens": input_tokens,
        "cached_input_tokens": input_tokens // 3,
        "max_output_tokens": 200,
        "output_tokens": 90 + number,
        "decision": {
            "action": "admit",
            "route": "full",
            "teu": str(input_tokens * 0.12 + 200),
            "output_tokens": 200,
            "live_tokens": input_tokens + 200,
            "completion_ms": 300.0 + 6 * number,
            "completion_probability": 0.99 if number % 2 else 0.8,
        },
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
                "start_ms": 6.0,
                "queue_ms": 38.0,
                "prefill_ms": 12.0,
                "decode_ms": 122.0,
                "accelerator_ms": 120.0 + number + 150 * (number % 6 == 0),
                "validation_ms": 4.0,
                "teu_observed": "310",
            }
        ],
    }


def counted(batch: Batch, new: bool) -> None:
    assert new
    services.process(batch.pk)
    batch.refresh_from_db()
    assert batch.status == "done", batch.reason
