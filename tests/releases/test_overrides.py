"""An inconclusive stage goes on by two people's word, for one judgement of one stage, in the open.

Case 9.
"""

from datetime import datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR, Actor, machine
from accounts.models import AuditEvent, Grant, User
from accounts.services import issue_credential
from controlplane.errors import Conflict, Forbidden, Problem
from gates.models import Evaluation, Window
from policies.models import Product
from releases.lifecycle import OVERRIDE_MOVES, Move, land
from releases.models import Edge, Override, Rollout
from releases.selectors.overrides import Standing, behind_what_is_live
from releases.services import override
from releases.services.reconcile import reconcile
from releases.states import OverrideState
from tests.releases.desk import Desk
from tests.releases.releases_cast import SLUG, actor, judged, later, published, says

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]


@pytest.fixture
def rollout(product: Product, gateway: Edge) -> Rollout:
    """At its first stage, the clock running, nothing judged."""
    row = published(product, stages=STAGES)
    says(gateway, row.publication)
    reconcile(product.pk, timezone.now())
    row.refresh_from_db()
    return row


def says_now(rollout: Rollout, verdict: str, at: datetime, changed: bool = True) -> Evaluation:
    """What the gates say of the present stage from `at` on."""
    window = Window.objects.get(publication=rollout.publication.number, cohort="candidate")
    evaluation = judged(window, verdict, at)
    Evaluation.objects.filter(pk=evaluation.pk).update(changed=changed)
    return evaluation


def stage_after(product: Product, rollout: Rollout, at: datetime) -> int:
    reconcile(product.pk, at)
    rollout.refresh_from_db()
    return rollout.stage_index


def overridden(rollout: Rollout, evaluation: Evaluation) -> Override:
    row = override.ask(actor("ben"), rollout, evaluation.pk, "the night is quiet")
    return override.confirm(actor("dee"), row)


def test_two_people_let_an_inconclusive_stage_go_on(product: Product, rollout: Rollout) -> None:
    evaluation = says_now(rollout, "inconclusive", later(25))
    assert stage_after(product, rollout, later(26)) == 0
    row = override.ask(actor("ben"), rollout, evaluation.pk, "the night is quiet")
    assert override.in_force(rollout, evaluation) is None
    assert stage_after(product, rollout, later(27)) == 0
    override.confirm(actor("dee"), row)
    assert override.in_force(rollout, evaluation) == row
    assert stage_after(product, rollout, later(28)) == 1
    said = {act.action: act for act in AuditEvent.objects.filter(action__startswith="override")}
    assert said["override.asked"].reason == "the night is quiet"
    assert (said["override.confirm"].actor, said["override.confirm"].data["asked_by"]) == (
        "dee",
        "ben",
    )


def test_the_next_inconclusive_judgement_asks_again(
    product: Product, gateway: Edge, rollout: Rollout
) -> None:
    overridden(rollout, says_now(rollout, "inconclusive", later(25)))
    assert stage_after(product, rollout, later(26)) == 1
    says(gateway, rollout.publication, at=later(27))
    reconcile(product.pk, later(28))
    rollout.refresh_from_db()
    second = says_now(rollout, "inconclusive", later(55))
    assert override.in_force(rollout, second) is None
    reconcile(product.pk, later(56))
    rollout.refresh_from_db()
    assert (rollout.state, rollout.stage_index) == ("running", 1)


def test_it_covers_what_says_the_same_and_lapses_as_soon_as_a_gate_says_otherwise(
    product: Product, rollout: Rollout
) -> None:
    first = says_now(rollout, "inconclusive", later(5))
    row = overridden(rollout, first)
    same = says_now(rollout, "inconclusive", later(10), changed=False)
    assert override.in_force(rollout, same) == row
    other = says_now(rollout, "inconclusive", later(15), changed=True)
    assert override.in_force(rollout, other) is None
    after = says_now(rollout, "inconclusive", later(20), changed=False)
    assert override.in_force(rollout, after) is None
    assert [fact.standing for fact in behind_what_is_live(product)] == [Standing.LAPSED]


@pytest.mark.parametrize("verdict", ["fail", "no_data", "pass"])
def test_only_an_inconclusive_judgement_can_be_overridden(rollout: Rollout, verdict: str) -> None:
    evaluation = says_now(rollout, verdict, later(5))
    with pytest.raises(Conflict) as refused:
        override.ask(actor("ben"), rollout, evaluation.pk, "please")
    assert refused.value.code == "not_overridable"


def test_a_fail_after_the_override_stops_the_stage_all_the_same(
    product: Product, rollout: Rollout
) -> None:
    overridden(rollout, says_now(rollout, "inconclusive", later(5)))
    failed = says_now(rollout, "fail", later(10))
    assert override.in_force(rollout, failed) is None
    reconcile(product.pk, later(11))
    rollout.refresh_from_db()
    assert rollout.state == "paused"


def test_figures_of_unclear_origin_are_no_ones_to_override(rollout: Rollout) -> None:
    evaluation = says_now(rollout, "inconclusive", later(5))
    Evaluation.objects.filter(pk=evaluation.pk).update(
        validity={"state": "broken", "attribution": False, "checks": []}
    )
    with pytest.raises(Conflict, match="not certain"):
        override.ask(actor("ben"), rollout, evaluation.pk, "please")


def test_what_was_asked_of_another_judgement_can_not_be_confirmed(rollout: Rollout) -> None:
    row = override.ask(
        actor("ben"), rollout, says_now(rollout, "inconclusive", later(5)).pk, "quiet"
    )
    says_now(rollout, "inconclusive", later(10))
    with pytest.raises(Conflict) as refused:
        override.confirm(actor("dee"), row)
    assert refused.value.code == "override_stale"


@pytest.mark.parametrize(
    ("who", "code"),
    [("ben", "own_override"), ("ana", "forbidden"), ("eve", "forbidden"), ("cho", "")],
)
def test_the_second_person_is_another_one_with_the_right(
    rollout: Rollout, who: str, code: str
) -> None:
    row = override.ask(
        actor("ben"), rollout, says_now(rollout, "inconclusive", later(5)).pk, "quiet"
    )
    try:
        override.confirm(actor(who), row)
        told = ""
    except Problem as refused:
        told = refused.code
    assert told == code


def test_who_had_a_hand_in_the_proposal_does_not_confirm(product: Product, gateway: Edge) -> None:
    from accounts.roles import EVERY_PRODUCT, Role
    from accounts.services import grant

    grant(SYSTEM_ACTOR, User.objects.get(username="ana"), Role.SRE, EVERY_PRODUCT)
    row = published(product, stages=STAGES)
    says(gateway, row.publication)
    reconcile(product.pk, timezone.now())
    row.refresh_from_db()
    asked = override.ask(actor("ben"), row, says_now(row, "inconclusive", later(5)).pk, "quiet")
    with pytest.raises(Forbidden) as refused:
        override.confirm(actor("ana"), asked)
    assert refused.value.code == "own_proposal"


def test_a_machine_overrides_nothing(rollout: Rollout) -> None:
    credential, _ = issue_credential(
        SYSTEM_ACTOR,
        kind="ci",
        name="pipeline",
        product_slug=SLUG,
        owner=User.objects.get(username="ben"),
    )
    someone: Actor = machine(credential)
    evaluation = says_now(rollout, "inconclusive", later(5))
    with pytest.raises(Forbidden):
        override.ask(someone, rollout, evaluation.pk, "quiet")


def test_a_confirmed_override_is_never_rewritten(rollout: Rollout) -> None:
    row = overridden(rollout, says_now(rollout, "inconclusive", later(5)))
    for change in ({"reason": "another"}, {"state": "asked", "confirmed_by": None, "at": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Override.objects.filter(pk=row.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        Override.objects.filter(pk=row.pk).delete()


def test_every_later_page_shows_it(client: Client, product: Product, rollout: Rollout) -> None:
    evaluation = says_now(rollout, "inconclusive", later(25))
    client.force_login(User.objects.get(username="ben"))
    page = reverse("releases:rollout", args=[SLUG])
    assert "Ask for an override" in client.get(page).content.decode()
    form = {"evaluation": evaluation.pk, "reason": "the night is quiet"}
    asked = client.post(reverse("releases:ask-override", args=[SLUG, rollout.pk]), form)
    assert asked.status_code == 302
    assert "a second person has to confirm it" in client.get(page).content.decode()
    client.force_login(User.objects.get(username="dee"))
    assert "Confirm the override" in client.get(page).content.decode()
    row = Override.objects.get()
    address = reverse("releases:confirm-override", args=[SLUG, row.pk])
    assert client.post(address).status_code == 400
    confirmed = client.post(address, {"expected_version": row.version})
    assert confirmed.status_code == 302
    assert stage_after(product, rollout, later(26)) == 1
    client.force_login(User.objects.get(username="eve"))
    for address in (
        page,
        reverse("releases:overview", args=[SLUG]),
        reverse("releases:publications", args=[SLUG]),
        reverse("releases:proposal", args=[SLUG, rollout.proposal_id]),
        reverse("releases:record", args=[SLUG, rollout.proposal_id]),
    ):
        body = client.get(address).content.decode()
        assert "the night is quiet" in body, address
        assert "the stage went on by it" in body, address


def test_the_api_asks_and_confirms(client: Client, rollout: Rollout) -> None:
    evaluation = says_now(rollout, "inconclusive", later(25))
    url = f"/api/v1/rollouts/{rollout.pk}/overrides"
    body = {"evaluation": evaluation.pk, "reason": "quiet"}
    client.force_login(User.objects.get(username="ana"))
    headers = {"Idempotency-Key": "one"}
    assert client.post(url, body, "application/json", headers=headers).status_code == 403
    client.force_login(User.objects.get(username="ben"))
    asked = client.post(url, body, "application/json", headers={"Idempotency-Key": "two"})
    assert (asked.status_code, asked.json()["standing"]) == (201, "waits for a second person")
    confirm = f"/api/v1/overrides/{asked.json()['id']}/confirm"
    client.force_login(User.objects.get(username="dee"))
    seen = {"expected_version": client.get(confirm.removesuffix("/confirm")).json()["version"]}
    told = client.post(confirm, seen, "application/json", headers={"Idempotency-Key": "three"})
    assert (told.status_code, told.json()["confirmed_by"]) == (200, "dee")
    assert client.get(url).json()["items"][0]["standing"] == "in force"


@pytest.mark.parametrize("state", OverrideState)
def test_an_override_refuses_every_move_that_its_table_lacks(
    rollout: Rollout, state: OverrideState
) -> None:
    row = override.ask(
        actor("ben"), rollout, says_now(rollout, "inconclusive", later(5)).pk, "quiet"
    )
    if state == OverrideState.CONFIRMED:
        row = override.confirm(actor("dee"), row)
    acts = AuditEvent.objects.count()
    for move in (move for move in Move if (state, move) not in OVERRIDE_MOVES):
        with pytest.raises(Conflict) as refused:
            land(row, move, actor("dee"), lambda _: pytest.fail("it reached its decision"))
        assert refused.value.code == "move_not_allowed"
    row.refresh_from_db()
    assert (row.state, AuditEvent.objects.count()) == (state, acts)


@pytest.mark.parametrize("leaver", ["ben", "dee"])
def test_it_ends_as_soon_as_one_of_both_may_override_no_more(
    product: Product, rollout: Rollout, leaver: str
) -> None:
    evaluation = says_now(rollout, "inconclusive", later(25))
    overridden(rollout, evaluation)
    Grant.objects.filter(user__username=leaver).delete()
    assert override.in_force(rollout, evaluation) is None
    assert stage_after(product, rollout, later(26)) == 0
    told = Desk("eve").reads(f"rollouts/{rollout.pk}/overrides")["items"]
    assert [one["standing"] for one in told] == [Standing.ALONE]
    assert Standing.ALONE in Desk("eve").page("rollout")


def test_nobody_stands_behind_somebody_who_may_override_no_more(rollout: Rollout) -> None:
    evaluation = says_now(rollout, "inconclusive", later(25))
    row = override.ask(actor("ben"), rollout, evaluation.pk, "quiet")
    Grant.objects.filter(user__username="ben").delete()
    asked: dict[str, Any] = {"expected_version": row.version}
    status, refused = Desk("dee").asks(f"overrides/{row.pk}/confirm", **asked)
    assert (status, refused["code"]) == (409, "override_stale")
    assert "ben may not override here any more" in refused["detail"]
