"""One request explained: read from words, decided on an idle or on a loaded fleet."""

import pytest

from orchid.engine.document.load import load_document
from orchid.engine.explanation import Asked, AskedError, explain, read_asked
from tests.reference_document import SOURCE

DOCUMENT = load_document(SOURCE).document


def test_words_become_a_request() -> None:
    words = {
        "class": "short_assistant",
        "tenant_class": "premium",
        "language": " de ",
        "input_tokens": "700",
        "load": "80",
        "tenant": "",
    }
    assert read_asked(words, DOCUMENT) == Asked(
        "short_assistant",
        tenant_class="premium",
        segment={"language": "de"},
        input_tokens=700,
        load=80,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "name a class: classification"),
        ({"clas": "x"}, "did you mean class?"),
        ({"class": "x", "input_tokens": "-1"}, "whole number from 0"),
        ({"class": "x", "input_tokens": "²"}, "whole number from 0"),
        ({"class": "x", "load": "2001"}, "from 0 to 2,000"),
        ({"class": "x", "deadline_in_ms": "9" * 5000}, "from 0 to 3,600,000"),
    ],
)
def test_words_that_describe_no_request_say_what_would(words: dict[str, str], said: str) -> None:
    with pytest.raises(AskedError, match=said.replace("?", r"\?")):
        read_asked(words, DOCUMENT)


def test_on_an_idle_fleet_nothing_runs_and_nothing_waits() -> None:
    found = explain(DOCUMENT, Asked("short_assistant"))
    assert (found.running, found.waiting, found.places) == (0, 0, 28 * 24)
    assert (found.decision.action, found.decision.reason) == ("admit", "requested")


def test_each_option_that_fell_out_has_its_question_and_reason() -> None:
    found = explain(DOCUMENT, Asked("short_assistant", deadline_in_ms=230))
    assert (found.decision.action, found.decision.reason) == ("fallback", "fallback_needed")
    refused = [(one.option, one.step) for one in found.decision.explained if one.reason]
    assert refused == [("full", "time"), ("full bounded", "time")]


def test_more_load_has_more_running_and_never_more_than_there_are_places() -> None:
    running = [explain(DOCUMENT, Asked("long_assistant", load=n)).running for n in (0, 100, 400)]
    assert running[0] == 0 < running[1] < running[2] <= 28 * 24


def test_a_load_beyond_every_share_refuses_what_the_idle_fleet_admits() -> None:
    def answer(load: int) -> str:
        return str(explain(DOCUMENT, Asked("classification", load=load)).decision.reason)

    assert answer(0) == answer(100) == "requested"
    assert answer(2000) == "share_exhausted"


def test_the_same_question_has_the_same_answer() -> None:
    asked = Asked("document_generation", load=120)
    assert explain(DOCUMENT, asked) == explain(DOCUMENT, asked)
