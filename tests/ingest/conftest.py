import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant, User
from ingest.services.servers import clients, observing, polling, registering
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.histogram import bucket_of
from policies.models import Product
from policies.selectors import document_of
from policies.services import create_product
from tests.ingest.ingest_cast import SLUG, RecordMaker, RollupMaker, Sender, token

ROOT = Path(__file__).parents[2]


@pytest.fixture
def recordings() -> Path:
    return ROOT / "examples" / "recordings"


@pytest.fixture
def data() -> Path:
    return ROOT / "tests" / "data"


@pytest.fixture
def product(db: None) -> Product:
    document = (ROOT / "examples/orchid-demo/generation-1.yaml").read_bytes()
    return create_product(SYSTEM_ACTOR, SLUG, "Orchid demo", document=document)


@pytest.fixture
def digest(product: Product) -> str:
    return str(product.generations.get(number=1).revisions.get().digest)


@pytest.fixture
def ana(db: None) -> User:
    """An engineer, who owns the machines' credentials."""
    user = User.objects.create(username="ana")
    Grant.objects.create(user=user, role="engineer", product_slug=SLUG)
    return user


@pytest.fixture
def eve(db: None) -> User:
    """An auditor, who may look and not touch."""
    user = User.objects.create(username="eve")
    Grant.objects.create(user=user, role="auditor", product_slug=SLUG)
    return user


@pytest.fixture
def edge(product: Product, ana: User) -> Sender:
    return Sender(token("edge", ana))


@pytest.fixture
def otel(product: Product, ana: User) -> Sender:
    return Sender(token("otel", ana))


@pytest.fixture
def ci(product: Product, ana: User) -> Sender:
    return Sender(token("ci", ana))


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """For checks of servers on a busy machine, where how fast they answer says nothing of them."""
    for name, seconds in (("CONNECT_S", 15.0), ("ANSWER_S", 30.0), ("WARM_UP_S", 30.0)):
        monkeypatch.setattr(clients, name, seconds)
    for name, seconds in (("CONNECT_S", 15.0), ("ANSWER_S", 30.0)):
        monkeypatch.setattr(observing, name, seconds)
    for module in (polling, registering):
        monkeypatch.setattr(module, "CHECK_S", 120.0)


@pytest.fixture
def arrived_at() -> datetime:
    """A moment in the recent past at the start of a step, on one day together with its minute."""
    moment = datetime.now(UTC) - timedelta(minutes=30)
    return moment.replace(second=0, microsecond=0)


@pytest.fixture
def record(digest: str, arrived_at: datetime) -> RecordMaker:
    """A completed, valid request of the demo product; every field can be set."""
    numbers = itertools.count(1)
    manifest = manifest_digest(document_of(digest).models["full"])

    def make(**changes: Any) -> dict[str, Any]:
        number = next(numbers)
        return {
            "request_id": f"request-{number}",
            "product": SLUG,
            "edge": "edge-1",
            "publication": 1,
            "digest": digest,
            "cohort": "incumbent",
            "tenant": "tenant-1",
            "tenant_class": "standard",
            "class": "short_assistant",
            "segment": {"task": "assistant", "tenant_class": "standard"},
            "arrived_at": arrived_at.isoformat(),
            "completion_ms": 400.0,
            "first_token_ms": 90.0,
            "input_tokens": 1000,
            "max_output_tokens": 200,
            "output_tokens": 180,
            "decision": {"action": "admit", "route": "full", "teu": "320"},
            "outcome": "completed",
            "policy_valid": True,
            "schema_valid": True,
            "attempts": [
                {
                    "attempt_id": f"attempt-{number}",
                    "route": "full",
                    "model": "full",
                    "manifest": manifest,
                    "status": "completed",
                }
            ],
            **changes,
        }

    return make


@pytest.fixture
def rollup(digest: str, arrived_at: datetime) -> RollupMaker:
    """So many completions of one duration in one step; every field can be set."""

    def make(n: int = 10, ms: float = 400.0, **changes: Any) -> dict[str, Any]:
        alike = ("offered", "eligible", "admitted", "completed", "latency_counted")
        return {
            "schema": "orchid.rollup/v1",
            "product": SLUG,
            "step_at": arrived_at.isoformat(),
            "publication": 1,
            "digest": digest,
            "segment": {"task": "assistant", "tenant_class": "standard"},
            "route": "full",
            "records": n,
            "counters": dict.fromkeys(alike, n),
            "histogram": {str(bucket_of(ms)): n},
            "bounds": {"completion<=1500": {"judged": n, "within": n if ms <= 1500 else 0}},
            "figures": {"queue_ms": {"count": n, "total": 2000 * n, "maximum": 2000}},
            "teu": "320.5",
            "cost_usd": "0.000123",
            **changes,
        }

    return make
