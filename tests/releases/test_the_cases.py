"""Known cases of decisions and edges, by the API and on the pages that people read."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent
from gates.services import evaluate
from gates.services.ticking import tick as gates_tick
from policies.models import Product
from releases.models import Edge, EdgeSeen, Publication, Rollout
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from tests.releases.desk import OF_PRODUCT, Desk, approved, proposed, votes
from tests.releases.releases_cast import document, edge, judged, published, says
from tests.releases.stage_cast import candidate_window, fresh, served, staged

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s"},
    {"canary": 0.25, "hold": "20s"},
    {"canary": 1.0, "hold": "20s"},
]
DEARER = {"full": {"input_usd_per_million": "2.50", "output_usd_per_million": "10"}}


def with_deadline(given: dict[str, Any], deadline_ms: int) -> dict[str, Any]:
    return {**given, "contract": {**given["contract"], "deadline_ms": deadline_ms}}


# Case 1
def test_a_stage_says_by_name_which_segment_is_silent_and_nothing_moves(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, STAGES[0], STAGES[2])
    served(rollout.publication, "candidate", 120)
    evaluate(candidate_window(rollout).pk, timezone.now())
    for _ in range(3):
        reconcile(product.pk, timezone.now())
    said = "segment assistant-premium: no data: 0 of 100 requests"
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["state"], told["stage_index"]) == ("running", 0)
    assert any(said in one for one in told["blockers"]), told["blockers"]
    assert said in Desk("eve").page("rollout")
    assert Publication.objects.latest("number") == rollout.publication


# Case 5
def test_a_split_that_is_off_keeps_the_stage_and_says_which_count(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, STAGES[0], STAGES[2])
    served(rollout.publication, "candidate", 60)
    served(rollout.publication, "incumbent", 140)
    evaluate(candidate_window(rollout).pk, timezone.now())
    reconcile(product.pk, timezone.now())
    said = "60 of 200 in the canary where about 20 are due"
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["state"], told["stage_index"]) == ("running", 0)
    assert said in " ".join(told["blockers"])
    assert said in Desk("eve").page("rollout")
    seen = {"expected_version": told["version"]}
    status, refused = Desk("dee").asks(f"rollouts/{rollout.pk}/advance", **seen)
    assert (status, said in refused["detail"]) == (409, True)


# Case 6
@pytest.mark.parametrize("door", ["api", "api with a key", "page"])
def test_what_was_edited_after_its_approval_is_not_published(product: Product, door: str) -> None:
    row = approved(document(2))
    seen, number = row["revision_digest"], row["generation"]
    edited = with_deadline(document(2), 1600)
    status, _ = Desk("ana").asks(
        f"{OF_PRODUCT}/generations/{number}/revisions", document=edited, expected_revision=1
    )
    assert status == 201
    dee, address = Desk("dee"), f"proposals/{row['id']}"
    if door == "page":
        form = {"expected_version": row["version"]}
        assert dee.sends("publish", row["id"], **form).status_code == 409
    else:
        key = "one" if door == "api with a key" else ""
        status, refused = dee.asks(f"{address}/publish", key, expected_version=row["version"])
        assert (status, refused["code"]) == (409, "approval_stale")
    reconcile(product.pk, timezone.now())
    now = dee.reads(address)
    assert (now["state"], now["round"]) == ("draft", 2)
    assert [(one["void"], one["round"]) for one in now["votes"]] == [(True, 1), (True, 1)]
    status, late = votes("cho", row)
    assert (status, late["code"]) == (409, "approval_stale")
    form = {"decision": "approve", "reason": "late", "bound_digest": row["bound_digest"]}
    assert Desk("cho").sends("vote", row["id"], **form).status_code == 409
    page = Desk("eve").page("proposal", row["id"])
    assert page.count("Approve, void") == 2
    assert "The document was edited after it was submitted" in page
    status, again = Desk("ana").asks(f"{address}/submit", expected_version=now["version"])
    assert (status, again["round"], again["revision_digest"] != seen) == (200, 2, True)
    assert Publication.objects.count() == 1


# Case 7
@pytest.mark.parametrize("door", ["api", "page"])
def test_what_was_approved_on_an_earlier_base_reverts_nothing(product: Product, door: str) -> None:
    eighth = approved(document(2))
    ninth = approved(with_deadline(document(2), 1600))
    assert eighth["base_digest"] == ninth["base_digest"]
    dee = Desk("dee")
    seen = {"expected_version": eighth["version"]}
    status, done = dee.asks(f"proposals/{eighth['id']}/publish", **seen)
    assert (status, done["state"]) == (200, "published")
    form = {"expected_version": ninth["version"]}
    if door == "page":
        answer = dee.sends("publish", ninth["id"], **form)
        assert (answer.status_code, b"Rebase it" in answer.content) == (409, True)
    else:
        status, refused = dee.asks(f"proposals/{ninth['id']}/publish", **form)
        assert (status, refused["code"]) == (409, "base_changed")
    newest = dee.reads(f"{OF_PRODUCT}/publications")["items"][0]
    assert (newest["number"], newest["candidate_digest"]) == (2, eighth["revision_digest"])
    page = Desk("ana").page("proposal", ninth["id"])
    assert "Something else became live since this was begun" in page
    assert "Rebase it" in page


# Case 7
def test_of_two_programs_that_save_one_draft_the_second_is_refused(product: Product) -> None:
    row = proposed(document(2))
    address = f"{OF_PRODUCT}/generations/{row['generation']}/revisions"
    first: dict[str, Any] = {"document": with_deadline(document(2), 1600), "expected_revision": 1}
    second: dict[str, Any] = {"document": with_deadline(document(2), 1400), "expected_revision": 1}
    assert Desk("ana").asks(address, **first)[0] == 201
    status, refused = Desk("cho").asks(address, **second)
    assert status == 409
    assert "1" in refused["detail"]


def ready_at(product: Product, gateway: Edge) -> Rollout:
    """The first stage of three, activated, its hold over and freshly passed, by the real clock."""
    rollout = staged(product, gateway, *STAGES)
    judged(candidate_window(rollout), "pass", timezone.now())
    EdgeSeen.objects.update(at=timezone.now())
    return fresh(rollout)


# Case 8
@pytest.mark.parametrize("first", ["api", "page", "tick"])
def test_whoever_asks_first_advances_and_the_others_are_told(
    product: Product, gateway: Edge, first: str
) -> None:
    rollout = ready_at(product, gateway)
    version, address = rollout.version, f"rollouts/{rollout.pk}/advance"
    dee, ben = Desk("dee"), Desk("ben")
    if first == "page":
        assert dee.sends("advance", rollout.pk, expected_version=version).status_code == 302
    elif first == "tick":
        reconcile(product.pk, timezone.now())
    else:
        status, told = dee.asks(address, "one-advance", expected_version=version)
        assert (status, told["stage_index"]) == (200, 1)
        assert dee.asks(address, "one-advance", expected_version=version) == (status, told)
    reconcile(product.pk, timezone.now())
    status, refused = ben.asks(address, "another", expected_version=version)
    assert (status, refused["code"]) == (409, "version_changed")
    late = ben.sends("advance", rollout.pk, expected_version=version)
    assert (late.status_code, f"acted on version {version}" in late.content.decode()) == (409, True)
    assert Publication.objects.filter(kind="advance").count() == 1
    assert AuditEvent.objects.filter(action="rollout.advance").count() == 1
    assert "Stage 2 of 3: canary 25 %" in ben.page("rollout")


# Case 8
def test_after_three_holds_without_workers_one_stage_is_entered_after_a_fresh_judgement(
    product: Product, gateway: Edge
) -> None:
    rollout = ready_at(product, gateway)
    back = timezone.now() + timedelta(seconds=3 * 60 + 1)
    EdgeSeen.objects.update(at=back)
    reconcile(product.pk, back)
    assert Desk("dee").reads(f"rollouts/{rollout.pk}")["stage_index"] == 0
    judged(candidate_window(rollout), "pass", back)
    for second in range(5):
        reconcile(product.pk, back + timedelta(seconds=second))
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["stage_index"], told["stage_opened_at"]) == (1, None)
    assert "Stage 2 of 3" in Desk("eve").page("rollout")
    assert AuditEvent.objects.filter(action="rollout.advance").count() == 1


# Case 10
def test_of_three_edges_one_refuses_and_one_is_silent_and_nothing_goes_on(
    product: Product, gateway: Edge
) -> None:
    refusing, silent = edge(product, "e2"), edge(product, "e3")
    for one in (refusing, silent):
        says(one, latest(product))
    rollout = published(product, stages=STAGES)
    says(gateway, rollout.publication)
    says(refusing, rollout.publication, "refused", "schema error at /fallback/3")
    EdgeSeen.objects.filter(edge=silent).update(at=timezone.now() - timedelta(minutes=10))
    reconcile(product.pk, timezone.now())
    dee = Desk("dee")
    rows = {row["name"]: row for row in dee.reads(f"{OF_PRODUCT}/edges")["items"]}
    told = {name: (row["wanted"], row["active"], row["standing"]) for name, row in rows.items()}
    assert told == {
        "edge-1": (2, 2, "active"),
        "e2": (2, 1, "refused"),
        "e3": (2, 1, "silent"),
    }
    assert rows["e2"]["reason"] == "schema error at /fallback/3"
    assert all(row["last_seen"] for row in rows.values())
    now = dee.reads(f"rollouts/{rollout.pk}")
    assert (now["stage_index"], now["stage_opened_at"]) == (0, None)
    missing = "Not every edge runs it: e2 (refused), e3 (silent)"
    assert missing in " ".join(now["blockers"])
    page = Desk("eve").page("edges")
    for words in ("schema error at /fallback/3", "refused", "silent", "Nothing heard"):
        assert words in page
    assert missing in Desk("eve").page("rollout")
    status, refused = dee.asks(f"rollouts/{rollout.pk}/advance", expected_version=now["version"])
    assert (status, missing in refused["detail"]) == (409, True)
    form = {"expected_version": now["version"]}
    assert dee.sends("advance", rollout.pk, **form).status_code == 409


# Case 33
def test_a_change_of_prices_alone_has_a_number_and_a_tag_of_its_own(product: Product) -> None:
    dee, address = Desk("dee"), f"/api/v1/{OF_PRODUCT}/bundle"
    before = dee.client.get(address)
    same = {"If-None-Match": before.headers["ETag"]}
    assert dee.client.get(address, headers=same).status_code == 304
    row = approved({**document(1), "prices": DEARER}, "ben")
    seen = {"expected_version": row["version"]}
    assert dee.asks(f"proposals/{row['id']}/publish", **seen)[0] == 200
    after = dee.client.get(address, headers=same)
    assert (after.status_code, after.headers["ETag"] != before.headers["ETag"]) == (200, True)
    newest = dee.reads(f"{OF_PRODUCT}/publications")["items"][0]
    assert (newest["number"], newest["kind"]) == (2, "price_change")
    assert newest["etag"] == after.headers["ETag"]
    assert "Price change" in dee.page("publications")


# Harm is answered within ten seconds of what shows it being stored
@pytest.mark.parametrize("on_breach", ["rollback", "pause"])
def test_stored_harm_stops_a_stage_within_ten_seconds_by_the_ticks_alone(
    product: Product, gateway: Edge, on_breach: str
) -> None:
    rollout = staged(product, gateway, STAGES[0], STAGES[2], on_breach=on_breach)
    served(rollout.publication, "candidate", 150, completion_ms=9_000.0)
    served(rollout.publication, "incumbent", 1_350)
    stored = timezone.now()
    took = seconds_until_stopped(product, rollout, stored)
    assert took <= 10
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert told["state"] == {"rollback": "rolled_back", "pause": "paused"}[on_breach]
    newest = Desk("dee").reads(f"{OF_PRODUCT}/publications")["items"][0]
    assert (newest["kind"], newest["actor"]) == (on_breach, "orchid")
    assert "On this publication’s own requests" in newest["reason"]


def _same(now: datetime) -> datetime:
    return now


def seconds_until_stopped(product: Product, rollout: Rollout, stored: datetime) -> int:
    """Gates tick each two seconds and releases each second, by the clock of the test."""
    for second in range(1, 31):
        now = stored + timedelta(seconds=second)
        EdgeSeen.objects.update(at=now)
        if second % 2 == 0:
            gates_tick(partial(_same, now))
        reconcile(product.pk, now)
        if fresh(rollout).state != "running":
            return second
    raise AssertionError("it was never stopped")
