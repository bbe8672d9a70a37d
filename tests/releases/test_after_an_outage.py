"""Workers were down while edges went on: one stage is entered, on evidence that is judged anew."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent
from policies.models import Product
from releases.models import EdgeSeen, Publication, Rollout
from tests.ingest.ingest_cast import count_waiting
from tests.releases.desk import Desk
from tests.releases.stage_cast import activated, fresh
from tests.releases.traffic_cast import Gateway, at, canaried, live, living, ticks

STAGES: list[dict[str, Any]] = [{"canary": share, "hold": "20s"} for share in (0.5, 0.75, 1.0)]
#: What a stage's part of the traffic is to the incumbent's, in requests of each segment.
PARTS = {0.5: (250, 250), 0.75: (300, 100)}


@pytest.fixture
def gateway(product: Product) -> Gateway:
    return living(product)


def stores(gateway: Gateway, rollout: Rollout) -> None:
    """Edges deliver what both cohorts served within the last minute; nobody counts it yet."""
    publication = fresh(rollout).publication
    for cohort, each in zip(("candidate", "incumbent"), PARTS[publication.fraction], strict=True):
        gateway.stores(publication, cohort, each, 400.0, within_s=40)
    EdgeSeen.objects.update(at=timezone.now())


def backlog() -> None:
    """Every tick that waited in the queue runs at once."""
    for _ in range(4):
        ticks()


# Case 8
def test_of_three_holds_without_workers_one_stage_remains_to_be_entered_afresh(
    product: Product, gateway: Gateway
) -> None:
    rollout = canaried(gateway, at(1), stages=STAGES)
    stores(gateway, rollout)
    ticks()
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert told["stage_index"] == 0
    count_waiting()
    backlog()
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["stage_index"], told["stage_opened_at"]) == (1, None), told["blockers"]
    rollout = activated(rollout, gateway.edge, at(1))
    backlog()
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert told["stage_index"] == 1
    assert told["blockers"]
    assert AuditEvent.objects.filter(action="rollout.advance").count() == 1
    stores(gateway, rollout)
    count_waiting()
    backlog()
    assert Desk("dee").reads(f"rollouts/{rollout.pk}")["stage_index"] == 2
    assert Publication.objects.filter(kind="advance").count() == 2
    assert live(product).fraction == 1.0
