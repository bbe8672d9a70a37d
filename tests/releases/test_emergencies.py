"""What one person does alone at night, and who looks at it afterwards."""

from datetime import timedelta

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant
from controlplane.errors import BadInput, Conflict, Forbidden, Invalid
from gates.services import push_evidence
from orchid.engine.document.canonical import manifest_digest as digest_of
from policies.models import Product, Revision
from policies.selectors import document_of, given_of
from policies.services import create_product
from releases.models import Publication, Rollout, SecondLook
from releases.services.cap import cap_tenant
from releases.services.cap import capped as with_cap
from releases.services.emergency import Seen, publish_in_emergency
from releases.services.propose import blocking_findings
from releases.services.publish import bootstrap, publish
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.services.second_look import confirm, revert
from releases.states import ProposalState, RolloutState, SecondLookState
from tests.releases.desk import Desk
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approved,
    at_once,
    document,
    drafted,
    in_review,
    later,
    published,
)

DAY = timedelta(days=1).total_seconds()
BAD = {
    "kind": "frozen_suite",
    "suite": "late",
    "suite_version": "1",
    "n": 4_000,
    "mean": 0.5,
    "spread": 0.1,
}


def live_with(**approvals: object) -> Product:
    """A live product whose rules of approval say something more."""
    given = document(1)
    given["approvals"].update(approvals)
    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=given)
    bootstrap(SYSTEM_ACTOR, product, Revision.objects.get(), "the beginning")
    return product


def capped(product: Product, name: str = "dee") -> SecondLook:
    cap_tenant(actor(name), product, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    return SecondLook.objects.latest("id")


def test_an_emergency_serves_everyone_at_once_and_owes_a_second_look(product: Product) -> None:
    proposal = at_once("dee", in_review(product), "the live one leaks")
    newest = Publication.objects.latest("number")
    assert (newest.kind, newest.number) == ("emergency", 2)
    assert (newest.incumbent_digest, newest.candidate_digest) == (proposal.revision_digest, None)
    assert proposal.state == ProposalState.PUBLISHED
    look = SecondLook.objects.get()
    assert (look.state, look.actor, look.publication) == ("open", "dee", newest)
    assert look.asked_of == ["product_owner"]  # quality is touched, so an owner of it looks
    assert look.due_at - look.opened_at == timedelta(days=1)
    event = AuditEvent.objects.get(action="proposal.emergency")
    assert (event.actor, event.reason) == ("dee", "the live one leaks")


def test_an_emergency_closes_the_rollout_that_is_under_way(product: Product) -> None:
    rollout = published(product)
    before = rollout.publication.incumbent_digest
    look = capped(product)
    rollout.refresh_from_db()
    assert rollout.state == RolloutState.ROLLED_BACK
    assert rollout.publication == look.publication
    held = given_of(look.publication.incumbent_digest)
    assert {**held, "budgets": None} == {**given_of(before), "budgets": None}


@pytest.mark.parametrize("name", ["ana", "ben", "eve"])
def test_only_who_is_on_call_acts_in_an_emergency(product: Product, name: str) -> None:
    proposal = in_review(product)
    with pytest.raises(Forbidden):
        at_once(name, proposal)
    with pytest.raises(Forbidden):
        cap_tenant(actor(name), product, "acme", "10s", {"max_teu": 400}, "now")
    with pytest.raises(Forbidden):
        publish_in_emergency(SYSTEM_ACTOR, proposal, "now", Seen(proposal.revision_digest))
    assert Publication.objects.count() == 1


def test_an_emergency_needs_a_reason_and_sound_content(product: Product) -> None:
    with pytest.raises(BadInput, match="emergency"):
        at_once("dee", in_review(product), "  ")
    unsound = drafted(product, stages=[{"canary": 0.5, "hold": "20s"}])
    with pytest.raises(Invalid) as refused:
        at_once("dee", unsound)
    assert refused.value.code == "findings"
    assert not SecondLook.objects.exists()


def test_a_cap_is_what_is_live_with_one_budget_more(product: Product) -> None:
    before = given_of(Publication.objects.get().incumbent_digest)
    look = capped(product)
    after = given_of(look.publication.incumbent_digest)
    added = [one for one in after["budgets"] if one not in before.get("budgets", [])]
    assert added == [{"tenant": "acme", "window": 10_000, "max_teu": "400"}]
    assert {**after, "budgets": None} == {**before, "budgets": None}
    assert (look.kind, look.asked_of) == ("emergency_cap", ["product_owner", "sre"])


def test_a_cap_only_tightens(product: Product) -> None:
    capped(product)
    with pytest.raises(Invalid) as refused:
        cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 400}, "more for acme")
    assert refused.value.code == "not_a_cap"
    cap_tenant(actor("dee"), product, "acme", "10000ms", {"max_teu": 300}, "still too much")
    held = given_of(Publication.objects.latest("number").incumbent_digest)
    assert [one["max_teu"] for one in held["budgets"] if one["tenant"] == "acme"] == ["300"]


def test_a_cap_gives_nobody_more_than_each_tenant_has() -> None:
    each = {"tenant": "*", "window": 10_000, "max_teu": "400", "max_usd": "2"}
    with pytest.raises(Invalid) as refused:
        with_cap({"budgets": [each]}, "acme", 10_000, {"max_teu": 500})
    assert refused.value.code == "not_a_cap"
    found = with_cap({"budgets": [each]}, "acme", 10_000, {"max_teu": 300})
    assert found["budgets"] == [each, {"tenant": "acme", "window": 10_000, "max_teu": 300}]


def test_a_cap_tightens_a_limit_where_it_stands() -> None:
    teu = {"tenant": "acme", "window": 10_000, "max_teu": "400"}
    usd = {"tenant": "acme", "window": 10_000, "max_usd": "5"}
    found = with_cap({"budgets": [teu, usd]}, "acme", 10_000, {"max_usd": "3"})
    assert found["budgets"] == [teu, {**usd, "max_usd": "3"}]
    both = {"max_usd": "3", "max_live_token_ms": "9"}
    found = with_cap({"budgets": [teu, usd]}, "acme", 10_000, both)
    assert found["budgets"] == [{**teu, "max_live_token_ms": "9"}, {**usd, "max_usd": "3"}]


def test_what_is_wrong_with_what_is_live_keeps_no_emergency(product: Product) -> None:
    live = Publication.objects.get(product=product).incumbent_digest
    for route, model in document_of(live).models.items():
        push_evidence(SYSTEM_ACTOR, product, {**BAD, "route": route, "manifest": digest_of(model)})
    assert blocking_findings(product, live, live)  # the floors of what is live are broken
    look = capped(product)
    assert look.publication.kind == "emergency"


@pytest.mark.parametrize(
    ("tenant", "limits"), [("*", {"max_teu": 1}), ("", {"max_teu": 1}), ("acme", {})]
)
def test_a_cap_names_one_tenant_and_a_limit(
    product: Product, tenant: str, limits: dict[str, int]
) -> None:
    with pytest.raises(BadInput):
        cap_tenant(actor("dee"), product, tenant, "10s", limits, "now")


def test_whoever_acted_is_not_who_looks(product: Product) -> None:
    look = capped(product)
    grant(SYSTEM_ACTOR, User.objects.get(username="dee"), Role.PRODUCT_OWNER, EVERY_PRODUCT)
    for move in (confirm, revert):
        with pytest.raises(Forbidden) as refused:
            move(actor("dee"), look, "fine")
        assert refused.value.code == "own_act"
    assert confirm(actor("cho"), look, "it was acme").state == SecondLookState.CONFIRMED


def test_whoever_wrote_what_went_out_is_not_who_looks(product: Product) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username="ana"), Role.PRODUCT_OWNER, EVERY_PRODUCT)
    at_once("dee", in_review(product, author="ana"))
    with pytest.raises(Forbidden, match="a hand"):
        confirm(actor("ana"), SecondLook.objects.get(), "mine is good")


def test_a_look_at_quality_is_not_the_next_sre_s(product: Product) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username="eve"), Role.SRE, EVERY_PRODUCT)
    at_once("dee", in_review(product))
    with pytest.raises(Forbidden, match="Product owner"):
        confirm(actor("eve"), SecondLook.objects.get(), "fine by me")


def test_to_undo_is_a_rollback_and_the_end_of_the_look(product: Product) -> None:
    before = Publication.objects.get().incumbent_digest
    look = revert(actor("cho"), capped(product), "acme is our largest customer")
    newest = Publication.objects.latest("number")
    assert (newest.kind, newest.incumbent_digest) == ("rollback", before)
    assert (look.state, look.looked_by) == (SecondLookState.REVERTED, "cho")
    with pytest.raises(Conflict) as refused:
        revert(actor("cho"), look, "again")
    assert refused.value.code == "move_not_allowed"


def test_what_is_not_live_any_more_is_confirmed_and_not_undone(product: Product) -> None:
    look = capped(product)
    roll_back(actor("ben"), product, "users complain")
    with pytest.raises(Conflict) as refused:
        revert(actor("cho"), look, "undo")
    assert refused.value.code == "no_longer_live"
    look.refresh_from_db()
    assert look.state == SecondLookState.OPEN
    assert confirm(actor("cho"), look, "gone by now").state == SecondLookState.CONFIRMED


def test_nothing_is_published_while_a_look_is_overdue_but_a_rollback_is(product: Product) -> None:
    look = capped(product)
    proposal = approved(product)
    reconcile(product.pk, later(DAY - 60))
    look.refresh_from_db()
    assert look.state == SecondLookState.OPEN
    reconcile(product.pk, later(DAY + 60))
    look.refresh_from_db()
    assert look.state == SecondLookState.OVERDUE
    assert Publication.objects.count() == 2  # the rules keep it live, and name it
    with pytest.raises(Conflict) as refused:
        publish(actor("ben"), proposal)
    assert refused.value.code == "second_look_overdue"
    confirm(actor("cho"), look, "late, and right")
    publish(actor("ben"), proposal)
    assert Rollout.objects.count() == 1


def test_emergencies_and_ways_back_go_out_while_a_look_is_overdue_and_pages_say_so(
    product: Product,
) -> None:
    capped(product)
    reconcile(product.pk, later(DAY + 60))
    for page in ("second-looks", "rollout"):
        assert "rollbacks and other emergencies go out." in Desk("eve").page(page)
    cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 300}, "still too much")
    roll_back(actor("dee"), product, "users complain")
    kinds = Publication.objects.order_by("number").values_list("kind", flat=True)
    assert list(kinds)[1:] == ["emergency", "emergency", "rollback"]


def test_an_overdue_look_goes_back_by_itself_where_the_rules_before_it_say_so(
    people: dict[str, User],
) -> None:
    product = live_with(second_look="1h", second_look_overdue="rollback")
    before = Publication.objects.get().incumbent_digest
    look = capped(product)
    assert look.due_at - look.opened_at == timedelta(hours=1)
    reconcile(product.pk, later(3700))
    newest = Publication.objects.latest("number")
    assert (newest.kind, newest.actor, newest.incumbent_digest) == ("rollback", "orchid", before)
    look.refresh_from_db()
    assert look.state == SecondLookState.OVERDUE  # somebody still has to say what that was


def test_an_emergency_can_not_loosen_its_own_second_look(people: dict[str, User]) -> None:
    product = live_with(second_look="1h")
    loose = drafted(product)
    from tests.releases.releases_cast import revised

    loosened = {**document(2)["approvals"], "second_look": "7d", "capacity": ["product_owner"]}
    revised(loose, approvals=loosened)
    at_once("dee", loose)
    look = SecondLook.objects.get()
    assert look.due_at - look.opened_at == timedelta(hours=1)
    assert "product_owner" in look.asked_of
