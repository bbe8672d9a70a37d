"""Conditions that reopen a decision: a breach is one item, which people answer."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR, person
from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from gates.lifecycle import MOVES, Move, land
from gates.models import RevisitItem
from gates.services.revisit import watch
from gates.states import RevisitState
from gates.tasks import watch_revisits
from ingest.services import servers
from orchid.engine.rollup import Figure
from tests.engine.measured_cells import figure
from tests.gates.fallback_cast import Falling, with_fallback
from tests.gates.gates_cast import SLUG, STEP, Judged, api, machine, posted, someone

FALLBACK = {"trigger": "fallback_rise", "measure": "share", "max": 0.25, "window": "2m"}


def watched(**changes: Any) -> Falling:
    return Falling(with_fallback() | {"revisit": [FALLBACK | changes]})


def items(**which: Any) -> list[RevisitItem]:
    return list(RevisitItem.objects.filter(**which).order_by("id"))


def only(**which: Any) -> RevisitItem:
    (row,) = items(**which)
    return row


def look(judged: Judged, later: int = 0) -> int:
    """Judge and watch, so many minutes on."""
    now = judged.now + later * STEP
    if later:
        judged.count_up_to(now)
    judged.judge(now)
    return watch(judged.product, now)


@pytest.mark.django_db
def test_a_rise_of_fallback_opens_one_item_with_its_evidence() -> None:
    judged = watched()
    judged.served(700, minute=-1)
    judged.served(300, route="compact", minute=-1)
    assert look(judged) == 1
    assert look(judged) == 0
    row = only(trigger="fallback_rise")
    assert (row.owner, row.state, row.digest) == ("product_owner", "open", judged.digest)
    told = row.evidence
    assert (told["value"], told["max"], told["n"]) == ("0.3", "0.25", 1000)
    assert told["evaluation"] == judged.window.evaluations.latest("id").pk
    assert told["inputs_digest"].startswith("sha256:")
    assert AuditEvent.objects.filter(action="revisit.opened").count() == 1


@pytest.mark.django_db
def test_at_its_bound_nothing_opens_and_with_few_requests_nothing_is_known() -> None:
    judged = watched()
    judged.served(750, minute=-1)
    judged.served(250, route="compact", minute=-1)
    assert look(judged) == 0
    few = RevisitItem.objects.count()
    judged.served(199, route="compact", minute=3)
    assert look(judged, 5) == few == 0


@pytest.mark.django_db
def test_it_closes_when_the_condition_holds_and_opens_anew_when_it_breaks_again() -> None:
    judged = watched()
    judged.served(500, route="compact", minute=-1)
    look(judged)
    judged.served(500, minute=2)
    look(judged, 4)
    first = only(trigger="fallback_rise")
    assert (first.state, first.resolved_by) == ("resolved", "orchid")
    assert first.recovered_at is not None
    judged.served(500, route="compact", minute=7)
    assert look(judged, 9) == 1
    assert [row.state for row in items(trigger="fallback_rise")] == ["resolved", "open"]


@pytest.mark.django_db
def test_what_a_person_resolved_stays_resolved_until_it_held() -> None:
    judged = watched()
    judged.served(500, route="compact", minute=-1)
    look(judged)
    row = only(trigger="fallback_rise")
    ben = someone("ben", "product_owner")
    body = {"expected_version": 1, "reason": "A planned drill"}
    assert posted(ben, f"revisits/{row.pk}/resolve", body).status_code == 200
    assert look(judged) == 0
    judged.served(500, minute=2)
    look(judged, 4)
    held = only(trigger="fallback_rise")
    assert (held.resolved_by, held.reason, held.is_broken) == ("ben", "A planned drill", False)
    judged.served(500, route="compact", minute=7)
    assert look(judged, 9) == 1


@pytest.mark.django_db
def test_a_failed_gate_reopens_and_is_only_mended_by_a_pass() -> None:
    judged = Judged()
    judged.everywhere(400, good=200)
    look(judged)
    breached = items(trigger="gate_breach")
    assert {row.subject for row in breached} >= {"attainment", "attainment A"}
    assert all(row.owner == "product_owner" for row in breached)
    judged.no_edge_tells()
    look(judged, 1)
    assert all(row.is_broken for row in items(trigger="gate_breach"))


@pytest.mark.django_db
def test_a_segment_under_its_floor_reopens() -> None:
    document = with_fallback()
    document["segments"]["floors"] = [{"where": {}, "min_utility": 0.95}]
    judged = Falling(document)
    judged.served(5000)
    look(judged)
    row = only(trigger="segment_floor")
    assert (row.evidence["value"], row.evidence["bound"]) == ("0.93", "0.95")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("condition", "figures"),
    [
        (
            {"trigger": "cancel_to_release", "max": 200},
            {"cancel_to_release_ms": figure("cancel_to_release_ms", *[250.0] * 300)},
        ),
        (
            {"trigger": "calibration_drift", "max": 0.1},
            {
                "teu_predicted": figure("teu_predicted", *[10.0] * 300),
                "teu_observed": figure("teu_observed", *[12.0] * 300),
            },
        ),
        (
            {"trigger": "cache_allocation", "max": 0.000001},
            {"live_token_ms": figure("live_token_ms", *[9_000_000.0] * 300)},
        ),
        (
            {"trigger": "queue_dwell_max_ms", "max": 900},
            {"queue_ms": figure("queue_ms", *[901.0] * 300)},
        ),
    ],
    ids=lambda value: value.get("trigger", ""),
)
def test_every_measure_over_its_bound_reopens(
    condition: dict[str, Any], figures: dict[str, Figure]
) -> None:
    judged = watched(**condition)
    judged.served(300, minute=-1, figures=figures)
    look(judged)
    assert only(trigger=condition["trigger"]).evidence["n"] == 300


@pytest.mark.django_db
def test_a_mix_that_moved_since_the_decision_reopens_without_being_asked_for() -> None:
    """The always watched bound is 15 % over a day, so the window has to be two days old."""
    judged = Falling()
    judged.window.opens_at = judged.opens_at = judged.now - timedelta(days=3)
    judged.window.save(update_fields=["opens_at"])
    told = {"input_tokens": figure("input_tokens", *[100.0] * 300)}
    days = 24 * 60
    for task, minute in (("a", -3 * days), ("b", -3 * days), ("a", -1)):
        judged.served(300, task=task, minute=minute, figures=told)
    look(judged)
    row = only(trigger="mix_change")
    assert (row.evidence["value"], row.evidence["max"], row.owner) == ("0.5", "0.15", "sre")


@pytest.mark.django_db
def test_a_server_that_holds_another_manifest_reopens_until_it_is_right() -> None:
    judged = Judged()
    judged.everywhere(300)
    server = servers.register(
        SYSTEM_ACTOR, judged.product, "four", {"http_url": "http://127.0.0.1:9"}
    )
    server.findings = [
        {
            "code": "weights_differ",
            "text": "other weights",
            "next": "reload",
            "model": "full",
            "expected": "a",
            "found": "b",
            "breaks_manifest": True,
        }
    ]
    server.save(update_fields=["findings"])
    look(judged)
    row = only(trigger="manifest_change")
    assert (row.subject, row.evidence["expected"]) == ("four weights_differ full", "a")
    server.findings = []
    server.save(update_fields=["findings"])
    look(judged)
    assert only(trigger="manifest_change").state == "resolved"


@pytest.mark.django_db
def test_an_upstream_that_can_change_reopens() -> None:
    document = with_fallback()
    document["models"]["compact"]["pinned"] = False
    judged = Falling(document)
    judged.served(300)
    look(judged)
    assert only(trigger="upstream_unpinned").subject == "compact"


@pytest.mark.django_db
def test_a_generation_that_is_no_longer_live_asks_nothing_any_more() -> None:
    judged = watched()
    judged.served(500, route="compact", minute=-1)
    look(judged)
    judged.window.closes_at = judged.now
    judged.window.save(update_fields=["closes_at"])
    watch(judged.product, judged.now)
    row = only(trigger="fallback_rise")
    assert (row.state, row.reason) == ("resolved", "The generation is no longer live.")


@pytest.mark.django_db
def test_the_tick_looks_at_every_live_product() -> None:
    judged = watched()
    judged.served(500, route="compact", minute=-1)
    judged.judge()
    assert watch_revisits() == 1
    assert watch_revisits() == 0


@pytest.fixture
def opened(db: None) -> RevisitItem:
    judged = watched()
    judged.served(500, route="compact", minute=-1)
    look(judged)
    return only(trigger="fallback_rise")


@pytest.mark.parametrize("state", RevisitState)
@pytest.mark.parametrize("move", Move)
def test_a_move_that_is_not_in_the_table_is_refused(
    opened: RevisitItem, state: RevisitState, move: Move
) -> None:
    resolved_at = opened.opened_at if state is RevisitState.RESOLVED else None
    RevisitItem.objects.filter(pk=opened.pk).update(state=state, resolved_at=resolved_at)
    someone("ben", "product_owner")
    ben = person(User.objects.get(username="ben"))
    if (state, move) in MOVES:
        moved = land(opened.pk, move, ben, opened.opened_at, reason="because")
        assert moved.state == MOVES[state, move].to
        return
    with pytest.raises(Conflict) as refused:
        land(opened.pk, move, ben, opened.opened_at, reason="because")
    assert refused.value.code == "move_not_allowed"


def answered(client: Client, row: RevisitItem, move: str, **body: Any) -> int:
    status: int = posted(client, f"revisits/{row.pk}/{move}", body).status_code
    return status


def test_only_people_with_a_vote_resolve_and_with_a_reason(opened: RevisitItem) -> None:
    told = {"expected_version": 1, "reason": "because"}
    assert answered(machine(), opened, "resolve", **told) == 403
    assert answered(someone("una", "engineer"), opened, "resolve", **told) == 403
    dee = someone("dee", "sre")
    assert answered(dee, opened, "resolve", expected_version=1, reason=" ") == 400
    assert answered(dee, opened, "resolve", **told | {"expected_version": 2}) == 409
    assert answered(dee, opened, "resolve", **told) == 200
    assert answered(dee, opened, "resolve", **told) == 409
    assert AuditEvent.objects.filter(action="revisit.resolve", reason="because").count() == 1


def test_the_pages_list_items_and_draw_what_one_may_do(opened: RevisitItem) -> None:
    ana, eve = someone("ana", "engineer"), someone("eve", "auditor")
    listed = ana.get(f"/products/{SLUG}/revisits/").content.decode()
    assert "Fallback rose" in listed
    page = f"/products/{SLUG}/revisits/{opened.pk}/"
    assert "I look into it" in ana.get(page).content.decode()
    assert "I look into it" not in eve.get(page).content.decode()
    moved = ana.post(f"{page}acknowledge/", {"expected_version": 1})
    assert moved.headers["Location"] == page
    opened.refresh_from_db()
    assert (opened.state, opened.acknowledged_by) == ("acknowledged", "ana")
    part = ana.get(f"/products/{SLUG}/revisits/?state=waiting", headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert ana.get(f"/products/{SLUG}/revisits/{opened.pk + 1}/").status_code == 404


def test_the_hall_and_the_gates_count_what_waits(opened: RevisitItem) -> None:
    ben, dee = someone("ben", "product_owner"), someone("dee", "sre")
    assert "1 to look at again" in ben.get("/").content.decode()
    assert "1 to look at again" not in dee.get("/").content.decode()
    assert "1 to look at again" in dee.get(f"/products/{SLUG}/gates/").content.decode()


def test_machines_read_items(opened: RevisitItem) -> None:
    body = machine().get(api("revisits?state=waiting")).json()
    assert [row["trigger"] for row in body["results"]] == ["fallback_rise"]
    one = machine_get(f"revisits/{opened.pk}")
    assert one["evidence"]["value"] == "1"


def machine_get(path: str) -> Any:
    return someone("eve", "auditor").get(api(path)).json()
