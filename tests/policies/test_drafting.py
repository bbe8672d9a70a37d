"""A text is checked while it is written: faults with their lines, or what it comes to."""

import pytest

from policies import selectors, services
from policies.drafting import drafted
from policies.models import Product, Revision
from policies.views.few import PLACES
from tests.people import Cast
from tests.policies.test_generations import FIRST, SECOND

BASE = "/products/orchid-demo/generations/"
LIVE = {"check": "live"}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def demo(cast: Cast) -> Product:
    return services.create_product(cast.actor("ben"), "orchid-demo", "Demo", document=FIRST)


@pytest.fixture
def base(demo: Product) -> Revision:
    return selectors.revision(selectors.generation(demo, 1))


def line_of(text: str, start: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start))


def test_a_fault_names_its_line_what_was_found_and_the_nearest_key(base: Revision) -> None:
    text = SECOND.decode().replace("  devices: 4", "  devicez: 4")
    draft = drafted("orchid-demo", text, base)
    assert draft.content is None
    found = {fault.error.pointer: fault for fault in draft.faults}
    assert found["/fleet/devicez"].line == line_of(text, "devicez:")
    assert found["/fleet/devicez"].error.hint == "did you mean devices?"
    # A key that is missing stands where its section begins.
    assert found["/fleet/devices"].line == line_of(text, "fleet:")


def test_a_text_that_breaks_off_is_a_fault_on_the_line_of_the_break(base: Revision) -> None:
    draft = drafted("orchid-demo", "product: orchid-demo\ngates: [1,\n", base)
    assert [fault.error.code for fault in draft.faults] == ["not_yaml"]
    assert draft.faults[0].line in (2, 3)


def test_a_document_of_another_product_is_a_fault_at_its_name(base: Revision) -> None:
    text = SECOND.decode().replace("product: orchid-demo", "product: elsewhere")
    [fault] = drafted("orchid-demo", text, base).faults
    assert (fault.line, fault.error.code) == (line_of(text, "product:"), "other_product")


def test_a_sound_text_comes_to_figures_changes_and_approvals(base: Revision) -> None:
    content = drafted("orchid-demo", SECOND.decode(), base).content
    assert content is not None
    assert content.hourly_usd == 21
    assert not content.is_base
    assert content.required_approvals == {"product_owner": 1, "sre": 1}
    assert any("devices: 6 becomes 4" in change.words for change in content.changes)


def test_the_base_typed_again_changes_nothing(base: Revision) -> None:
    content = drafted("orchid-demo", FIRST.decode(), base).content
    assert content is not None
    assert (content.is_base, content.changes) == (True, [])


def test_while_one_types_only_the_checks_come_back(cast: Cast, demo: Product) -> None:
    typed = {"title": "", "document": SECOND.decode(), **LIVE}
    answer = cast.browser("ana").post(f"{BASE}new", typed, headers=HTMX)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in text
    assert 'id="checks"' in text
    assert "devices: 6 becomes 4" in text
    assert demo.generations.count() == 1


def test_a_fault_while_one_types_is_told_as_success_because_htmx_shows_no_refusal(
    cast: Cast, demo: Product
) -> None:
    answer = cast.browser("ana").post(f"{BASE}new", {"document": "a: [", **LIVE}, headers=HTMX)
    assert answer.status_code == 200
    assert "1 fault" in answer.content.decode()


def test_a_check_that_finds_no_room_is_refused_and_takes_no_thread(
    cast: Cast, demo: Product
) -> None:
    browser, typed = cast.browser("ana"), {"document": SECOND.decode(), **LIVE}
    with PLACES, PLACES:
        assert browser.post(f"{BASE}new", typed, headers=HTMX).status_code == 429
        assert browser.post(f"{BASE}new", typed).status_code == 200
    assert browser.post(f"{BASE}new", typed, headers=HTMX).status_code == 200


@pytest.mark.parametrize("path", ["new", "1/revise"])
def test_the_page_has_the_checks_of_what_it_begins_from(
    cast: Cast, demo: Product, path: str
) -> None:
    text = cast.browser("ana").get(BASE + path).content.decode()
    assert "the same as its base" in text
    assert "$schema=http://testserver/schemas/orchid.policy.v1.json" in text


def test_a_bound_of_nothing_is_a_text_like_another(base: Revision) -> None:
    text = SECOND.decode().replace('max: "0.00026"', 'max: "0"')
    assert text != SECOND.decode()
    content = drafted("orchid-demo", text, base).content
    assert content is None or content.successes_per_s is None
