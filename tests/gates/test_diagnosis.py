"""Why a gate moved and what would mend it, through the API and the page."""

from fractions import Fraction
from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, Grant, User
from gates.models import DeclaredCase
from gates.services.diagnosis import load_declared_case
from policies.models import Generation, Product
from policies.selectors import given_of
from policies.services import create_product, revise
from tests.gates.fallback_cast import Falling
from tests.gates.gates_cast import EXAMPLES, SLUG, api, machine, posted, someone
from tests.reference_document import changed

PAGE = f"/products/{SLUG}/diagnosis/"


@pytest.fixture
def falling(db: None) -> Falling:
    """Two tasks on full, then both on compact, where extraction fails every tenth time."""
    judged = Falling()
    for task in ("assistant", "extraction"):
        judged.served(500, task=task, minute=-4)
        bad = 100 if task == "extraction" else 0
        judged.served(500, task=task, minute=-2, route="compact", failed=bad)
    judged.judge()
    return judged


def told(client: Client, query: str = "minutes=2") -> Any:
    found = client.get(api(f"diagnosis?{query}"))
    assert found.status_code == 200, found.content
    return found.json()


def test_the_parts_name_the_segment_and_sum_to_the_change(falling: Falling) -> None:
    body = told(someone("ana", "engineer"))
    assert body["change"] == "-1/10"
    assert sum(Fraction(part["value"]) for part in body["parts"]) == Fraction(-1, 10)
    assert body["parts"][0]["segment"] == "task=extraction|tenant_class=standard"
    assert (body["before"]["n"], body["after"]["n"]) == (1000, 1000)
    # (1 - 0.2)^14 is the first power under 0.05.
    assert "compact and full, 14 of them at least" in body["next_experiment"]
    assert "constrained decoder" in body["next_experiment"]


def test_the_smallest_change_is_just_that_segment(falling: Falling) -> None:
    proposal = told(someone("ana", "engineer"))["proposal"]
    assert proposal["words"] == "no fallback where task is extraction"
    assert proposal["brings_back"]
    assert proposal["requests"] == 500
    attainment = proposal["outlook"][0]
    assert (attainment["recorded"], attainment["expected"], attainment["keeps"]) == (0.9, 1.0, True)
    assert proposal["edits"] == [
        {"path": ["fallback", "+"], "value": {"deny": True, "where": {"task": "extraction"}}}
    ]


@pytest.mark.parametrize(
    "metric", ["completion_p95_ms", "cost_per_success_usd", "utility", "violations"]
)
def test_every_gate_can_be_taken_apart(falling: Falling, metric: str) -> None:
    body = told(someone("ana", "engineer"), f"minutes=2&metric={metric}")
    parts = sum(Fraction(part["value"]) for part in body["parts"])
    assert parts == Fraction(body["change"])
    assert body["metric"] == metric


def test_a_draft_is_made_once_and_has_the_rule(falling: Falling) -> None:
    ci = machine()
    first = posted(ci, "diagnosis/generations", {"minutes": 2})
    assert first.status_code == 201, first.content
    again = posted(ci, "diagnosis/generations", {"minutes": 2})
    assert (again.status_code, again.json()) == (200, first.json())
    rules = given_of(first.json()["digest"])["fallback"]
    assert rules[-1] == {"deny": True, "where": {"task": "extraction"}}
    assert Generation.objects.count() == 2
    assert AuditEvent.objects.filter(actor="ci:ci-1").count() == 1


def test_a_draft_that_says_something_else_by_now_is_not_taken_for_it(falling: Falling) -> None:
    ci = machine()
    first = posted(ci, "diagnosis/generations", {"minutes": 2}).json()
    made = Generation.objects.get(number=first["generation"])
    revise(SYSTEM_ACTOR, made, {**given_of(first["digest"]), "fallback": []}, 1)
    again = posted(ci, "diagnosis/generations", {"minutes": 2})
    assert (again.status_code, again.json()["digest"]) == (201, first["digest"])
    assert again.json()["generation"] == first["generation"] + 1


def test_who_may_not_propose_drafts_nothing(falling: Falling) -> None:
    auditor = someone("eve", "auditor")
    assert posted(auditor, "diagnosis/generations", {"minutes": 2}).status_code == 403
    assert auditor.post(f"{PAGE}draft/", {"minutes": 2}).status_code == 403
    assert "Draft this change" not in auditor.get(f"{PAGE}?minutes=2").content.decode()
    assert Generation.objects.count() == 1


def test_the_button_drafts_what_was_seen_and_nothing_else(falling: Falling) -> None:
    ana = someone("ana", "engineer")
    page = ana.get(f"{PAGE}?minutes=2").content.decode()
    assert "Draft this change" in page
    assert "no fallback where task is extraction" in page
    stale = ana.post(f"{PAGE}draft/", {"minutes": 2, "words": "no fallback where task is other"})
    assert stale.status_code == 409
    seen = {"minutes": 2, "words": "no fallback where task is extraction"}
    drafted = ana.post(f"{PAGE}draft/", seen)
    assert drafted.headers["Location"] == f"/products/{SLUG}/generations/2/"


def test_the_page_is_a_partial_for_htmx_and_works_without(falling: Falling) -> None:
    eve = someone("eve", "auditor")
    part = eve.get(f"{PAGE}?minutes=2", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "Attainment fell from 100.00 % to 90.00 %" in part
    assert part.strip() in eve.get(f"{PAGE}?minutes=2").content.decode()


def test_before_anything_was_judged_there_is_nothing_to_compare(db: None) -> None:
    Falling()
    ana = someone("ana", "engineer")
    assert ana.get(api("diagnosis")).status_code == 404
    assert "Nothing to compare yet" in ana.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("query", "status"),
    [("metric=speed", 400), ("segment=nobody", 400), ("minutes=0", 400), ("after=999", 404)],
)
def test_what_is_not_there_is_refused(falling: Falling, query: str, status: int) -> None:
    assert someone("ana", "engineer").get(api(f"diagnosis?{query}")).status_code == status


def test_nothing_to_propose_is_a_conflict(db: None) -> None:
    judged = Falling()
    judged.served(500, minute=-4)
    judged.served(500, minute=-2)
    judged.judge()
    ci = machine()
    refused = posted(ci, "diagnosis/generations", {"minutes": 2})
    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_propose")
    told = ci.get(api("diagnosis"), {"minutes": 2}).json()
    assert (told["keeps_bound"], told["proposal"]) == (True, None)
    page = someone("eve", "auditor").get("/products/orchid-demo/diagnosis/?minutes=2").content
    assert b"nothing has to be brought back" in page


def test_the_declared_case_is_shown_with_what_is_not_explained(db: None) -> None:
    product = create_product(SYSTEM_ACTOR, "orchid-serve", "Serve", document=changed())
    text = (EXAMPLES.parent / "orchid-serve" / "diagnosis.yaml").read_text()
    load_declared_case(product, text)
    load_declared_case(Product.objects.get(slug="orchid-serve"), text)
    assert DeclaredCase.objects.count() == 1
    ben = someone("ben", "product_owner")
    Grant.objects.create(
        user=User.objects.get(username="ben"), role="product_owner", product_slug="orchid-serve"
    )
    page = ben.get("/products/orchid-serve/diagnosis/").content.decode()
    for said in ("−22.6 %", "−6.4 %", "−17.4 %", "no fallback where task is structured_extraction"):
        assert said in page, said
    assert "leaves fallback" in page
    assert "stays on fallback, above its floor (declared)" in page
    assert "leave out the failures" in page
    assert "constrained decoder" in page
