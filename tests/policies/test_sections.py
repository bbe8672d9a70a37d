"""The sections of a generation's page, and one request tried on it."""

import pytest

from orchid.engine.document.load import load_document
from policies import services
from policies.models import Product
from policies.sections import capacity, cost, demand, latency, limits, routing, what_if
from tests.people import Cast
from tests.policies.test_generations import FIRST
from tests.reference_document import SOURCE, changed

DOCUMENT = load_document(SOURCE).document
PAGE = "/products/orchid-serve/generations/1/"


@pytest.fixture
def serve(cast: Cast) -> Product:
    return services.create_product(cast.actor("ben"), "orchid-serve", "Serve", document=SOURCE)


def test_a_scenario_says_who_grows_what_is_missing_and_what_would_close_it() -> None:
    found = what_if.asked(DOCUMENT, "short_assistant +60%, lose 1 group")
    assert found.loads is not None
    assert found.loads.rows[1][1:4] == ("102,660", "84,000", "−18,660")
    assert found.classes is not None
    changed_class = next(row for row in found.classes.rows if row[0] == "short_assistant")
    assert changed_class[-1] == "+18,630"
    assert [heading for heading, _ in found.ways_out] == [
        "The policy allows already",
        "To renegotiate",
    ]


@pytest.mark.parametrize("words", ["nobody +60%", "x" * 401, "lose 99 groups"])
def test_words_that_say_no_scenario_are_answered_by_why(words: str) -> None:
    found = what_if.asked(DOCUMENT, words)
    assert found.found is None
    assert found.problem


def test_a_success_is_priced_at_the_asked_rate_and_cut_on_the_card() -> None:
    card = cost.cost_card(DOCUMENT, "319.8")
    assert (card.cost, card.exactly, card.reserve) == (
        "$0.00015113",
        "$0.000151136127",
        "$0.000008863873",
    )


@pytest.mark.parametrize("at", ["0", "-1", "nan", "1e30", "many", "²", "9" * 30])
def test_a_rate_that_is_none_is_told(at: str) -> None:
    card = cost.cost_card(DOCUMENT, at)
    assert card.card is None
    assert card.problem


def test_without_a_rate_the_attainment_gate_says_it() -> None:
    assert cost.cost_card(DOCUMENT, " ").successes_per_s == "312"


def test_the_budget_of_a_class_adds_up_to_its_own_total() -> None:
    for one in latency.budgets(DOCUMENT):
        assert sum(term.ms for term in one.terms) == pytest.approx(one.total_ms)
    plot = latency.latency_plot(DOCUMENT)
    assert plot is not None
    assert [row[0] for row in plot.table.rows] == list(DOCUMENT.classes)


def test_without_timing_there_is_no_picture_of_it() -> None:
    models = changed()["models"]
    bare = {name: {k: v for k, v in one.items() if k != "timing"} for name, one in models.items()}
    assert latency.latency_plot(load_document(changed(models=bare)).document) is None


def test_a_route_without_a_price_leaves_the_figures_out_and_breaks_no_page() -> None:
    factors = {"version": "teu-3", "input_weight": 0.25, "model_factor": {"full": 1.0}}
    unpriced = load_document(changed() | {"demand": factors}).document
    assert demand.demand_table(unpriced).rows == []
    assert capacity.scenario_table(unpriced).rows == []
    assert capacity.fleet_facts(unpriced).steady is None
    assert routing.cascade_facts(unpriced) is None
    assert "no factor" in what_if.asked(unpriced, "spike 2").problem


def test_a_cascade_pays_up_to_its_break_even() -> None:
    facts = routing.cascade_facts(DOCUMENT)
    assert facts is not None
    assert (str(facts.ratio), str(facts.break_even), facts.is_declared) == ("0.45", "0.55", False)


def test_room_for_both_calls_is_looked_at_where_small_may_be_asked_first() -> None:
    table = routing.both_table(DOCUMENT)
    assert table is not None
    # Long assistants are always large, and the other classes ask for other routes.
    assert [row[0] for row in table.rows] == ["short_assistant"]


def test_a_level_of_the_share_tree_has_its_part_of_the_whole() -> None:
    table = limits.shares_table(DOCUMENT)
    assert table is not None
    rows = {str(row[0]).strip(): row[1:] for row in table.rows}
    assert rows["control"] == ("2 %", "5 %", "1,960", "4,900")
    # 0.98 of 98,000 are the region's, 0.30 of that is guaranteed to premium.
    assert rows["tenant_class/premium"] == ("30 %", "60 %", "28,812", "58,800")


def test_the_ladder_lists_every_rung_with_its_thresholds() -> None:
    table = limits.ladder_table(DOCUMENT)
    assert table is not None
    assert len(table.rows) == 5
    first = DOCUMENT.overload_steps[0].enter
    assert first is not None
    assert f"{first.queue_wait_ms} ms queue wait" in table.rows[0][2]


def test_the_page_says_what_the_document_comes_to(cast: Cast, serve: Product) -> None:
    text = cast.browser("eve").get(PAGE).content.decode()
    for figure in ("84,030", "98,000", "−30", "236,748", "$174.00", "closes exactly", "55.0 %"):
        assert figure in text, figure


def test_a_scenario_has_an_address_of_its_own(cast: Cast, serve: Product) -> None:
    asked = {"what_if": "short_assistant +60%, lose 1 group", "at": "319.8"}
    text = cast.browser("eve").get(PAGE, asked).content.decode()
    for said in ("18,660", "It does not fit", "Fund 6 more devices", "$0.00015113"):
        assert said in text, said


@pytest.mark.parametrize("asked", [{"at": "many"}, {"what_if": "nobody +1%"}, {"revision": "²"}])
def test_a_question_that_is_none_is_told_on_the_page(
    cast: Cast, serve: Product, asked: dict[str, str]
) -> None:
    answer = cast.browser("eve").get(PAGE, asked)
    assert answer.status_code == 200
    assert ("field--wrong" in answer.content.decode()) == ("revision" not in asked)


def test_a_tried_request_is_decided_and_explained(cast: Cast, serve: Product) -> None:
    asked = {"class": "document_generation", "deadline_in_ms": "400"}
    browser = cast.browser("eve")
    text = browser.get(f"{PAGE}try", asked).content.decode()
    assert "Deadline infeasible" in text
    assert "class=document_generation,deadline_in_ms=400" in text
    assert "input 12,000 + output 900 = 12,900 ≤ 16,384 tokens of context" in text
    partial = browser.get(f"{PAGE}try", asked, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in partial
    assert "Deadline infeasible" in partial


@pytest.mark.parametrize(
    "asked",
    [{}, {"class": "nobody"}, {"class": "classification", "load": "²"}, {"class": "x", "nn": "1"}],
)
def test_a_request_that_is_none_is_a_page_that_says_so(
    cast: Cast, serve: Product, asked: dict[str, str]
) -> None:
    assert cast.browser("eve").get(f"{PAGE}try", asked).status_code == 200


def test_the_demo_has_every_section_too(cast: Cast) -> None:
    services.create_product(cast.actor("ben"), "orchid-demo", "Demo", document=FIRST)
    assert cast.browser("eve").get("/products/orchid-demo/generations/1/").status_code == 200
