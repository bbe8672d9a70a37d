"""Segments that are held back or go ahead: each is judged at its own stage."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from controlplane.errors import BadInput, Conflict
from gates.models import Window
from orchid.engine.wire.bundle import Exposure, verify
from policies.models import Product
from releases.keys import public_keys
from releases.models import Edge, Publication, Rollout
from releases.selectors.exposure import exposure
from releases.selectors.progress.condition import Condition
from releases.services import rollout as moves
from releases.services.reconcile import reconcile
from releases.services.stage import hold_back, let_go
from tests.releases.releases_cast import actor
from tests.releases.stage_cast import (
    APART,
    EXTRACTION,
    PREMIUM,
    STANDARD,
    activated,
    found,
    fresh,
    judged_by_segment,
    passes,
    served,
    staged,
    waits,
)

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s"},
    {"canary": 0.5, "hold": "20s"},
    {"canary": 1.0, "hold": "20s"},
]
ALL_PASS = dict.fromkeys(("whole", "assistant_standard", "assistant_premium", "extraction"), "pass")


def rolling(product: Product, gateway: Edge, **changes: Any) -> Rollout:
    return staged(product, gateway, *STAGES, strata=APART, **changes)


def ticked(rollout: Rollout) -> Rollout:
    reconcile(rollout.product_id, timezone.now())
    return fresh(rollout)


def again(rollout: Rollout, gateway: Edge) -> Rollout:
    """The edge runs the newest publication since five minutes."""
    return activated(rollout, gateway, timezone.now() - timedelta(minutes=5))


def stages(rollout: Rollout) -> dict[str, int]:
    return {lane.place.segment: lane.place.stage for lane in found(rollout).lanes}


def exposed(publication: Publication) -> Exposure:
    slug, now = publication.product.slug, timezone.now()
    keys = public_keys()
    bundle = verify(publication.token, keys, product=slug, floor_publication=0, now=now)
    assert bundle.exposure is not None
    return bundle.exposure


def test_what_is_held_back_stays_while_the_rest_goes_on(product: Product, gateway: Edge) -> None:
    rollout = rolling(product, gateway)
    held = hold_back(actor("dee"), rollout, PREMIUM, "their contract renews on Friday")
    assert held.publication == rollout.publication
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "assistant_premium": "no_data"})
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 1, PREMIUM: 0}
    told = exposed(rollout.publication)
    assert (told.fraction, [(one.where, one.fraction) for one in told.apart]) == (
        0.5,
        [({"task": ("assistant",), "tenant_class": ("premium",)}, 0.1)],
    )
    rollout = again(rollout, gateway)
    windows = Window.objects.filter(publication=rollout.publication.number)
    assert {window.cohort: window.is_split for window in windows} == {
        "candidate": True,
        "incumbent": True,
    }


def test_no_share_is_called_that_of_everything_while_a_segment_is_apart(
    product: Product, gateway: Edge, client: Client, people: dict[str, User]
) -> None:
    rollout = staged(product, gateway, *STAGES[1:], strata=APART)
    hold_back(actor("dee"), rollout, PREMIUM, "their contract renews on Friday")
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "assistant_premium": "no_data"})
    assert ticked(rollout).publication.fraction == 1.0
    client.force_login(people["dee"])
    page = client.get(reverse("releases:publications", args=[product.slug])).content.decode()
    newest = page.partition("<article")[2].partition("</article")[0]
    assert "Everything" not in newest
    assert "Answers nobody" not in newest
    assert f"<dt>{PREMIUM}</dt><dd>50 % of it by the candidate</dd>" in newest
    assert "(100 %), segments apart," in client.get("/").content.decode()


def test_what_goes_ahead_needs_its_own_fresh_pass_and_nobody_elses(
    product: Product, gateway: Edge
) -> None:
    rollout = rolling(product, gateway)
    let_go(actor("dee"), rollout, EXTRACTION, "it is far from its floor")
    judged_by_segment(
        rollout,
        timezone.now(),
        whole="inconclusive",
        assistant_standard="pass",
        assistant_premium="no_data",
        extraction="pass",
    )
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 0, EXTRACTION: 1}
    assert rollout.publication.kind == "advance"
    waited_for = _of_rest(again(rollout, gateway), "no_data")
    assert [one.of for one in waited_for if one.now.startswith("no data")] == [PREMIUM]
    said = " ".join(one.said for one in waited_for)
    assert "segment assistant-premium: no_data: 0 of 200 requests" in said


def _of_rest(rollout: Rollout, premium: str) -> list[Condition]:
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "assistant_premium": premium})
    return list(found(rollout).rest.open)


def test_a_pass_is_claimed_only_where_all_that_is_asked_passes(
    product: Product, gateway: Edge
) -> None:
    rollout = rolling(product, gateway)
    hold_back(actor("dee"), rollout, PREMIUM, "their contract renews on Friday")
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "assistant_premium": "inconclusive"})
    told = {
        lane.place.segment: [(one.now, one.met) for one in lane.conditions if one.name == "gates"]
        for lane in found(rollout).lanes
    }
    assert told == {"": [("pass", True)], PREMIUM: [("fresh", True)]}


def test_a_segment_that_did_not_pass_goes_nowhere(product: Product, gateway: Edge) -> None:
    rollout = rolling(product, gateway, apart=[EXTRACTION])
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "extraction": "inconclusive"})
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 1, EXTRACTION: 0}


def test_segments_that_are_ready_together_move_in_one_publication(
    product: Product, gateway: Edge
) -> None:
    rollout = rolling(product, gateway, apart=[EXTRACTION, PREMIUM])
    judged_by_segment(rollout, timezone.now(), **ALL_PASS)
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 1, EXTRACTION: 1, PREMIUM: 1}
    assert Publication.objects.filter(kind="advance").count() == 1
    assert exposed(rollout.publication).apart == ()


def test_harm_in_a_segment_that_went_ahead_rolls_everything_back(
    product: Product, gateway: Edge
) -> None:
    rollout = rolling(product, gateway, apart=[EXTRACTION], on_breach="rollback")
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "extraction": "fail"})
    assert ticked(rollout).state == "rolled_back"


def test_it_completes_only_when_every_segment_has_come_and_the_whole_passes(
    product: Product, gateway: Edge
) -> None:
    rollout = rolling(product, gateway)
    hold_back(actor("dee"), rollout, PREMIUM, "their contract renews on Friday")
    for _ in range(3):
        judged_by_segment(rollout, timezone.now(), **ALL_PASS)
        rollout = again(ticked(rollout), gateway) if found(rollout).ready else ticked(rollout)
    assert (rollout.state, stages(rollout)) == ("running", {"": 2, PREMIUM: 0})
    let_go(actor("dee"), rollout, PREMIUM, "it is Saturday")
    for _ in range(2):
        judged_by_segment(rollout, timezone.now(), **ALL_PASS)
        rollout = again(ticked(rollout), gateway)
    assert stages(rollout) == {"": 2, PREMIUM: 2}
    assert ticked(rollout).state == "running"
    passes(rollout)
    assert ticked(rollout).state == "completed"


@pytest.mark.parametrize(
    ("segment", "strata", "code"),
    [
        ("nobody", APART, "not_gated"),
        (PREMIUM, ["tenant_class"], "not_a_stratum"),
    ],
)
def test_a_segment_that_can_not_stand_apart_is_refused_with_the_reason(
    product: Product, gateway: Edge, segment: str, strata: list[str], code: str
) -> None:
    rollout = staged(product, gateway, *STAGES, strata=strata)
    with pytest.raises(Conflict) as refused:
        hold_back(actor("dee"), rollout, segment, "why not")
    assert refused.value.code == code
    assert fresh(rollout).version == rollout.version


def test_before_the_canary_nobody_stands_apart_and_a_reason_is_always_given(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, {"observe": "1h"}, *STAGES, strata=APART, apart=[PREMIUM])
    assert stages(rollout) == {"": 0}
    with pytest.raises(Conflict) as refused:
        hold_back(actor("dee"), rollout, PREMIUM, "why not")
    assert refused.value.code == "before_canary"
    with pytest.raises(BadInput):
        hold_back(actor("dee"), rollout, PREMIUM, "  ")
    assert not AuditEvent.objects.filter(action="rollout.hold_back").exists()


def test_the_page_counts_each_stratum_in_requests_and_in_teu(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, *STAGES, strata=["tenant_class"])
    served(rollout.publication, "candidate", 2, teu=900.0)
    served(rollout.publication, "incumbent", 18, teu=100.0)
    served(rollout.publication, "incumbent", 10, teu=100.0, tenant_class="premium")
    whole, *strata = exposure(rollout.publication, timezone.now())
    assert (whole.requests, whole.of_requests, whole.planned) == (2, 30, 0.1)
    seen = {one.stratum: (one.by_requests, one.by_teu) for one in strata}
    assert seen == {"tenant_class=standard": (0.1, 0.5), "tenant_class=premium": (0.0, 0.0)}


def test_a_pause_and_a_resume_keep_everyone_at_their_stage(product: Product, gateway: Edge) -> None:
    rollout = rolling(product, gateway, apart=[STANDARD])
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "extraction": "no_data"})
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 0, STANDARD: 1}
    before = exposed(rollout.publication)
    paused = moves.pause(actor("dee"), rollout, "a look first")
    assert exposed(paused.publication) == before
    resumed = moves.resume(actor("dee"), paused, "all well")
    assert exposed(resumed.publication) == before
    assert waits(resumed).startswith("Not every edge runs it")
