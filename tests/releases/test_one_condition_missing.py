"""Everything that a stage asks for holds but one thing: page, API and guard name that one, with its
numbers, and nothing moves."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from ingest.models import ServerChange
from ingest.services import servers
from policies.models import Product
from releases.models import Edge, Rollout
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from tests.releases.desk import Desk
from tests.releases.releases_cast import actor, published
from tests.releases.stage_cast import activated, fresh, passes, served
from tests.releases.test_stage_conditions import rehearsed

LAST: dict[str, Any] = {"canary": 1.0, "hold": "20s"}
CANARY: dict[str, Any] = {
    "canary": 0.1,
    "hold": "20s",
    "minimum_per_stratum": 20,
    "cache_cycles": 3,
    "peak": 0.5,
}
OBSERVE: dict[str, Any] = {"observe": "20s", "survival": 0.9, "teu_error": 0.1}
WHOLE = ["peak", "cold_start", "drill"]


@dataclass(frozen=True)
class Lacking:
    """What is left out, and what is said of it."""

    name: str
    said: str
    now: str
    asked: str


OF_A_CANARY = [
    Lacking("sample", "12 of 20 requests in stratum tenant_class=premium.", "12", "20"),
    Lacking(
        "hold",
        "The hold is not over: 10 min of 15 min (3 cache cycles).",
        "10 min",
        "15 min (3 cache cycles)",
    ),
    Lacking(
        "peak",
        "This rollout has had 60 requests in its busiest hour; a peak is 90.",
        "60",
        "90 % of 100 requests in the week’s busiest hour",
    ),
    Lacking(
        "cold_start",
        "No server of pool four has come up cold during this rollout.",
        "none",
        "one server",
    ),
    Lacking(
        "drill",
        "In the last rehearsal 0 of 1 edges could have rolled back.",
        "0 of 1 edges",
        "every edge ready",
    ),
]
OF_OBSERVE = [
    Lacking(
        "survival",
        "17 of 20 completed requests (85.0 %) are known to every account by their id; "
        "fewest to device (17).",
        "85.0 %",
        "90.0 %",
    ),
    Lacking(
        "teu_error",
        "TEU are 50.0 % from what was predicted, cell by cell.",
        "50.0 %",
        "10.0 % at most",
    ),
]


def ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


def begun(product: Product, *stages: dict[str, Any], **changes: Any) -> Rollout:
    """Published a quarter of an hour ago; no edge has it yet, so nothing has been read of it."""
    rollout = published(product, stages=list(stages), strata=["tenant_class"], **changes)
    Rollout.objects.filter(pk=rollout.pk).update(created_at=ago(15))
    return fresh(rollout)


def canary(product: Product, gateway: Edge, lacks: str) -> Rollout:
    busy = timezone.now().replace(minute=30) - timedelta(hours=5)
    first = latest(product)
    assert first is not None
    served(first, "incumbent", 100 if lacks == "peak" else 60, at=busy)
    cycle = "5m" if lacks == "hold" else "1m"
    rollout = begun(product, CANARY, LAST, before_whole=WHOLE, cache_cycle=cycle)
    premium = 12 if lacks == "sample" else 25
    served(rollout.publication, "candidate", premium, tenant_class="premium")
    served(rollout.publication, "candidate", 60 - premium)
    if lacks != "cold_start":
        wish = {"http_url": "http://127.0.0.1:9", "pool": "four"}
        server = servers.register(actor("ana"), product, "four", wish)
        ServerChange.objects.create(server=server, at=timezone.now(), state="ready")
    rehearsed(rollout.publication, gateway, "refused" if lacks == "drill" else "ready")
    rollout = activated(rollout, gateway, ago(10))
    passes(rollout)
    return rollout


def observed(product: Product, gateway: Edge, lacks: str) -> Rollout:
    rollout = begun(product, OBSERVE, LAST)
    used = 150 if lacks == "teu_error" else 100
    served(rollout.publication, "incumbent", 17, observed=used)
    unknown = {"accelerator_ms": None} if lacks == "survival" else {}
    served(rollout.publication, "incumbent", 3, observed=used, attempt=unknown)
    return activated(rollout, gateway, ago(10))


def is_all_that_is_missing(lacking: Lacking, rollout: Rollout) -> None:
    """By every door, and at the next tick."""
    dee = Desk("dee")
    told = dee.reads(f"rollouts/{rollout.pk}")
    (lane,) = told["segments"]
    unmet, *rest = (one for one in lane["conditions"] if not one["met"])
    # A pass has to cover the hold, so that it waits for the same moment.
    assert {one["until"] for one in rest} <= {lane["hold_until"]}
    assert told["earliest"] == unmet["until"]
    assert told["blockers"][0] == lacking.said
    assert (unmet["name"], unmet["now"], unmet["asked"]) == (
        lacking.name,
        lacking.now,
        lacking.asked,
    )
    page = Desk("eve").page("rollout")
    for words in (lacking.said, lacking.now, lacking.asked):
        assert words in page
    seen = {"expected_version": told["version"]}
    status, refused = dee.asks(f"rollouts/{rollout.pk}/advance", **seen)
    assert (status, refused["code"]) == (409, "not_ready")
    assert refused["detail"].startswith(lacking.said)
    reconcile(rollout.product_id, timezone.now())
    assert fresh(rollout).stage_index == 0


@pytest.mark.parametrize("lacking", OF_A_CANARY, ids=lambda one: str(one.name))
def test_before_everybody_is_served_the_one_thing_that_lacks_is_named(
    product: Product, gateway: Edge, lacking: Lacking
) -> None:
    is_all_that_is_missing(lacking, canary(product, gateway, lacking.name))


@pytest.mark.parametrize("lacking", OF_OBSERVE, ids=lambda one: str(one.name))
def test_while_nothing_is_served_yet_the_one_thing_that_lacks_is_named(
    product: Product, gateway: Edge, lacking: Lacking
) -> None:
    is_all_that_is_missing(lacking, observed(product, gateway, lacking.name))


@pytest.mark.parametrize("reached", [canary, observed])
def test_with_nothing_missing_the_next_tick_goes_on(
    product: Product, gateway: Edge, reached: Any
) -> None:
    rollout = reached(product, gateway, "")
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 1
