"""Figures at the edge of what a document may say are decided by, and end no decision in a fault."""

import time
from typing import Any

import pytest

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.request import AdmissionRequest, Reason
from orchid.engine.document.load import DocumentErrors, load_document
from tests.small_policy import small_document, small_policy


@pytest.mark.parametrize("decode_ms", [5e-324, 1e-300, 1e-9, 1e300])
@pytest.mark.parametrize("explain", [False, True])
def test_a_token_may_take_next_to_no_time_or_all_of_it(decode_ms: float, explain: bool) -> None:
    timing = {**small_document()["models"]["full"]["timing"], "decode_ms_per_token": decode_ms}
    policy = small_policy(models__full__timing=timing, admission__max_queued_teu=0)
    request: dict[str, Any] = {"request_id": "r1", "class_": "chat", "arrived_ms": 0.0}
    late = AdmissionRequest(**request, input_tokens=7_000, max_output_tokens=900)
    decision = decide(late, idle_state(policy), policy, 995.0, explain=explain)
    assert decision.reason is Reason.DEADLINE_INFEASIBLE


def test_a_fleet_that_nobody_could_lay_out_is_refused_in_words_and_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(DocumentErrors) as refused:
        load_document(small_document(fleet__devices=10**15))
    (error,) = refused.value.errors
    assert (error.pointer, "10" in error.allowed) == ("/fleet/devices", True)
    assert time.monotonic() - began < 5.0
