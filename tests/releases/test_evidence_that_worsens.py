"""Evidence that comes during a review voids what it may worsen, field by field, and no more."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from gates.models import Evidence
from gates.services import push_evidence, push_evidence_set
from orchid.engine.document.canonical import manifest_digest
from policies.models import Product
from policies.selectors import document_of
from releases.models import Proposal, Vote
from releases.services.propose import submit
from releases.services.reconcile import reconcile
from releases.services.schedule import reschedule
from releases.states import ProposalState
from tests.releases.releases_cast import actor, approve, drafted, later

Changes = Mapping[str, Any]
#: Another model than those of the document.
FOREIGN = f"sha256:{'0' * 64}"
TOLD = {
    "kind": "frozen_suite",
    "suite": "late",
    "suite_version": "1",
    "route": "compact",
    "where": {"task": "rag"},
    "n": 100,
    "mean": 0.95,
    "spread": 0.1,
    "violations": 1,
    "measured_at": "2026-01-02T00:00:00Z",
}
#: Single scores of which the order alone makes a bound sharper or wider.
STEADY, ROUGH = [0.5, 1.0], [1.0, 0.5]
SCORED = {**TOLD, "n": 2, "mean": 0.75, "spread": None}

#: Each field of evidence: what of it alone may worsen a figure, and what of it can't.
FIELDS: dict[str, tuple[list[Changes], list[Changes]]] = {
    "kind": ([{"kind": "shadow"}], []),
    "suite": ([{"suite": "other"}], []),
    "suite_version": ([], [{"suite_version": "2"}]),
    "index_version": ([], [{"index_version": "2"}]),
    "prompt_version": ([], [{"prompt_version": "2"}]),
    "route": ([{"route": "premium"}], []),
    "manifest": ([], [{"manifest": FOREIGN, "mean": 0.1}]),
    "where": ([{"where": {}}, {"where": {"task": "chat"}}], [{"where": {"task": ["rag"]}}]),
    "load_state": ([{"load_state": "full load"}, {"load_state": "steady"}], []),
    "n": ([{"n": 99}], [{"n": 101}]),
    "mean": ([{"mean": 0.94}], [{"mean": 0.96}]),
    "spread": ([{"spread": 0.11}], [{"spread": 0.09}]),
    "violations": ([{"violations": 2}], [{"violations": 0}]),
    "measured_at": (
        [{"measured_at": "2026-01-01T00:00:00Z"}],
        [{"measured_at": "2026-01-03T00:00:00Z"}, {"measured_at": None}],
    ),
    "scores": ([{"scores": [0.95] * 100, "spread": 0.0}], []),  # and below, one by one
}
#: Names, copies of the above, and who brought it when: no verdict reads a figure from them.
NO_FIGURE = {"id", "product", "digest", "key", "cell", "content", "push", "pushed_by", "created_at"}
VOIDS = [change for worse, _ in FIELDS.values() for change in worse]
KEEPS = [{}, *(change for _, better in FIELDS.values() for change in better)]


def told(proposal: Proposal, changes: Changes, base: Changes = TOLD) -> dict[str, Any]:
    """A run on a model of the proposal; null is not said."""
    given = {**base, **changes}
    model = document_of(proposal.revision_digest).models[given["route"]]
    given = {"manifest": manifest_digest(model), **given}
    return {name: value for name, value in given.items() if value is not None}


def approved_on(product: Product, *runs: Changes) -> Proposal:
    """A proposal whose votes rest on these runs, one push each."""
    proposal = drafted(product)
    for run in runs:
        push_evidence(SYSTEM_ACTOR, product, told(proposal, run))
    submit(actor("ana"), proposal)
    approve("ben", proposal)
    return approve("dee", proposal)


def came(product: Product, proposal: Proposal, *runs: Changes) -> str:
    """Why these runs, in one push, took the votes away; empty where all of them hold."""
    items = [told(proposal, {"model": "told anew", **run}) for run in runs]
    push_evidence_set(SYSTEM_ACTOR, product, {"schema": "orchid.evidence-set/v1", "items": items})
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    void = list(Vote.objects.filter(proposal=proposal).values_list("void", flat=True))
    gone = proposal.state == ProposalState.DRAFT
    assert void == [gone, gone]
    return proposal.returned_why


def test_every_field_of_evidence_has_its_line() -> None:
    names = {field.name for field in Evidence._meta.get_fields() if field.concrete}
    assert names == FIELDS.keys() | NO_FIGURE


def _names(changes: Iterable[Changes]) -> list[str]:
    return [" ".join(f"{k}={str(v)[:22]}" for k, v in one.items()) or "equal" for one in changes]


@pytest.mark.parametrize("change", VOIDS, ids=_names(VOIDS))
def test_a_field_that_may_worsen_a_figure_voids_alone(product: Product, change: Changes) -> None:
    proposal = approved_on(product, TOLD)
    said = {**TOLD, **change}
    named = f"{said['suite']} 1 on {said['route']}"
    assert came(product, proposal, change) == f"Evidence arrived after it was submitted: {named}"


@pytest.mark.parametrize("change", KEEPS, ids=_names(KEEPS))
def test_an_equal_or_better_run_voids_nothing(product: Product, change: Changes) -> None:
    proposal = approved_on(product, TOLD)
    assert came(product, proposal, change) == ""
    assert proposal.state == ProposalState.APPROVED


@pytest.mark.parametrize(
    ("before", "after", "voids"),
    [
        (STEADY, STEADY, False),
        (ROUGH, STEADY, False),
        (STEADY, ROUGH, True),
        (ROUGH, [*STEADY, 0.75], True),  # a bound over more of them may be wider
        (STEADY, None, True),
        (None, STEADY, True),
    ],
)
def test_single_scores_void_unless_they_bound_as_well(
    product: Product, before: list[float] | None, after: list[float] | None, voids: bool
) -> None:
    proposal = approved_on(product, _scored(before))
    assert bool(came(product, proposal, _scored(after))) is voids


def _scored(scores: list[float] | None) -> Changes:
    if scores is None:
        return {**SCORED, "spread": 0.353553}
    return {**SCORED, "scores": scores, "n": len(scores)}


CHAT: Changes = {**TOLD, "where": {"task": "chat"}}


def test_a_new_edition_that_leaves_a_segment_behind_voids(product: Product) -> None:
    proposal = approved_on(product, TOLD, CHAT)
    why = came(product, proposal, {"suite_version": "2"})
    assert why == "Evidence arrived after it was submitted: late 2 on compact"


def test_a_new_edition_of_every_segment_voids_nothing(product: Product) -> None:
    proposal = approved_on(product, TOLD, CHAT)
    assert came(product, proposal, {"suite_version": "2"}, {**CHAT, "suite_version": "2"}) == ""


def test_a_segment_that_an_edition_had_silenced_speaks_anew_and_voids(product: Product) -> None:
    proposal = approved_on(product, TOLD, {**CHAT, "suite_version": "2"})
    assert "late 2 on compact" in came(product, proposal, {"suite_version": "2"})


def test_what_an_edition_had_silenced_before_is_not_missed(product: Product) -> None:
    proposal = approved_on(product, CHAT, {"suite_version": "2"})
    assert came(product, proposal, {"suite_version": "2"}) == ""


OTHER: Changes = {**TOLD, "suite": "other", "mean": 0.97}


def test_a_rerun_that_silences_a_better_suite_voids(product: Product) -> None:
    proposal = approved_on(product, TOLD, OTHER)
    assert "late 1 on compact" in came(product, proposal, {"mean": 0.96})


@pytest.mark.parametrize(
    "other",
    [
        {**OTHER, "where": {"task": "chat"}},
        {**OTHER, "where": {}},
        {**OTHER, "kind": "adversarial"},
        {**OTHER, "route": "premium"},
    ],
)
def test_a_rerun_beside_a_better_suite_of_something_else_voids_nothing(
    product: Product, other: Changes
) -> None:
    proposal = approved_on(product, TOLD, other)
    assert came(product, proposal, {"mean": 0.96}) == ""


def test_a_rerun_of_one_load_state_is_not_held_against_another(product: Product) -> None:
    proposal = approved_on(
        product, {**TOLD, "load_state": "full load"}, {**TOLD, "load_state": "steady", "mean": 0.97}
    )
    assert came(product, proposal, {"load_state": "full load", "mean": 0.96}) == ""


def test_a_rerun_is_not_held_against_what_it_had_silenced_before(product: Product) -> None:
    proposal = approved_on(product, OTHER, TOLD)
    assert came(product, proposal, {"mean": 0.96}) == ""


def test_a_search_for_violations_silences_no_score(product: Product) -> None:
    proposal = approved_on(product, {"kind": "adversarial"}, OTHER)
    assert came(product, proposal, {"kind": "adversarial", "mean": 0.96}) == ""


def _put_off(proposal: Proposal) -> Proposal:
    return reschedule(actor("ana"), proposal, f"{later(2 * 86_400):%Y-%m-%dT%H:%M}", "UTC")


def test_another_time_makes_nothing_of_evidence_that_worsens_nothing(product: Product) -> None:
    proposal = approved_on(product, {})
    assert not came(product, proposal, {"mean": 0.96})
    _put_off(proposal)
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.IN_REVIEW


def test_another_time_hides_no_evidence_that_worsens(product: Product) -> None:
    proposal = approved_on(product, {})
    push_evidence(SYSTEM_ACTOR, product, told(proposal, {"mean": 0.5}))
    with pytest.raises(Conflict) as refused:
        _put_off(proposal)
    assert refused.value.code == "approval_stale"
    proposal.refresh_from_db()
    assert (proposal.state, proposal.publish_at) == (ProposalState.DRAFT, None)
