"""One slot a person: a quorum that is there is found, whatever the order of the votes."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.guard import SYSTEM_ACTOR, roles_held
from accounts.models import AuditEvent, Grant, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant
from orchid.engine.wire.bundle import verify
from policies.models import Product
from releases.keys import public_keys
from releases.models import Proposal, Publication
from releases.selectors.review import review
from releases.services.seats import seated
from releases.states import ProposalState
from tests.releases.desk import Desk, proposed, votes
from tests.releases.releases_cast import SLUG, actor, approve, document, in_review

VOTERS = ("ben", "cho", "dee", "eve")
ROLES = st.sets(st.sampled_from([Role.PRODUCT_OWNER, Role.SRE]), min_size=1)


def exists(required: dict[str, int], held: Sequence[set[str]]) -> bool:
    """Whether these people fill every slot, by trying them in every order."""
    slots = list(Counter(required).elements())
    return any(
        all(role in roles for role, roles in zip(slots, people, strict=True))
        for people in permutations(held, len(slots))
    )


def also(name: str, role: str) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username=name), role, EVERY_PRODUCT)


@pytest.mark.parametrize("names", [("ben", "cho"), ("cho", "ben")])
def test_somebody_of_two_roles_takes_the_one_that_the_other_has_not(
    product: Product, names: tuple[str, str]
) -> None:
    also("ben", Role.SRE)
    row = proposed(document(2))
    for name in names:
        status, row = votes(name, row)
        assert status == 200, row
    filled = {"ben": "sre", "cho": "product_owner"}
    assert (row["state"], {one["user"]: one["role"] for one in row["votes"]}) == (
        "approved",
        filled,
    )
    moved = [act.data["roles_moved"] for act in AuditEvent.objects.filter(action="proposal.vote")]
    assert moved == [{}, {"ben": "sre"} if names[0] == "ben" else {}]
    _, row = Desk("dee").asks(f"proposals/{row['id']}/publish", expected_version=row["version"])
    assert row["state"] == "published", row
    token = Publication.objects.latest("number").token
    bundle = verify(token, public_keys(), product=SLUG, floor_publication=0, now=timezone.now())
    assert {vote.by: vote.role for vote in bundle.votes} == filled


def test_the_page_names_whoever_may_fill_a_slot_by_making_room(product: Product) -> None:
    also("ben", Role.SRE)
    proposal = approve("ben", in_review(product))
    (missing,) = (slot for slot in review(actor("eve"), proposal).slots if not slot.vote)
    assert (missing.role, missing.open_to) == ("SRE", ["cho", "dee"])
    assert "cho or dee may give it." in Desk("eve").page("proposal", proposal.pk)


def test_the_page_names_nobody_who_could_fill_no_slot(product: Product) -> None:
    proposal = approve("ben", in_review(product))
    (missing,) = (slot for slot in review(actor("eve"), proposal).slots if not slot.vote)
    assert (missing.role, missing.open_to) == ("SRE", ["dee"])


def test_a_role_that_was_lost_is_filled_no_more_while_another_is_held(product: Product) -> None:
    also("ben", Role.SRE)
    proposal = approve("ben", in_review(product))
    Grant.objects.filter(user__username="ben", role=Role.PRODUCT_OWNER).delete()
    proposal = approve("dee", proposal)
    assert proposal.state == ProposalState.IN_REVIEW
    proposal = approve("cho", proposal)
    assert proposal.state == ProposalState.APPROVED


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 2), min_size=1),
    st.lists(st.lists(st.sampled_from("abcd"), unique=True), max_size=6),
)
def test_all_are_seated_where_all_can_be_and_who_came_first_stays(
    required: dict[str, int], could: list[list[str]]
) -> None:
    before: set[int] = set()
    for count in range(len(could) + 1):
        people = dict(enumerate(could[:count]))
        seats = seated(required, people)
        filled = Counter(seats.values())
        assert (filled == required) == exists(required, [set(roles) for roles in people.values()])
        assert filled <= Counter(required)
        assert all(role in could[person] for person, role in seats.items())
        assert before <= set(seats)
        before = set(seats)


@given(
    st.fixed_dictionaries(dict.fromkeys(VOTERS, ROLES)),
    st.permutations(VOTERS),
    st.dictionaries(st.sampled_from([Role.PRODUCT_OWNER, Role.SRE]), st.integers(1, 2), min_size=1),
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_votes_in_any_order_approve_as_soon_as_a_quorum_is_among_them(
    product: Product,
    held: dict[str, set[str]],
    order: tuple[str, ...],
    required: dict[str, int],
) -> None:
    with transaction.atomic():
        proposal = in_review(product)
        Proposal.objects.filter(pk=proposal.pk).update(required=required)
        Grant.objects.filter(user__username__in=VOTERS).delete()
        for name in VOTERS:
            for role in held[name]:
                also(name, role)
        could_vote = [name for name in order if held[name] & set(required)]
        for count, name in enumerate(could_vote, 1):
            proposal = approve(name, proposal)
            found = exists(required, [held[one] for one in could_vote[:count]])
            assert (proposal.state == ProposalState.APPROVED) == found
            true_to_life(proposal)
            if found:
                break
        transaction.set_rollback(True)


def true_to_life(proposal: Proposal) -> None:
    """Nobody approved in a role that they don't hold."""
    given = list(proposal.votes.select_related("user"))
    held = roles_held([vote.user for vote in given], SLUG)
    assert all(vote.role in held[vote.user_id] for vote in given)
