"""Peers are handed the document's own rules: told as permits and forbids they answer the same."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine.documents import REFERENCE
from benchmarks.engine.reference import reference_policy
from benchmarks.engine.rules import UTILITY_SCALE, allowed, questions, rules_of
from benchmarks.engine.traffic import Arrivals, Door
from orchid.engine.document.load import load_document
from tests.reference_document import changed

DOCUMENT = load_document(REFERENCE.read_bytes()).document
ROUTES = st.sampled_from(sorted(DOCUMENT.models))
ATTRIBUTES = st.builds(
    lambda requested, route, task, tenant_class, risk, utility: {
        "requested": requested,
        "route": route,
        "fallback": "no" if requested == route else "yes",
        "task": task,
        "tenant_class": tenant_class,
        "risk": risk,
        "utility": utility,
    },
    ROUTES,
    ROUTES,
    st.sampled_from(["short_assistant", "long_assistant", "document_generation"]),
    st.sampled_from(["standard", "premium"]),
    st.sampled_from(["low", "high", "regulated"]),
    st.integers(8_900, 9_350),
)


def by_rules(attributes: Mapping[str, str | int]) -> bool:
    """Permits and forbids, a forbid winning: what every peer does with them."""
    said = {
        rule.permits
        for rule in rules_of(DOCUMENT)
        if all(attributes[name] in values for name, values in rule.where.items())
        and (rule.below is None or int(attributes["utility"]) < rule.below)
    }
    return said == {True}


@given(ATTRIBUTES)
def test_the_rules_told_to_peers_answer_as_the_engine_does(
    attributes: dict[str, str | int],
) -> None:
    assert by_rules(attributes) is allowed(DOCUMENT, attributes)


def test_a_floor_under_a_wider_one_is_refused_rather_than_told_wrongly() -> None:
    floors = [
        {"where": {}, "min_utility": 0.9},
        {"where": {"risk": "high"}, "min_utility": 0.8},
    ]
    segments = {"floors": floors}
    document = load_document(changed(segments=segments)).document
    with pytest.raises(ValueError, match="can't be told"):
        rules_of(document)


def test_questions_are_answered_both_ways_and_reach_every_rule() -> None:
    policy = reference_policy()
    asked = questions(Arrivals(policy).take(2_000), policy)
    answers = [allowed(policy.document, question.attributes) for question in asked]
    assert 0.2 < sum(answers) / len(answers) < 0.8
    for rule in rules_of(policy.document):
        assert any(
            all(q.attributes[name] in values for name, values in rule.where.items())
            and int(q.attributes["utility"]) < (rule.below or UTILITY_SCALE)
            for q in asked
        )


def test_the_declared_load_is_admitted_and_everything_is_settled_but_what_is_in_flight() -> None:
    door = Door(reference_policy())
    door.pass_through(door.arrivals.take(1_000))
    assert door.admitted > 0.98
    assert len(door.state.live) == len(door.held)
