"""Scenarios in the words of people."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.capacity import examine
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.scenario import EXAMPLES, Scenario, ScenarioError, parse_scenario
from tests.reference_document import changed

REFERENCE = load_document(changed()).document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short_assistant +60%", Scenario(factors={"short_assistant": Decimal("1.6")})),
        ("short assistant +60 %", Scenario(factors={"short_assistant": Decimal("1.6")})),
        ("Short Assistant -25%", Scenario(factors={"short_assistant": Decimal("0.75")})),
        ("short_assistant x1.6", Scenario(factors={"short_assistant": Decimal("1.6")})),
        ("short_assistant 1.6x", Scenario(factors={"short_assistant": Decimal("1.6")})),
        ("short_assistant 144/s", Scenario(arrivals={"short_assistant": Decimal(144)})),
        ("short_assistant = 144/s", Scenario(arrivals={"short_assistant": Decimal(144)})),
        ("spike 1.4", Scenario(spike=Decimal("1.4"))),
        ("1.4x spike", Scenario(spike=Decimal("1.4"))),
        ("a spike of 1.4x", Scenario(spike=Decimal("1.4"))),
        ("all +40%", Scenario(spike=Decimal("1.4"))),
        ("lose group 3", Scenario(lost=frozenset({3}))),
        ("lose 1 group", Scenario(lost_groups=1)),
        ("lose a group", Scenario(lost_groups=1)),
        ("lose two groups", Scenario(lost_groups=2)),
        ("candidate takes 4 devices", Scenario(lent_devices=4)),
        ("candidate takes four devices", Scenario(lent_devices=4)),
    ],
)
def test_a_phrase_is_a_scenario(text: str, expected: Scenario) -> None:
    assert parse_scenario(text, REFERENCE) == expected


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_that_an_error_shows_can_be_read(text: str) -> None:
    assert parse_scenario(text, REFERENCE) != Scenario()


@pytest.mark.parametrize(
    "text",
    [
        "short_assistant +60%, lose group 3, candidate takes 4 devices",
        "short_assistant +60%; lose group 3 and candidate takes four devices",
        ["short_assistant +60%", "lose group 3", "candidate takes 4 devices"],
    ],
)
def test_phrases_combine(text: Any) -> None:
    assert parse_scenario(text, REFERENCE) == Scenario(
        factors={"short_assistant": Decimal("1.6")}, lost=frozenset({3}), lent_devices=4
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("short_asistant +60%", "did you mean short_assistant"),
        ("zzz +60%", "it has classification"),
        ("short_assistant is up", "can't read 'short_assistant is up'; for example"),
        ("", "no scenario was given"),
        (" , ;", "no scenario was given"),
        ("short_assistant -101%", "takes away more than there is"),
        ("short_assistant +60%, short_assistant 9/s", "given twice"),
        ("spike 2, all +10%", "given twice"),
        ("lose group 8", "the fleet has groups 1 to 7"),
        ("lose group 0", "the fleet has groups 1 to 7"),
        ("lose group 3, lose group 3", "lost twice"),
        ("lose 8 groups", "the fleet has 7"),
        ("lose 7 groups and lose group 1", "8 groups are lost"),
        ("candidate takes 29 devices", "of 28 devices"),
        ("spike 10001", "over 10,000"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=r".") as caught:
        parse_scenario(text, REFERENCE)
    assert said in str(caught.value)


def test_a_class_may_be_called_all() -> None:
    given = changed()
    given["classes"]["all"] = given["classes"]["classification"]
    document: PolicyDocument = load_document(given).document
    assert parse_scenario("all +10%", document).factors == {"all": Decimal("1.1")}


NAMES = ["short_assistant", "spike", "all", "two", "and", "group", "groups", "devices"]
WORDS = [
    "lose",
    "candidate takes",
    "+",
    "-",
    "%",
    "/s",
    "x",
    "=",
    ",",
    "1",
    "40",
    "0.5",
    "99999999",
]


@given(
    st.lists(st.sampled_from([*NAMES, *WORDS]), max_size=12).map(" ".join) | st.text(max_size=80)
)
def test_any_words_are_a_possible_scenario_or_our_own_error(text: str) -> None:
    try:
        scenario = parse_scenario(text, REFERENCE)
    except ScenarioError:
        return
    assert examine(REFERENCE, scenario).load.demand_teu_per_s >= 0
    assert set(scenario.factors) | set(scenario.arrivals) <= set(REFERENCE.classes)
