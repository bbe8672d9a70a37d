"""Drafting and revising: numbers, digests, projections, refusals."""

import json
from typing import Any

import pytest
import yaml
from django.db import IntegrityError, connection, transaction

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from controlplane.env import ROOT
from controlplane.errors import BadInput, Conflict, Forbidden, Invalid, NotFound, Problem
from orchid.engine.document.load import load_document
from policies import selectors, services
from policies.models import Generation, Product, Revision
from tests.people import Cast
from tests.small_policy import small_document

EXAMPLES = ROOT / "examples" / "orchid-demo"
FIRST = (EXAMPLES / "generation-1.yaml").read_bytes()
SECOND = (EXAMPLES / "generation-2.yaml").read_bytes()


@pytest.fixture
def demo(cast: Cast) -> Product:
    return services.create_product(cast.actor("ben"), "orchid-demo", "Demo", document=FIRST)


def changed(**values: Any) -> dict[str, Any]:
    return {**yaml.safe_load(FIRST), **values}


def test_each_draft_takes_the_next_number(cast: Cast, demo: Product) -> None:
    base = selectors.revision(selectors.generation(demo, 1))
    second = services.draft_generation(cast.actor("ana"), demo, SECOND, "Fallback", base)
    third = services.draft_generation(cast.actor("ana"), demo, SECOND, "Again", base)
    assert (second.generation.number, third.generation.number) == (2, 3)
    assert second.digest == third.digest
    assert (second.created_by, second.created_by_user) == ("ana", cast.ana)


def test_what_is_stored_has_the_digest_that_names_it(demo: Product) -> None:
    stored = selectors.revision(selectors.generation(demo, 1))
    stored.refresh_from_db()
    assert load_document(stored.document).digest == stored.digest
    assert selectors.document_of(stored.digest).product == "orchid-demo"
    assert selectors.revision_by_digest(demo, stored.digest) == stored


def test_the_rows_beside_a_revision_say_what_its_document_says(cast: Cast, demo: Product) -> None:
    stored = services.draft_generation(cast.actor("ana"), demo, SECOND, "Fallback")
    bounds = dict(stored.gate_bounds.values_list("metric", "bound"))
    assert bounds["completion_p95_ms"] == 1500
    assert str(bounds["cost_per_success_usd"]).rstrip("0") == "0.00026"
    rules = stored.fallback_rules.order_by("index").values_list("source", "target", "deny")
    assert list(rules) == [("full", "compact", False), ("full", "compact", False), ("", "", True)]
    assert set(stored.floors.values_list("key", "min_utility")) == {
        ("", 0.88),
        ("tenant_class=premium", 0.905),
    }
    assert [s.name for s in stored.gated_segments.order_by("id")] == [
        "assistant-standard",
        "assistant-premium",
        "extraction",
    ]
    assert list(stored.stages.values_list("kind", "fraction", "hold_ms")) == [
        ("canary", 1.0, 20_000)
    ]
    assert set(stored.manifests.values_list("model", flat=True)) == {"compact", "full", "premium"}


def test_a_draft_is_on_record_with_both_digests(cast: Cast, demo: Product) -> None:
    base = selectors.revision(selectors.generation(demo, 1))
    stored = services.draft_generation(cast.actor("ana"), demo, SECOND, "Fallback", base)
    event = AuditEvent.objects.get(action="generation.drafted", object_id="2")
    assert (event.actor, event.digest_before, event.digest_after) == (
        "ana",
        base.digest,
        stored.digest,
    )


def test_every_fault_of_a_document_is_told_and_no_number_is_used(cast: Cast, demo: Product) -> None:
    bad = changed(fleet={"devices": -1}, surprise=1)
    with pytest.raises(Invalid) as refused:
        services.draft_generation(cast.actor("ana"), demo, bad, "Broken")
    pointers = {error["pointer"] for error in refused.value.extra["errors"]}
    assert {"/fleet/devices", "/surprise"} <= pointers
    assert demo.generations.count() == 1


def test_a_document_of_another_product_is_refused(cast: Cast, demo: Product) -> None:
    with pytest.raises(Invalid, match="orchid-serve"):
        services.draft_generation(
            cast.actor("ana"), demo, changed(product="orchid-serve"), "Misdirected"
        )


def test_a_generation_has_a_title(cast: Cast, demo: Product) -> None:
    with pytest.raises(BadInput):
        services.draft_generation(cast.actor("ana"), demo, SECOND, "  ")


def test_who_may_not_propose_drafts_nothing(cast: Cast, demo: Product) -> None:
    with pytest.raises(Forbidden):
        services.draft_generation(cast.actor("eve"), demo, SECOND, "Mine")


def test_a_revision_is_a_new_row_with_a_digest_of_its_own(cast: Cast, demo: Product) -> None:
    generation = selectors.generation(demo, 1)
    first = selectors.revision(generation)
    second = services.revise(cast.actor("ana"), generation, SECOND, 1)
    assert (second.number, second.generation) == (2, generation)
    assert second.digest != first.digest
    first.refresh_from_db()
    assert first.document["fleet"]["devices"] == 6


def test_a_revision_from_an_outdated_text_is_refused(cast: Cast, demo: Product) -> None:
    generation = selectors.generation(demo, 1)
    services.revise(cast.actor("ana"), generation, SECOND, 1)
    with pytest.raises(Conflict, match="Revision 2 is the latest"):
        services.revise(cast.actor("ana"), generation, FIRST, 1)


def test_sending_the_same_text_again_makes_no_revision(cast: Cast, demo: Product) -> None:
    generation = selectors.generation(demo, 1)
    reordered = dict(reversed(yaml.safe_load(FIRST).items()))
    assert services.revise(cast.actor("ana"), generation, reordered, 1).number == 1
    assert Revision.objects.count() == 1


@pytest.mark.parametrize(
    "statement",
    ["UPDATE policies_revision SET document = '{}'", "DELETE FROM policies_revision"],
)
def test_a_revision_never_changes(demo: Product, statement: str) -> None:
    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        connection.cursor().execute(statement)


def test_a_difference_names_categories_and_approvals(cast: Cast, demo: Product) -> None:
    second = services.draft_generation(cast.actor("ana"), demo, SECOND, "Fallback")
    first = selectors.revision(selectors.generation(demo, 1))
    found = selectors.compared(first, second)
    assert {"quality", "capacity"} <= {change.category for change in found.changes}
    assert found.required_approvals == {"product_owner": 1, "sre": 1}
    assert not selectors.compared(first, first).changes


def test_what_does_not_exist_is_said_to_be_missing(demo: Product) -> None:
    with pytest.raises(NotFound):
        selectors.generation(demo, 9)
    with pytest.raises(NotFound):
        selectors.revision_by_digest(demo, "sha256:0")
    with pytest.raises(NotFound):
        selectors.document_of("sha256:0")


def test_a_number_is_never_given_twice(cast: Cast, demo: Product) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Generation.objects.create(product=demo, number=1, title="x", created_by="ana")


@pytest.mark.django_db
def test_names_that_no_column_holds_are_refused_and_the_longest_are_kept() -> None:
    def named(name: str) -> dict[str, Any]:
        text = json.dumps(small_document()).replace('"full"', f'"{name}"')
        return dict(json.loads(text))

    product = services.create_product(
        SYSTEM_ACTOR, "orchid-small", "Small", document=named("f" * 80)
    )
    with pytest.raises(Problem):
        services.draft_generation(SYSTEM_ACTOR, product, named("f" * 81), "Too long a name")
    wide = small_document()
    tasks = ["chat", *(f"{number:080}" for number in range(6))]
    wide["segments"] = {
        **wide["segments"],
        "floors": [{"where": {"task": tasks}, "min_utility": 0.5}],
    }
    with pytest.raises(Problem):
        services.draft_generation(SYSTEM_ACTOR, product, wide, "Too wide a segment")
