"""What approvers signed stops a stage that every gate of the document lets pass."""

import pytest

from gates.models import Evaluation, Verdict
from orchid.engine.verdict.accepted import PREFIX
from policies.models import Product
from releases.models import Rollout
from tests.releases.desk import Desk
from tests.releases.traffic_cast import Gateway, at, canaried, live, living, ticks


@pytest.fixture
def gateway(product: Product) -> Gateway:
    return living(product)


@pytest.fixture
def rollout(product: Product, gateway: Gateway, on_breach: str) -> Rollout:
    """Signed at 1,310 ms where the gate is 1,500 ms; its canary runs since ten minutes."""
    stages = [{"canary": 0.5, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
    gateway.delivers(live(product), "incumbent", 200, 1_320.0)
    ticks()
    return canaried(gateway, at(10), stages=stages, on_breach=on_breach)


def held_to(rollout: Rollout) -> float:
    """The bound that follows from the signed p95, between it and its gate."""
    trade = Desk("eve").reads(f"proposals/{rollout.proposal_id}")["trade"]
    told = trade["accepted"]["completion_p95_ms"][""]
    assert float(told["accepted"]) == 1_310
    return float(told["bound"])


@pytest.mark.parametrize("on_breach", ["rollback", "pause"])
def test_a_stage_that_keeps_every_gate_and_not_what_was_signed_is_stopped(
    product: Product, gateway: Gateway, rollout: Rollout, on_breach: str
) -> None:
    bound = held_to(rollout)
    assert 1_310 < bound < 1_450
    gateway.delivers(rollout.publication, "candidate", 250, 1_450.0)
    gateway.delivers(rollout.publication, "incumbent", 250, 1_320.0)
    ticks()
    gates = Verdict.objects.filter(evaluation=latest_judgement(rollout))
    gates = gates.exclude(metric__startswith=PREFIX)
    assert set(gates.values_list("verdict", flat=True)) == {"pass"}
    said = "1,450 ms where 1,310 ms was accepted, 1,410 ms is the most (its gate: 1,500 ms)"
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert told["state"] == {"rollback": "rolled_back", "pause": "paused"}[on_breach]
    assert "no gate failed, a figure that was signed did" in told["reason"]
    assert f"accepted:completion_p95_ms, whole: fail: {said}" in told["reason"]
    assert f"What was accepted of Completion p95, whole: fail: {said}" in Desk("eve").page(
        "rollout"
    )
    (act,) = Desk("eve").reads(f"audit?action=rollout.{on_breach}")["results"]
    assert (act["actor"], said in act["reason"]) == ("orchid", True)
    newest = live(product)
    assert (newest.kind, newest.reason) == (on_breach, told["reason"])


def latest_judgement(rollout: Rollout) -> Evaluation:
    """Of the candidate, under the publication at which the traffic came."""
    found = Evaluation.objects.filter(
        window__publication=rollout.publication.number, window__cohort="candidate"
    )
    return found.latest("pk")


@pytest.mark.parametrize("on_breach", ["rollback"])
def test_a_stage_within_the_room_beside_what_was_signed_goes_on(
    product: Product, gateway: Gateway, rollout: Rollout, on_breach: str
) -> None:
    assert held_to(rollout) > 1_350
    gateway.delivers(rollout.publication, "candidate", 250, 1_350.0)
    gateway.delivers(rollout.publication, "incumbent", 250, 1_320.0)
    ticks()
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["state"], told["stage_index"]) == ("running", 1), told["blockers"]
    assert (live(product).kind, live(product).fraction) == ("advance", 1.0)
