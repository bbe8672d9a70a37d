"""Two documents over the recorded requests: asked once, computed by a worker, then it stays."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import BadInput, Forbidden, NotFound
from gates.models import DecisionDiff
from gates.services import ask_decision_diff, recorded_diff
from gates.services.recorded_diff import FRESH, LEASE, MAX_TRIES, compute, waiting_diffs
from gates.states import DiffStatus
from ingest.models import Batch, Source
from ingest.services import process
from orchid.engine.document.parse import parse
from policies.models import Product
from policies.services import create_product, draft_generation
from tests.gates.gates_cast import EXAMPLES, SLUG
from tests.people import Cast, cast_in

UNKNOWN = "sha256:" + "0" * 64


def given(number: int) -> dict[str, Any]:
    document: dict[str, Any] = parse((EXAMPLES / f"generation-{number}.yaml").read_bytes(), "yaml")
    return document


class Two:
    """A product with two generations that decide differently, and requests of the first."""

    def __init__(self) -> None:
        self.product: Product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=given(1))
        self.before = str(self.product.generations.get(number=1).revisions.get().digest)
        after = draft_generation(SYSTEM_ACTOR, self.product, given(2), "Compact fallback")
        self.after = after.digest
        self.batches = 0

    def record(self, count: int, **changes: Any) -> None:
        """So many requests, one a second up to a minute ago, counted."""
        begins = timezone.now() - timedelta(seconds=count + 60)
        rows = [
            {
                "request_id": f"{self.batches}-{n}",
                "product": SLUG,
                "digest": self.before,
                "publication": 1,
                "tenant": f"tenant-{n % 3}",
                "tenant_class": "standard",
                "class": "short_assistant",
                "segment": {"task": "assistant", "tenant_class": "standard"},
                "arrived_at": (begins + timedelta(seconds=n)).isoformat(),
                "completion_ms": 300.0,
                "input_tokens": 600,
                "max_output_tokens": 60,
                "output_tokens": 40,
                "decision": {"action": "admit", "route": "full", "teu": "210"},
                "outcome": "completed",
                **changes,
            }
            for n in range(count)
        ]
        body = "\n".join(json.dumps(row) for row in rows).encode()
        source, _ = Source.objects.get_or_create(product=self.product, kind="edge", name="edge-1")
        batch = Batch.objects.create(
            product=self.product,
            source=source,
            batch_id=f"batch-{self.batches}",
            kind="edge",
            body=body,
            size=len(body),
            sha256="",
        )
        process(batch.pk)
        self.batches += 1

    def ask(self, **changes: Any) -> DecisionDiff:
        return ask_decision_diff(SYSTEM_ACTOR, self.product, self.before, self.after, **changes)

    def asked_and_computed(self) -> DecisionDiff:
        row = self.ask()
        compute(row.pk)
        row.refresh_from_db()
        return row


@pytest.fixture
def two(db: None) -> Two:
    return Two()


def test_asking_twice_gives_the_same_row(two: Two) -> None:
    assert two.ask().pk == two.ask().pk
    assert DecisionDiff.objects.count() == 1


def test_the_worker_is_told_when_the_asking_is_committed(
    two: Two, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as told:
        two.ask()
    with django_capture_on_commit_callbacks() as again:
        two.ask()
    assert (len(told), len(again)) == (1, 0)


def test_nothing_recorded_yet_is_an_answer_that_is_asked_again(two: Two) -> None:
    row = two.asked_and_computed()
    assert (row.status, row.requests, row.changed_share) == (DiffStatus.DONE, 0, None)
    assert two.ask().pk != row.pk


def test_recorded_requests_are_decided_by_both_documents(two: Two) -> None:
    two.record(30)
    row = two.asked_and_computed()
    assert (row.status, row.reason, row.requests) == (DiffStatus.DONE, "", 30)
    assert row.is_whole
    # Generation 2 serves standard tenants of the assistant by compact first.
    assert row.changed == 30
    (pair,) = row.content["pairs"]
    assert pair == {
        "before": {"action": "admit", "route": "full", "reason": "requested"},
        "after": {"action": "fallback", "route": "compact", "reason": "fallback_preferred"},
        "n": 30,
    }
    assert {part["tenant"]: part["n"] for part in row.content["tenants"]} == {
        "tenant-0": 10,
        "tenant-1": 10,
        "tenant-2": 10,
    }
    assert row.records_from is not None
    assert row.records_to is not None
    assert row.records_to - row.records_from == timedelta(seconds=29)


def test_a_done_one_is_kept_for_a_while_and_then_computed_anew(two: Two) -> None:
    two.record(3)
    row = two.asked_and_computed()
    assert two.ask().pk == row.pk
    assert two.ask(now=row.asked_at + FRESH).pk != row.pk


def test_a_done_one_never_changes(two: Two) -> None:
    two.record(3)
    row = two.asked_and_computed()
    for change in (
        lambda: DecisionDiff.objects.filter(pk=row.pk).update(changed=0),
        lambda: DecisionDiff.objects.filter(pk=row.pk).delete(),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_equal_requests_have_an_equal_name(two: Two) -> None:
    two.record(3)
    row = two.asked_and_computed()
    later = two.ask(now=row.asked_at + FRESH)
    compute(later.pk)
    later.refresh_from_db()
    assert later.inputs_digest == row.inputs_digest
    two.record(1)
    third = two.ask(now=later.asked_at + FRESH)
    compute(third.pk)
    third.refresh_from_db()
    assert third.inputs_digest != row.inputs_digest


def test_a_second_worker_leaves_what_the_first_one_has(two: Two) -> None:
    row = two.ask()
    DecisionDiff.objects.filter(pk=row.pk).update(
        status=DiffStatus.RUNNING, tries=1, lease_until=row.asked_at + LEASE
    )
    compute(row.pk, now=row.asked_at)
    row.refresh_from_db()
    assert row.status == DiffStatus.RUNNING
    assert waiting_diffs(row.asked_at) == []
    # Its worker was killed: once the lease is over somebody else does it.
    assert waiting_diffs(row.asked_at + LEASE) == [row.pk]
    compute(row.pk, now=row.asked_at + LEASE)
    row.refresh_from_db()
    assert (row.status, row.tries) == (DiffStatus.DONE, 2)


def test_what_fails_every_time_is_told_and_may_be_asked_again(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError

    row = two.ask()
    with monkeypatch.context() as patched:
        patched.setattr("gates.services.recorded_diff.decision_diff", broken)
        for tried in range(MAX_TRIES):
            compute(row.pk, now=row.asked_at + tried * LEASE)
    row.refresh_from_db()
    assert (row.status, row.reason) == (DiffStatus.FAILED, "ValueError while comparing")
    again = two.ask()
    assert (again.pk, again.status, again.tries) == (row.pk, DiffStatus.QUEUED, 0)


def test_who_asks_again_a_moment_later_takes_nothing_from_a_worker(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people press the button on one failed row, and a worker is quicker than the second."""
    two.record(3)
    row = two.ask()
    DecisionDiff.objects.filter(pk=row.pk).update(status=DiffStatus.FAILED, tries=MAX_TRIES)
    requeue = recorded_diff._requeue

    def after_a_worker(pk: int, now: datetime) -> None:
        DecisionDiff.objects.filter(pk=pk).update(status=DiffStatus.RUNNING, tries=1)
        requeue(pk, now)

    monkeypatch.setattr(recorded_diff, "_requeue", after_a_worker)
    again = two.ask()
    assert (again.pk, again.status, again.tries) == (row.pk, DiffStatus.RUNNING, 1)


def test_time_that_runs_out_says_so(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    two.record(3)
    monkeypatch.setattr("gates.services.recorded_diff.MOST_TIME", timedelta(seconds=-1))
    row = two.asked_and_computed()
    assert (row.status, row.is_whole, row.requests) == (DiffStatus.DONE, False, 0)


def test_only_the_newest_requests_are_compared(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    two.record(10)
    monkeypatch.setattr("gates.services.recorded_diff.MOST_REQUESTS", 4)
    row = two.asked_and_computed()
    assert row.requests == 4
    assert row.records_to is not None
    assert row.records_from == row.records_to - timedelta(seconds=3)


def test_documents_of_nobody_or_twice_the_same_are_refused(two: Two) -> None:
    with pytest.raises(NotFound):
        ask_decision_diff(SYSTEM_ACTOR, two.product, two.before, UNKNOWN)
    with pytest.raises(BadInput):
        ask_decision_diff(SYSTEM_ACTOR, two.product, two.before, two.before)
    assert not DecisionDiff.objects.exists()


@pytest.fixture
def cast(two: Two) -> Cast:
    return cast_in()


def test_who_may_only_read_asks_for_nothing(two: Two, cast: Cast) -> None:
    with pytest.raises(Forbidden):
        ask_decision_diff(cast.actor("eve"), two.product, two.before, two.after)


API = f"/api/v1/products/{SLUG}/decision-diffs"


def test_ci_asks_waits_and_reads(two: Two, cast: Cast) -> None:
    two.record(5)
    browser, key = cast.browser("ana"), {"Idempotency-Key": "k-1"}
    wanted = {"base_digest": two.before, "digest": two.after}
    asked = browser.post(API, wanted, "application/json", headers=key)
    assert (asked.status_code, asked.json()["status"]) == (202, "queued")
    again = browser.post(API, wanted, "application/json", headers=key)
    assert again.json() == asked.json()
    compute(asked.json()["id"])
    found = browser.get(f"{API}/{asked.json()['id']}").json()
    assert (found["status"], found["requests"], found["content"]["n"]) == ("done", 5, 5)
    assert browser.post(API, wanted, "application/json").status_code == 200
    listed = browser.get(API, {"digest": two.after}).json()["results"]
    assert [row["id"] for row in listed] == [found["id"]]
    assert browser.get(API, {"digest": UNKNOWN}).json()["results"] == []


def test_the_page_asks_again_by_itself_until_it_is_done(two: Two, cast: Cast) -> None:
    two.record(5)
    browser = cast.browser("ana")
    pages = f"/products/{SLUG}/decision-diffs/"
    asked = browser.post(f"{pages}ask", {"base_digest": two.before, "digest": two.after})
    address = asked.headers["Location"]
    waiting = browser.get(address, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 2s"' in waiting
    assert "<html" not in waiting
    compute(DecisionDiff.objects.get().pk)
    done = cast.browser("eve").get(address).content.decode()
    assert "hx-trigger" not in done.partition('id="decision-diff"')[2]
    assert "5 (100.0 %)" in done
    assert browser.get(f"{pages}999/").status_code == 404


def test_nothing_recorded_is_said_plainly(two: Two, cast: Cast) -> None:
    row = two.asked_and_computed()
    text = cast.browser("ana").get(f"/products/{SLUG}/decision-diffs/{row.pk}/").content.decode()
    assert "No recorded requests yet" in text
