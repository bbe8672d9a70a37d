"""Recorded requests through a generation that never ran: a queue with known answers."""

from dataclasses import dataclass, field

import pytest

from gates.prediction import Routed, completions_ms, route_of, routed
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from tests.gates.gates_cast import given


@dataclass
class Request:
    class_name: str = "short_assistant"
    dims: dict[str, str] = field(default_factory=dict)
    input_tokens: int | None = 1000
    output_tokens: int | None = 100
    max_output_tokens: int | None = 200


def waiting(*arrivals_ms: float, service_ms: float | None = 100.0) -> list[Routed]:
    return [Routed(at, {}, "full", service_ms, 1500.0) for at in arrivals_ms]


def document(**changes: object) -> PolicyDocument:
    return load_document({**given(), **changes}).document


def test_requests_wait_for_a_free_server_in_order_of_arrival() -> None:
    assert completions_ms(waiting(0, 0, 0), servers=1) == [100, 200, 300]
    assert completions_ms(waiting(0, 0, 0), servers=2) == [100, 100, 200]
    assert completions_ms(waiting(0, 100, 200), servers=1) == [100, 100, 100]
    assert completions_ms(waiting(0, 40), servers=1) == [100, 160]


def test_without_a_declared_service_time_nothing_is_predicted() -> None:
    assert completions_ms(waiting(0, service_ms=None), servers=1) is None
    assert completions_ms([], servers=1) is None


def test_a_preferred_fallback_takes_the_request_and_its_shorter_time() -> None:
    rule = {"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}
    policy = document(fallback=[rule])
    standard = Request(dims={"tenant_class": "standard"})
    premium = Request(dims={"tenant_class": "premium"})
    assert (route_of(policy, standard), route_of(policy, premium)) == ("compact", "full")
    quick, slow = routed(policy, [(0.0, standard), (0.0, premium)])
    assert quick.service_ms is not None
    assert slow.service_ms is not None
    assert quick.service_ms < slow.service_ms


def test_the_service_time_is_the_declared_one() -> None:
    policy = document()
    (found,) = routed(policy, [(0.0, Request())])
    timing = policy.models["full"].timing
    assert timing is not None
    work = 1000 / timing.prefill_tokens_per_s * 1000 + 100 * timing.decode_ms_per_token
    expected = timing.fixed_ms + timing.transfer_ms + work + policy.contract.post_model_reserve_ms
    assert found.service_ms == pytest.approx(expected)


def test_a_class_that_the_document_does_not_know_is_left_out() -> None:
    assert routed(document(), [(0.0, Request(class_name="unknown"))]) == []
