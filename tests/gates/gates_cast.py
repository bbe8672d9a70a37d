"""A product under judgement: its document, its traffic as counted, its evidence, its people."""

import json
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant, User
from accounts.services import issue_credential
from gates.models import Evaluation, Window
from gates.services import evaluate, open_window, push_evidence
from ingest.models import Batch, Source
from ingest.services.rollups import append_deltas
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.parse import parse
from orchid.engine.histogram import bucket_of
from orchid.engine.rollup import RollupKey, Sums
from policies.models import Product
from policies.selectors import document_of
from policies.services import create_product

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchid-demo"
SLUG = "orchid-demo"
SEGMENTS = ("a", "b", "c")
STEP = timedelta(seconds=60)
#: A stage of any test is watched for longer than the test goes on.
HOLD_MS = 86_400_000


def given(**gates: Any) -> dict[str, Any]:
    """Generation 1 of the demo with one-minute steps, three gated segments, and changed gates."""
    document: dict[str, Any] = parse((EXAMPLES / "generation-1.yaml").read_bytes(), "yaml")
    document["segments"]["dimensions"] = [
        "task",
        "language",
        "tenant_class",
        "input_bucket",
        "risk",
    ]
    document["gates"] |= {
        "step_s": 60,
        "completion_p95_ms": {"max": 1500, "window": "15m", "minimum_sample": 200},
        "cost_per_success_usd": {"max": "0.00016", "window": "60s", "minimum_successes": 200},
        "attainment": {"min": 0.96, "window": "15m", "minimum_sample": 200},
        "segments": [
            {"name": name.upper(), "where": {"risk": name}, "minimum_sample": 200}
            for name in SEGMENTS
        ],
        **gates,
    }
    return document


class Judged:
    """One product with one window that opened ten minutes ago; time is the test's own."""

    def __init__(
        self,
        document: dict[str, Any] | None = None,
        *,
        exposure: float = 1.0,
        cohort: str = "incumbent",
        evidence: bool = True,
    ) -> None:
        self.now = timezone.now().replace(second=0, microsecond=0)
        self.opens_at = self.now - 10 * STEP
        self.product: Product = create_product(
            SYSTEM_ACTOR, SLUG, "Demo", document=document or given()
        )
        self.digest = str(self.product.generations.get(number=1).revisions.get().digest)
        self.manifest = manifest_digest(document_of(self.digest).models["full"])
        self.edge = Source.objects.create(product=self.product, kind="edge", name="edge-1")
        self.count_up_to(self.now)
        self.window = open_window(
            self.product, self.digest, 1, cohort, self.opens_at, exposure, hold_ms=HOLD_MS
        )
        if evidence:
            push_evidence(SYSTEM_ACTOR, self.product, self.cell())

    def cell(self, **changes: Any) -> dict[str, Any]:
        """Evidence that covers everything the full route serves."""
        return {
            "schema": "orchid.evidence/v1",
            "kind": "frozen_suite",
            "suite": "tasks",
            "suite_version": "1",
            "route": "full",
            "manifest": self.manifest,
            "where": {},
            "n": 20_000,
            "mean": 0.93,
            "spread": 0.1,
            **changes,
        }

    def count_up_to(self, moment: datetime) -> None:
        """The edge says that everything that arrived before the moment has been sent."""
        self.edge.watermark = moment
        self.edge.last_seen_at = moment
        self.edge.save()

    def edge_stays_heard(self) -> None:
        """For what runs by the real clock, a minute and more after the time of the test."""
        self.edge.last_seen_at = timezone.now() + timedelta(minutes=5)
        self.edge.save()

    def no_edge_tells(self) -> None:
        """Nobody says how far anything is counted."""
        self.edge.watermark = self.edge.last_seen_at = None
        self.edge.save()

    def traffic(
        self,
        requests: int,
        *,
        good: int | None = None,
        minute: int = -1,
        segment: str = "a",
        ms: float = 400.0,
        within: int | None = None,
        judged: int | None = None,
        publication: int = 1,
        cohort: str = "incumbent",
        load_state: str = "",
        **counters: int,
    ) -> None:
        """What the inbox counted in one minute; all good and within the bound unless said."""
        dims = {"task": "assistant", "tenant_class": "standard", "risk": segment}
        dims |= {"load_state": load_state} if load_state else {}
        fast = requests if ms <= 1500 else 0
        key = RollupKey(
            self.now + minute * STEP,
            publication,
            self.digest,
            cohort,
            tuple(sorted(dims.items())),
            "full",
            self.manifest,
        )
        sums = Sums(
            Counter(
                {
                    "offered": requests,
                    "eligible": requests,
                    "admitted": requests,
                    "completed": requests,
                    "latency_counted": requests,
                    "technical_success": requests if good is None else good,
                    **counters,
                }
            ),
            histogram=Counter({bucket_of(ms): requests}),
            within=Counter({"completion<=1500": fast if within is None else within}),
            judged=Counter({"completion<=1500": requests if judged is None else judged}),
            teu=Decimal(requests),
            records=requests,
        )
        append_deltas(self.product, self.batch(), {key: sums}, {})

    def batch(self, **changes: Any) -> Batch:
        """One more delivery of the edge, counted unless said."""
        number = Batch.objects.count()
        return Batch.objects.create(
            product=self.product,
            source=self.edge,
            batch_id=f"batch-{number}",
            kind="edge",
            **{"body": b"", "size": 0, "sha256": "", "status": "done", **changes},
        )

    def everywhere(self, requests: int, **changes: Any) -> None:
        """The same traffic in every gated segment."""
        for segment in SEGMENTS:
            self.traffic(requests, segment=segment, **changes)

    def judge(self, now: datetime | None = None, window: Window | None = None) -> Evaluation:
        return evaluate((window or self.window).pk, now or self.now)

    def verdict(self, evaluation: Evaluation, metric: str, segment: str = "") -> Any:
        return evaluation.verdicts.get(metric=metric, segment=segment)


def costing(usd_per_minute: str) -> dict[str, Any]:
    """A document whose whole fleet costs exactly so much a minute."""
    document = given()
    document["fleet"] |= {
        "devices": 1,
        "device_usd_per_h": str(Decimal(usd_per_minute) * 60),
        "overhead_usd_per_h": "0",
    }
    return document


def someone(name: str, role: str) -> Client:
    """A signed-in person with one role in the product."""
    user = User.objects.create_user(name, password="correct horse")
    Grant.objects.create(user=user, role=role, product_slug=SLUG)
    client = Client()
    client.force_login(user)
    return client


def machine(kind: str = "ci") -> Client:
    """A machine with a live credential."""
    return Client(headers={"Authorization": f"Bearer {machine_token(kind)}"})


def machine_token(kind: str = "ci") -> str:
    """What a machine says who it is by."""
    owner, _ = User.objects.get_or_create(username="ana")
    _, token = issue_credential(
        SYSTEM_ACTOR, kind=kind, name=f"{kind}-1", product_slug=SLUG, owner=owner
    )
    return token


def api(path: str) -> str:
    return f"/api/v1/products/{SLUG}/{path}"


def posted(client: Client, path: str, body: Any, **headers: str) -> Any:
    return client.post(
        api(path), json.dumps(body), content_type="application/json", headers=headers
    )
