"""A task goes out with the act that asked for it: never before it is stored, and not without it.

Case 34. Each service that sends a task is tried on transactions of its own, so that what Django
does at a real commit and a real rollback is what happens.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from accounts.guard import SYSTEM_ACTOR
from controlplane.ticks import TickingTask
from gates.models import Window
from gates.services import ask_decision_diff
from gates.services.asking import ask
from ingest.models import Batch
from ingest.services import SourceKey, accept, retry, servers, source_for
from ingest.services.spans import store_spans
from orchid.formats import otlp
from policies.models import Product
from policies.services import create_product, draft_generation
from tests.formats.otlp_bodies import body, wire_span
from tests.releases.releases_cast import SLUG, document

ROOT = Path(__file__).parents[2]
EDGE = SourceKey("edge", "edge-1")


class Undone(Exception):  # noqa: N818 - what happened, and no error
    """The transaction is given up."""


@pytest.fixture
def product(transactional_db: None) -> Product:
    return create_product(SYSTEM_ACTOR, SLUG, "Demo", document=document(1))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that were sent."""
    names: list[str] = []

    def send(task: Any, *_: Any, **__: Any) -> None:
        names.append(task.name)

    monkeypatch.setattr(TickingTask, "apply_async", send, raising=False)
    return names


Act = Callable[[], object]


def asks_for_a_judgement(product: Product) -> Act:
    window = Window.objects.create(
        product=product,
        digest="sha256:x",
        publication=1,
        cohort="incumbent",
        opens_at=timezone.now(),
        exposure=1.0,
    )
    return lambda: ask([window.pk])


def asks_for_a_diff(product: Product) -> Act:
    before = product.generations.get(number=1).revisions.get().digest
    after = draft_generation(SYSTEM_ACTOR, product, document(2), "Smaller").digest
    return lambda: ask_decision_diff(SYSTEM_ACTOR, product, before, after)


def stores_spans(product: Product) -> Act:
    reading = otlp.read_json(body(wire_span()))
    return lambda: store_spans(product, SourceKey("otlp", "gateway"), reading)


def takes_a_batch(product: Product) -> Act:
    return lambda: accept(product, EDGE, "batch-1", "edge", b"{}")


def tries_a_batch_again(product: Product) -> Act:
    batch = Batch.objects.create(
        product=product,
        source=source_for(product, EDGE),
        batch_id="batch-0",
        kind="edge",
        body=b"{}",
        size=2,
        sha256="",
        status="set_aside",
    )
    return lambda: retry(SYSTEM_ACTOR, batch)


def checks_a_server(product: Product) -> Act:
    wish = {"http_url": "http://127.0.0.1:9"}
    server = servers.register(SYSTEM_ACTOR, product, "six", wish)
    return lambda: servers.check_now(SYSTEM_ACTOR, server, timezone.now())


#: The services that send, by their file, with the task that each sends.
SENDERS: dict[str, tuple[Callable[[Product], Act], str]] = {
    "gates/services/asking.py": (asks_for_a_judgement, "gates.evaluate_window"),
    "gates/services/recorded_diff.py": (asks_for_a_diff, "gates.compute_decision_diff"),
    "ingest/services/spans.py": (stores_spans, "ingest.derive_attempts"),
    "ingest/services/inbox.py": (takes_a_batch, "ingest.drain"),
    "ingest/services/processing.py": (tries_a_batch_again, "ingest.drain"),
    "ingest/services/servers/registering.py": (checks_a_server, "ingest.poll_server"),
}


@pytest.mark.parametrize("sender", SENDERS)
def test_what_is_rolled_back_sends_nothing_and_what_is_committed_sends_one(
    product: Product, sent: list[str], sender: str
) -> None:
    prepare, task = SENDERS[sender]
    act = prepare(product)
    sent.clear()
    with pytest.raises(Undone):
        _given_up(act)
    assert sent == []
    with transaction.atomic():
        act()
        assert sent == []
    assert sent == [task]


@pytest.mark.parametrize("sender", SENDERS)
def test_what_is_committed_is_acknowledged_though_nothing_can_be_sent(
    product: Product, monkeypatch: pytest.MonkeyPatch, sender: str
) -> None:
    act, tried = SENDERS[sender][0](product), []

    def refuse(task: Any, *_: Any, **__: Any) -> None:
        tried.append(task.name)
        raise OperationalError("the broker is away")

    monkeypatch.setattr(TickingTask, "apply_async", refuse, raising=False)
    act()  # the row is the truth, and a sweep finds it
    assert tried == [SENDERS[sender][1]]


@transaction.atomic
def _given_up(act: Act) -> None:
    act()
    raise Undone


def test_every_service_that_sends_is_tried() -> None:
    """By its own call, or by handing the call of another one to `on_commit`."""
    rooms = [path.parent for path in ROOT.glob("*/services")]
    files = [file for room in rooms for file in (room / "services").rglob("*.py")]
    assert {str(file.relative_to(ROOT)) for file in files if _sends(file)} == set(SENDERS)


def _sends(file: Path) -> bool:
    tree = ast.walk(ast.parse(file.read_text()))
    names = {node.attr for node in tree if isinstance(node, ast.Attribute)}
    return bool(names & {"delay", "apply_async", "send_task", "on_commit"})
