import pytest

from orchid.engine.trial_evidence import (
    DECLARABLE,
    MEASURED,
    Fact,
    FactError,
    declared_facts,
    support,
)

WHOLE = {fact.value: "told" for fact in Fact} | {
    "loop": "open",
    "residency": "both",
    "cache_state": "both",
}


def test_open_cold_and_warm_and_complete_supports_an_advance() -> None:
    found = support(WHOLE, requests=1000)
    assert (found.supports, found.reasons, found.missing) == (True, (), ())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"loop": "closed"}, "Closed loop"),
        ({"residency": "warm"}, "Warm only"),
        ({"cache_state": "warm"}, "Warm only"),
    ],
)
def test_a_closed_or_warm_trial_never_supports_one(change: dict[str, str], reason: str) -> None:
    found = support(WHOLE | change, requests=1000)
    assert not found.supports
    assert found.reasons[0].startswith(reason)


@pytest.mark.parametrize("fact", list(Fact))
def test_each_missing_fact_is_named_and_enough_to_say_no(fact: Fact) -> None:
    found = support({name: text for name, text in WHOLE.items() if name != fact}, requests=1000)
    assert not found.supports
    assert found.missing == (fact,)
    assert fact.label.lower() in found.reasons[-1]


@pytest.mark.parametrize(
    ("simulated", "whole", "requests"), [(True, True, 9), (False, False, 9), (False, True, None)]
)
def test_a_simulated_torn_or_uncounted_trial_is_no_evidence(
    simulated: bool, whole: bool, requests: int | None
) -> None:
    assert not support(WHOLE, simulated=simulated, whole=whole, requests=requests).supports


def test_declared_facts_are_checked_and_blank_ones_left_out() -> None:
    given = {"loop": "open", "mix": " chat ", "manifest": "", "unknown": "x"}
    assert declared_facts(given) == {"loop": "open", "mix": "chat"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("loop", "half"), ("residency", "hot"), ("mix", "a" * 201), ("mix", "a\nb"), ("mix", "\x00")],
)
def test_a_fact_that_is_none_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(FactError, match=name):
        declared_facts({name: text})


def test_distributions_are_measured_and_can_t_be_declared() -> None:
    assert set(DECLARABLE) | set(MEASURED) == set(Fact)
    assert declared_facts(dict.fromkeys(MEASURED, "fine")) == {}
