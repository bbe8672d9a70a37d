"""Every reason has its step, its answer to the client and its words: none is half added."""

import pytest

from orchid.engine.admission.explain_option import NOWHERE
from orchid.engine.admission.policy import compile_policy
from orchid.engine.admission.refusal import refusal
from orchid.engine.admission.request import STEPS, Reason
from orchid.engine.document.model import PolicyDocument

ADMITS = {
    Reason.REQUESTED,
    Reason.CONSERVATIVE_ROUTE,
    Reason.FALLBACK_PREFERRED,
    Reason.FALLBACK_OVERLOAD,
    Reason.FALLBACK_NEEDED,
    Reason.FALLBACK_SOURCES,
    Reason.BOUNDED_BY_DEADLINE,
    Reason.OUTPUT_CAPPED,
}
#: Says why another route was no option; the request itself is refused for its own route's reason.
NEVER_ALONE = {Reason.FALLBACK_PROHIBITED}


def test_a_reason_that_neither_admits_nor_defers_has_a_step() -> None:
    assert set(Reason) - ADMITS - {Reason.DEFERRED} == set(STEPS)


@pytest.mark.parametrize("reason", sorted(set(STEPS) - NEVER_ALONE))
def test_a_refused_client_is_told_whose_limit_it_met(
    reason: Reason, reference: PolicyDocument
) -> None:
    answer = refusal(reason, compile_policy(reference), "r1")
    assert (answer.status, answer.scope) in {(422, "request"), (429, "tenant"), (503, "fleet")}


def test_each_reason_for_no_place_has_words() -> None:
    assert set(NOWHERE) == {reason for reason, step in STEPS.items() if step == "place"}
