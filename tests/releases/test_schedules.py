"""A time on the wall of a named zone: what moves it, what keeps it waiting, when it is missed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import AuditEvent, User
from controlplane.errors import Conflict, Forbidden, Invalid
from policies.models import Product
from releases.models import Proposal, Publication
from releases.services.binding import bound_digest
from releases.services.expiry import expires_at
from releases.services.hindrances import hindrances
from releases.services.propose import submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.review import vote
from releases.services.schedule import moment, reschedule
from releases.states import Choice, ProposalState
from tests.releases.releases_cast import (
    actor,
    approve,
    approved,
    drafted,
    in_review,
    live_with,
    published,
)

BERLIN = "Europe/Berlin"
HELD = {"ben": {"product_owner"}, "dee": {"sre"}}
NOW = datetime(2030, 3, 1, 12, 0, tzinfo=UTC)  # a Friday, 13:00 in Berlin


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def scheduled(product: Product, local: str = "2030-03-04T09:00") -> Proposal:
    """Approved for a time: who set it is the author, so that both others may still vote."""
    return voted(submit(actor("ana"), _timed(drafted(product), local), now=NOW), NOW)


def approved_at(product: Product, now: datetime, **changes: Any) -> Proposal:
    return voted(submit(actor("ana"), drafted(product, **changes), now=now), now)


def voted(proposal: Proposal, now: datetime) -> Proposal:
    for name in ("ben", "dee"):
        proposal.refresh_from_db()
        if proposal.required.keys() & HELD[name]:
            vote(actor(name), proposal, Choice.APPROVE, "fine", bound_digest(proposal), now=now)
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.APPROVED
    return proposal


def _timed(proposal: Proposal, local: str) -> Proposal:
    return reschedule(actor("ana"), proposal, local, BERLIN, now=NOW)


def test_a_scheduled_proposal_is_published_at_its_time_and_not_before(product: Product) -> None:
    proposal = scheduled(product)
    assert proposal.publish_at == at("2030-03-04T08:00")
    with pytest.raises(Conflict) as refused:
        publish(actor("dee"), proposal, now=at("2030-03-04T07:59"))
    assert refused.value.code == "scheduled_later"
    reconcile(product.pk, at("2030-03-04T07:59"))
    assert Publication.objects.count() == 1
    reconcile(product.pk, at("2030-03-04T08:00"))
    reconcile(product.pk, at("2030-03-04T08:00"))
    newest = Publication.objects.latest("number")
    assert (newest.number, newest.actor) == (2, "orchid")
    assert newest.candidate_digest == proposal.revision_digest


# Case 7
def test_on_schedule_a_stale_base_is_not_published(product: Product) -> None:
    late = scheduled(product)
    early = approved(product, publish="manual")
    publish(actor("dee"), early)
    reconcile(product.pk, at("2030-03-04T08:00"))
    assert Publication.objects.count() == 2
    late.refresh_from_db()
    assert late.state == ProposalState.APPROVED
    codes = [one.code for one in hindrances(late, at("2030-03-04T08:00"))]
    assert codes[0] == "base_changed"


def test_another_time_voids_the_votes_and_says_so(product: Product) -> None:
    proposal = scheduled(product)
    seen = bound_digest(proposal)
    moved = reschedule(actor("cho"), proposal, "2030-03-05T09:00", BERLIN, now=NOW)
    assert (moved.state, moved.round) == (ProposalState.IN_REVIEW, 2)
    assert {(v.void, v.void_why) for v in moved.votes.all()} == {
        (True, "Its time was set to 2030-03-05 09:00 Europe/Berlin")
    }
    with pytest.raises(Conflict) as refused:
        vote(actor("ben"), moved, Choice.APPROVE, "again", seen, now=NOW)
    assert refused.value.code == "approval_stale"
    with pytest.raises(Forbidden, match="who set the time"):
        approve("cho", moved)
    assert AuditEvent.objects.filter(action="proposal.reschedule").count() == 2


def test_a_lifted_time_is_a_new_round_too(product: Product) -> None:
    lifted = reschedule(actor("ana"), scheduled(product), "", "", now=NOW)
    assert (lifted.state, lifted.publish_at, lifted.publish_zone) == ("in_review", None, "")


def test_a_draft_keeps_its_round_whatever_its_time(product: Product) -> None:
    proposal = _timed(drafted(product), "2030-03-04T09:00")
    assert (proposal.state, proposal.round) == (ProposalState.DRAFT, 1)


@pytest.mark.parametrize(
    ("local", "zone", "code", "words"),
    [
        ("2030-03-31T02:30", BERLIN, "time_does_not_exist", "go from 02:00 straight to 03:00"),
        ("2030-10-27T02:30", BERLIN, "time_comes_twice", "CEST, UTC+02:00"),
        ("2030-02-01T09:00", BERLIN, "time_is_past", "gone by"),
        ("2040-01-01T09:00", BERLIN, "time_is_far", "366 days"),
        ("2030-03-04T09:00", "Europe/Atlantis", "unknown_zone", "no time zone"),
        ("2030-03-04T09:00", "", "unknown_zone", "no time zone"),
        ("2030-03-04T09:00+01:00", BERLIN, "bad_local_time", "on the wall"),
        ("tomorrow", BERLIN, "bad_local_time", "2026-12-01T09:00"),
        ("0001-01-01T00:00", BERLIN, "bad_local_time", "between 1970 and 2999"),
        ("9999-12-31T23:59", "Etc/GMT+12", "bad_local_time", "between 1970 and 2999"),
        ("2030-03-04T09:00", "localtime", "unknown_zone", "no time zone"),
        ("2030-03-04T09:00", "right/UTC", "unknown_zone", "no time zone"),
    ],
)
def test_a_time_that_is_none_is_answered_in_words(
    product: Product, local: str, zone: str, code: str, words: str
) -> None:
    with pytest.raises(Exception, match=words.replace("+", r"\+")) as refused:
        reschedule(actor("ana"), drafted(product), local, zone, now=NOW)
    assert getattr(refused.value, "code", "") == code


@pytest.mark.parametrize(
    ("which", "instant"), [("first", "2030-10-27T00:30"), ("second", "2030-10-27T01:30")]
)
def test_an_hour_that_comes_twice_is_chosen(which: str, instant: str) -> None:
    assert moment("2030-10-27T02:30", BERLIN, which) == at(instant)


WEEKEND = {"name": "weekend", "from": "fri 16:00", "until": "mon 08:00", "zone": BERLIN}


def test_a_time_in_a_freeze_is_refused_with_the_next_free_one(people: dict[str, User]) -> None:
    product = live_with(rollout={"freezes": [WEEKEND]})
    with pytest.raises(Invalid, match="2030-03-04 08:00 Europe/Berlin") as refused:
        _timed(drafted(product), "2030-03-02T09:00")
    assert refused.value.code == "frozen"


def test_a_freeze_keeps_everything_waiting_but_a_rollback(people: dict[str, User]) -> None:
    from releases.services.rollback import roll_back

    product = live_with(rollout={"freezes": [WEEKEND]})
    friday, saturday = at("2030-03-01T14:59"), at("2030-03-02T12:00")
    publish(actor("dee"), approved_at(product, friday), now=friday)
    _publication, made = roll_back(actor("dee"), product, "users complain", now=saturday)
    assert made
    waiting = approved_at(product, saturday, publish="manual")
    with pytest.raises(Conflict, match="until 2030-03-04 08:00 Europe/Berlin") as refused:
        publish(actor("dee"), waiting, now=saturday)
    assert refused.value.code == "frozen"


def test_a_time_long_missed_waits_for_a_person(product: Product) -> None:
    proposal = scheduled(product)
    late = at("2030-03-04T09:01")  # a minute beyond the grace of an hour
    reconcile(product.pk, late)
    assert Publication.objects.count() == 1
    publish(actor("dee"), proposal, now=late)
    assert Publication.objects.count() == 2


def test_a_last_vote_after_the_time_was_missed_publishes_nothing_by_itself(
    people: dict[str, User],
) -> None:
    product = live_with(rollout={"publish": "automatic"})
    proposal = submit(actor("ana"), _timed(drafted(product), "2030-03-04T09:00"), now=NOW)
    voted(proposal, at("2030-03-04T09:01"))
    assert Publication.objects.count() == 1


def test_a_round_that_lasts_too_long_is_over(people: dict[str, User]) -> None:
    product = live_with(approvals={"expire_after": "2d"})
    proposal = submit(actor("ana"), drafted(product), now=NOW)
    reconcile(product.pk, NOW + timedelta(hours=47))
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.IN_REVIEW
    vote(actor("ben"), proposal, Choice.APPROVE, "fine", bound_digest(proposal), now=NOW)
    reconcile(product.pk, NOW + timedelta(hours=49))
    proposal.refresh_from_db()
    assert (proposal.state, proposal.round) == (ProposalState.DRAFT, 2)
    assert proposal.returned_why == "It expired: no round of review lasts longer than 2 d"
    assert proposal.votes.get().void
    event = AuditEvent.objects.get(action="proposal.expire")
    assert event.actor == "orchid"


def test_nobody_votes_in_a_round_that_is_over(product: Product) -> None:
    proposal = in_review(product)
    ends = expires_at(proposal)
    with pytest.raises(Conflict) as refused:  # the tick has not seen it yet
        vote(actor("ben"), proposal, Choice.APPROVE, "late", bound_digest(proposal), now=ends)
    assert refused.value.code == "approval_expired"


def test_nobody_publishes_what_was_approved_too_long_ago(product: Product) -> None:
    proposal = approved(product)
    with pytest.raises(Conflict) as refused:
        publish(actor("dee"), proposal, now=expires_at(proposal))
    assert refused.value.code == "approval_expired"


def test_a_time_keeps_the_round_open_until_it_is_missed(people: dict[str, User]) -> None:
    product = live_with(approvals={"expire_after": "2d"})
    proposal = scheduled(product, "2030-03-11T09:00")
    assert expires_at(proposal) == at("2030-03-11T09:00")
    reconcile(product.pk, NOW + timedelta(days=5))
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.APPROVED


def test_what_waits_beyond_its_time_goes_out_when_the_rollout_ends(product: Product) -> None:
    proposal = scheduled(product)
    published(product, publish="manual")
    reconcile(product.pk, at("2030-03-04T08:00"))
    codes = {one.code for one in hindrances(proposal, at("2030-03-04T08:00"))}
    assert "rollout_open" in codes
