"""A candidate that is asked beside what is live: what is published, counted, listed and shown."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from msgspec import UNSET

from accounts.models import User
from gates.services import push_evidence
from ingest import services
from ingest.services import SourceKey, accept
from ingest.states import ShadowCounted, ShadowMode
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.wire.bundle import Exposure
from orchid.engine.wire.shadow import Mode, ShadowRecord, Side, encode_shadow
from policies.models import Product
from policies.selectors import document_of
from releases.models import Publication, Rollout
from releases.selectors.shadow import agreement
from releases.services.issue import Serving, bundle_for, latest
from releases.states import PublicationKind
from tests.releases.releases_cast import SLUG, actor, published

STAGES = [
    {"shadow": "60s", "agreement": 0.9, "decisions": 5},
    {"hard_limits": "60s", "max_refused": 0.01},
    {"canary": 1.0, "hold": "20s"},
]
SERVED = Side(action="admit", reason="requested", route="full", completion_ms=300.0)
COMPACT = Side(
    action="fallback",
    reason="fallback_preferred",
    route="compact",
    completion_ms=120.0,
    fell_out={"full": "deadline_infeasible"},
)
REFUSED = Side(action="reject", reason="budget_exhausted", budget_used=1.0)

Tells = Callable[..., None]


@pytest.fixture
def rollout(product: Product) -> Rollout:
    return published(product, stages=STAGES)


@pytest.fixture
def edge_tells(product: Product, rollout: Rollout) -> Tells:
    """Lines of an edge about the newest publication, counted at once."""

    def tells(name: str, *candidates: Side, mode: Mode = "shadow", **more: Any) -> None:
        publication = latest(product)
        assert publication is not None
        body = b"\n".join(
            encode_shadow(_line(publication, f"{name}-{n}", mode, candidate, **more))
            for n, candidate in enumerate(candidates)
        )
        batch, _ = accept(product, SourceKey("shadow", "edge-1"), name, "shadow", body)
        services.process(batch.pk)
        batch.refresh_from_db()
        assert (batch.counts["inserted"], batch.rejected) == (len(candidates), [])

    return tells


def _line(
    publication: Publication, request_id: str, mode: Mode, candidate: Side, **more: Any
) -> ShadowRecord:
    known: dict[str, Any] = {
        "segment": {"task": "assistant", "tenant_class": "standard"},
        "deadline_ms": 1500.0,
        "input_tokens": 300,
    }
    return ShadowRecord(
        mode=mode,
        request_id=request_id,
        product=SLUG,
        publication=publication.number,
        incumbent_digest=publication.incumbent_digest,
        candidate_digest=publication.candidate_digest or "",
        at=timezone.now(),
        class_="short_assistant",
        incumbent=SERVED,
        candidate=candidate,
        **(known | more),
    )


def shown(client: Client, query: str = "") -> str:
    client.force_login(User.objects.get(username="ben"))
    answer = client.get(reverse("releases:shadow", args=[SLUG]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def machine_sees(client: Client, path: str = "") -> Any:
    client.force_login(User.objects.get(username="ben"))
    answer = client.get(f"/api/v1/products/{SLUG}/shadow{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize(("stage", "kind"), [(0, "shadow"), (1, "hard_limits"), (2, UNSET)])
def test_a_bundle_tells_edges_what_an_early_stage_asks_of_them(
    product: Product, rollout: Rollout, stage: int, kind: object
) -> None:
    before = rollout.publication
    serving = Serving(before.incumbent_digest, before.candidate_digest, 0.0, stage)
    made = bundle_for(
        product,
        PublicationKind.ADVANCE,
        serving,
        number=before.number + 1,
        previous=before.number,
        pools=before.pools,
        now=timezone.now(),
    )
    assert isinstance(made.exposure, Exposure)
    assert made.exposure.kind == kind


def test_agreement_is_counted_by_how_the_candidate_differs(
    product: Product, rollout: Rollout, edge_tells: Tells
) -> None:
    edge_tells("a", SERVED, SERVED, SERVED, COMPACT, REFUSED)
    edge_tells("b", SERVED, passed_over={"overload": 4})
    found = agreement(product, rollout.publication)
    assert (found.decisions, found.disagreements, found.share) == (6, 2, 4 / 6)
    assert found.by_kind == {
        ShadowCounted.SAME: 4,
        ShadowCounted.ROUTE: 1,
        ShadowCounted.REFUSES: 1,
    }
    assert (found.refused, found.refused_share, found.left_out) == (1, 1 / 6, 4)


def test_what_limits_refuse_is_no_disagreement_of_a_candidate_that_was_asked(
    product: Product, rollout: Rollout, edge_tells: Tells
) -> None:
    edge_tells("a", SERVED)
    edge_tells("b", SERVED, REFUSED, mode="hard_limits")
    assert agreement(product, rollout.publication).refused == 0
    held = agreement(product, rollout.publication, ShadowMode.HARD_LIMITS)
    assert (held.decisions, held.refused) == (2, 1)


def test_without_a_line_nothing_agrees_or_differs(product: Product, rollout: Rollout) -> None:
    found = agreement(product, rollout.publication)
    assert (found.decisions, found.share, found.refused_share) == (0, None, None)


def test_machines_read_the_disagreements_with_both_sides_narrowed_and_page_by_page(
    client: Client, edge_tells: Tells
) -> None:
    edge_tells("agrees", SERVED)
    edge_tells("route", COMPACT)
    edge_tells("long", COMPACT, input_tokens=9000)
    edge_tells("poor", REFUSED)
    whole = machine_sees(client, "/disagreements")
    assert [one["request_id"] for one in whole["items"]] == ["poor-0", "long-0", "route-0"]
    (poor,) = machine_sees(client, "/disagreements?near=budget")["items"]
    assert (poor["incumbent"]["route"], poor["candidate"]["reason"]) == ("full", "budget_exhausted")
    (long,) = machine_sees(client, "/disagreements?near=long_context")["items"]
    assert long["near"][-1] == "long context: 9,000 tokens"
    refuses = machine_sees(client, "/disagreements?difference=refuses")["items"]
    assert [one["request_id"] for one in refuses] == ["poor-0"]
    assert machine_sees(client)["by_kind"] == {"same": 1, "route": 2, "refuses": 1}


def test_a_place_with_little_above_its_floor_is_near_it_and_one_well_above_is_not(
    client: Client, product: Product, rollout: Rollout, edge_tells: Tells
) -> None:
    """The floor is 0.88, and what is within 2 % of it is near."""
    edge_tells("a", COMPACT, COMPACT)
    (unmeasured, _) = machine_sees(client, "/disagreements?near=floor")["items"]
    assert "floor 0.88: nothing measured" in unmeasured["near"]
    _measured(product, rollout, 0.89)
    (close, _) = machine_sees(client, "/disagreements?near=floor")["items"]
    assert "floor 0.88: measured 0.890" in close["near"]
    _measured(product, rollout, 0.95)
    assert machine_sees(client, "/disagreements?near=floor")["items"] == []


def _measured(product: Product, rollout: Rollout, mean: float) -> None:
    cell = {
        "schema": "orchid.evidence/v1",
        "kind": "frozen_suite",
        "suite": "demo-tasks",
        "suite_version": f"{mean}",
        "route": "compact",
        "manifest": manifest_digest(document_of(rollout.candidate_digest).models["compact"]),
        "where": {"task": "assistant", "tenant_class": "standard"},
        "n": 4000,
        "mean": mean,
        "spread": 0.1,
        "violations": 0,
    }
    push_evidence(actor("ana"), product, cell)


def test_the_page_shows_agreement_and_each_disagreement_with_both_reasons(
    client: Client, edge_tells: Tells
) -> None:
    edge_tells("a", SERVED, SERVED, SERVED, COMPACT, passed_over={"behind": 2})
    text = shown(client)
    assert "75.00 %" in text
    assert "Serves by another route" in text
    assert "fallback preferred" in text
    assert "deadline infeasible" in text
    assert "No time: the edge was behind" in text


def test_the_page_says_what_brings_decisions_where_there_are_none(
    client: Client, rollout: Rollout
) -> None:
    assert "Nothing was decided twice" in shown(client)


def test_a_publication_that_is_not_there_is_not_found(client: Client, rollout: Rollout) -> None:
    client.force_login(User.objects.get(username="ben"))
    assert (
        client.get(reverse("releases:shadow", args=[SLUG]) + "?publication=99").status_code == 404
    )
