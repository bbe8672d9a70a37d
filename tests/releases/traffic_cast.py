"""Traffic as an edge tells it by HTTP, evidence as a machine pushes it, ticks as beat has them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import issue_credential
from gates.tasks import evaluate_open_windows
from orchid.engine.document.canonical import manifest_digest
from policies.models import Product
from policies.selectors import document_of
from releases.models import Edge, EdgeSeen, Publication, Rollout
from releases.services.issue import latest
from releases.tasks import reconcile_all
from tests.ingest.ingest_cast import Sender, count_waiting
from tests.releases.desk import OF_PRODUCT, Desk, approved
from tests.releases.releases_cast import SLUG, document, edge_token, says
from tests.releases.stage_cast import activated, record_of

#: A request of the long kind takes the full model 1,310 ms by what the document declares of it.
LONG: dict[str, Any] = {"input_tokens": 1_000, "output_tokens": 2_450, "max_output_tokens": 2_450}
GATES: dict[str, Any] = {
    "cost_per_success_usd": {"max": "0.05", "window": "15m", "minimum_successes": 350},
}
ASSISTANT, EXTRACTION = "short_assistant", "structured_extraction"
#: Class, task and tenant class of each gated segment.
SEGMENTS = [
    (ASSISTANT, "assistant", "standard"),
    (ASSISTANT, "assistant", "premium"),
    (EXTRACTION, "structured_extraction", "standard"),
]


class Gateway:
    """An edge that answers what is published and delivers its records by its own credential."""

    def __init__(self, product: Product) -> None:
        credential, token = edge_token("edge-1")
        self.edge = Edge.objects.create(
            product=product, name="edge-1", credential=credential, registered_at=timezone.now()
        )
        self.sender = Sender(token)

    def stores(
        self, publication: Publication, cohort: str, each: int, ms: float, within_s: float = 294
    ) -> str:
        """So many completed requests of every gated segment, which came lately; its batch."""
        records = _requests(publication, cohort, each, ms, within_s)
        answer = self.sender.records(*records, Watermark=timezone.now().isoformat())
        assert answer.status_code == 202, answer.content
        return str(answer.json()["batch_id"])

    def delivers(self, *requests: Any, **more: Any) -> None:
        """The same, and a worker counts them."""
        batch = self.stores(*requests, **more)
        count_waiting()
        told = self.sender.client.get(f"/api/v1/ingest/batches/{batch}").json()
        assert (told["status"], told["rejected"]) == ("done", []), told


def _requests(
    publication: Publication, cohort: str, each: int, ms: float, within_s: float
) -> Iterator[dict[str, Any]]:
    digest = publication.candidate_digest if cohort == "candidate" else publication.incumbent_digest
    manifest = manifest_digest(document_of(str(digest)).models["full"])
    now = timezone.now()
    for number in range(each * len(SEGMENTS)):
        kind, task, tenant_class = SEGMENTS[number % len(SEGMENTS)]
        at = now - timedelta(seconds=6 + within_s * number / (each * len(SEGMENTS)))
        changes = {
            **LONG,
            "class": kind,
            "segment": {"task": task, "tenant_class": tenant_class},
            "completion_ms": ms,
            "attempt": {"manifest": manifest},
        }
        yield record_of(publication, cohort, str(digest), at, tenant_class, 100.0, changes)


def measured(product: Product) -> None:
    """A suite has measured every route that the document can serve by."""
    _, token = issue_credential(
        SYSTEM_ACTOR,
        kind="ci",
        name="ci-1",
        product_slug=SLUG,
        owner=User.objects.get(username="dee"),
    )
    machine = Client(headers={"Authorization": f"Bearer {token}"})
    serving = document_of(str(live(product).target_digest))
    for route in ("full", "compact"):
        piece: dict[str, Any] = {
            "schema": "orchid.evidence/v1",
            "kind": "frozen_suite",
            "suite": "tasks",
            "suite_version": "1",
            "route": route,
            "manifest": manifest_digest(serving.models[route]),
            "where": {},
            "n": 20_000,
            "mean": 0.95,
            "spread": 0.1,
        }
        answer = machine.post(f"/api/v1/{OF_PRODUCT}/evidence", piece, "application/json")
        assert answer.status_code == 201, answer.content


def live(product: Product) -> Publication:
    found = latest(product)
    assert found is not None
    return found


def ticks() -> None:
    """What beat has the workers do, each once."""
    evaluate_open_windows()
    reconcile_all()


def at(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


def living(product: Product) -> Gateway:
    """What is live runs at an edge since half an hour, and a suite has measured its routes."""
    made = Gateway(product)
    says(made.edge, live(product), at=at(30))
    EdgeSeen.objects.update(at=timezone.now())
    ticks()
    measured(product)
    return made


def canaried(gateway: Gateway, since: datetime, **asked: Any) -> Rollout:
    """Approved, published and at its first stage; `asked` are keys of the document's `rollout`."""
    given = document(2, **asked)
    given["gates"] |= GATES
    row = approved(given)
    seen = {"expected_version": row["version"]}
    status, told = Desk("dee").asks(f"proposals/{row['id']}/publish", **seen)
    assert status == 200, told
    return activated(Rollout.objects.get(), gateway.edge, since)
