"""Observe, shadow and hard limits: each goes on by facts of its own, or by a person."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from controlplane.errors import Conflict
from ingest.models import ShadowCount, Source
from orchid.engine.wire.bundle import verify
from policies.models import Product
from releases.keys import public_keys
from releases.models import Edge, EdgeSeen
from releases.services import rollout as moves
from releases.services.reconcile import reconcile
from tests.releases.releases_cast import actor
from tests.releases.stage_cast import found, fresh, served, staged, waits

CANARY: dict[str, Any] = {"canary": 1.0, "hold": "20s"}


def test_observe_goes_on_once_every_account_knows_a_request_by_its_id(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, {"observe": "20s", "survival": 0.9}, CANARY)
    assert "No completed request has been recorded in this stage." in waits(rollout)
    served(rollout.publication, "incumbent", 17)
    served(rollout.publication, "incumbent", 2, attempt={"accelerator_ms": None})
    served(rollout.publication, "incumbent", 1, policy_valid=None)
    asked_at = _next_minute()
    assert waits(rollout, asked_at) == (
        "17 of 20 completed requests (85.0 %) are known to every account by their id; "
        "fewest to device (18)."
    )
    served(rollout.publication, "incumbent", 10)
    later = _next_minute(2)
    assert waits(rollout, later) == ""
    reconcile(product.pk, later)
    assert fresh(rollout).publication.kind == "advance"


def _next_minute(minutes: int = 1) -> datetime:
    """Shares of records are read once a minute. The edge is heard then."""
    at = timezone.now() + timedelta(minutes=minutes)
    EdgeSeen.objects.update(at=at)
    return at


def test_observe_tells_how_far_teu_are_from_what_was_predicted_cell_by_cell(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, {"observe": "20s", "teu_error": 0.1}, CANARY)
    assert "No request has told the TEU that it used." in waits(rollout)
    served(rollout.publication, "incumbent", 10, observed=150)
    served(rollout.publication, "incumbent", 10, observed=50, tenant_class="premium")
    assert waits(rollout) == "TEU are 50.0 % from what was predicted, cell by cell."
    served(rollout.publication, "incumbent", 200, observed=100)
    served(rollout.publication, "incumbent", 200, observed=100, tenant_class="premium")
    assert waits(rollout) == ""


def told(product: Product, publication: int, mode: str, **counts: int) -> None:
    source = Source.objects.filter(product=product).first() or Source.objects.create(
        product=product, kind="edge", name="edge-1"
    )
    now = timezone.now()
    for counted, n in counts.items():
        ShadowCount.objects.update_or_create(
            source=source,
            publication=publication,
            mode=mode,
            counted=counted,
            near=0,
            defaults={"n": n, "first_at": now, "last_at": now},
        )


def test_shadow_goes_on_by_enough_decisions_that_agree(product: Product, gateway: Edge) -> None:
    asked = {"shadow": "20s", "agreement": 0.9, "decisions": 100}
    rollout = staged(product, gateway, asked, CANARY)
    assert "0 of 100 decisions were made on both sides." in waits(rollout)
    number = rollout.publication.number
    told(product, number, "shadow", same=80, route=20)
    assert waits(rollout) == "The candidate decides as the incumbent in 80.0 % of 100."
    told(product, number, "shadow", same=980, route=20)
    assert waits(rollout) == ""


def test_hard_limits_go_on_as_long_as_they_refuse_no_more_than_declared(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, {"hard_limits": "20s", "max_refused": 0.02}, CANARY)
    assert "0 of 200 decisions" in waits(rollout)
    number = rollout.publication.number
    told(product, number, "hard_limits", same=950, refuses=50)
    assert "The limits refuse 5.0 % that would have been served (50)." in waits(rollout)
    told(product, number, "hard_limits", same=4950, refuses=50)
    assert waits(rollout) == ""


@pytest.mark.parametrize("kind", ["observe", "shadow", "hard_limits"])
def test_what_bounds_nothing_waits_for_a_person_and_for_its_time(
    product: Product, gateway: Edge, kind: str
) -> None:
    rollout = staged(product, gateway, {kind: "5m"}, CANARY)
    for _ in range(3):
        reconcile(product.pk, timezone.now())
    assert (fresh(rollout).stage_index, found(rollout).by_hand) == (0, True)
    moves.advance(actor("dee"), fresh(rollout))
    assert fresh(rollout).stage_index == 1


def test_a_person_advances_no_stage_before_its_time(product: Product, gateway: Edge) -> None:
    rollout = staged(product, gateway, {"observe": "1h"}, CANARY)
    with pytest.raises(Conflict) as refused:
        moves.advance(actor("dee"), rollout)
    assert refused.value.code == "not_ready"
    assert "The hold is not over: 10 min of 1 h." in refused.value.detail


def test_edges_are_told_what_a_stage_asks_of_them(product: Product, gateway: Edge) -> None:
    rollout = staged(product, gateway, {"shadow": "1h"}, CANARY)
    token = rollout.publication.token
    slug = product.slug
    bundle = verify(token, public_keys(), product=slug, floor_publication=0, now=timezone.now())
    assert bundle.exposure is not None
    assert (bundle.exposure.kind, bundle.exposure.fraction) == ("shadow", 0.0)
