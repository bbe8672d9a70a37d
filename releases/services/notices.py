"""Find what has to be told, from what is stored, and to whom: never inside what decided it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.urls import reverse

from accounts.guard import may, person, roles_of
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, Permission
from gates.models import Evaluation
from gates.states import VerdictState
from policies.models import Product
from releases.models import (
    Delivery,
    Notice,
    Override,
    Proposal,
    Publication,
    Rollout,
    SecondLook,
    Webhook,
)
from releases.selectors.progress import progress
from releases.selectors.review import review
from releases.services.quorum import why_not_vote
from releases.services.second_look import why_not_look
from releases.services.stage import asked_role
from releases.states import (
    OPEN_SECOND_LOOKS,
    NoticeKind,
    OverrideState,
    ProposalState,
    PublicationKind,
    RolloutState,
)

LOOKS_BACK = timedelta(days=1)  # what nobody was told of for so long is history


@dataclass(frozen=True)
class Fact:
    """Something to tell, under a key that is the same however often it is found."""

    kind: NoticeKind
    key: str
    title: str
    text: str
    path: str
    at: datetime
    people: Iterable[User]


def gather(product: Product, now: datetime) -> int:
    """Store what is new, with a delivery for each address and person; returns how much it was."""
    found = list(_facts(product, now))
    known = set(
        Notice.objects.filter(product=product, key__in=[one.key for one in found]).values_list(
            "key", flat=True
        )
    )
    fresh = [one for one in found if one.key not in known]
    for one in fresh:
        _store(product, one, now)
    return len(fresh)


def _store(product: Product, fact: Fact, now: datetime) -> None:
    with transaction.atomic():
        notice, made = Notice.objects.get_or_create(
            product=product,
            key=fact.key,
            defaults={
                "kind": fact.kind,
                "title": fact.title[:300],
                "text": fact.text[:2000],
                "path": fact.path,
                "at": fact.at,
                "made_at": now,
            },
        )
        if made:  # two ticks that find it at once: one of them tells
            hooks = Webhook.objects.filter(product=product, ended_at=None)
            wanting = [hook for hook in hooks if fact.kind in hook.kinds]
            people = {user.pk: user for user in fact.people if user.email}.values()
            Delivery.objects.bulk_create(
                [Delivery(notice=notice, webhook=hook, due_at=now) for hook in wanting]
                + [Delivery(notice=notice, user=user, due_at=now) for user in people]
            )


def _facts(product: Product, now: datetime) -> Iterator[Fact]:
    since = now - LOOKS_BACK
    yield from _reviews(product)
    yield from _second_looks(product)
    yield from _overrides(product, since)
    yield from _stages(product, now)
    yield from _breaches(product, since)
    yield from _rollbacks(product, since)


def _reviews(product: Product) -> Iterator[Fact]:
    """A round that waits for votes, and what waits to be published; each told once."""
    states = (ProposalState.IN_REVIEW, ProposalState.APPROVED)
    for row in Proposal.objects.filter(product=product, state__in=states):
        is_voting = row.state == ProposalState.IN_REVIEW
        asked = _voters(product, row) if is_voting else _those_who(product, Permission.PUBLISH)
        words = "Your approval is asked." if is_voting else "It is approved, to be published."
        yield Fact(
            NoticeKind.WAITS,
            f"proposal:{row.pk}:{row.round}:{row.state}",
            row.title,
            words,
            reverse("releases:proposal", args=[product.slug, row.pk]),
            row.submitted_at or row.created_at,
            asked,
        )


def _second_looks(product: Product) -> Iterator[Fact]:
    looks = SecondLook.objects.filter(product=product, state__in=OPEN_SECOND_LOOKS)
    for row in looks.select_related("publication", "product"):
        asked = _those_who(product, Permission.APPROVE)
        yield Fact(
            NoticeKind.WAITS,
            f"second_look:{row.pk}",
            f"{row.get_kind_display()}: a second look is owed",
            f"{row.actor} acted alone: {row.reason}",
            reverse("releases:second-looks", args=[product.slug]),
            row.opened_at,
            _lookers(asked, row),
        )


def _lookers(asked: Iterator[User], look: SecondLook) -> Iterator[User]:
    return (user for user in asked if not why_not_look(person(user), look))


def _overrides(product: Product, since: datetime) -> Iterator[Fact]:
    """An override that waits for its second person."""
    rows = Override.objects.filter(product=product, state=OverrideState.ASKED, asked_at__gte=since)
    for row in rows.select_related("asked_by"):
        yield Fact(
            NoticeKind.WAITS,
            f"override:{row.pk}",
            f"An override of publication {row.publication} waits for a second person",
            f"{row.asked_by}: {row.reason}",
            reverse("releases:rollout", args=[product.slug]),
            row.asked_at,
            _others(_those_who(product, Permission.OVERRIDE), row.asked_by_id),
        )


def _stages(product: Product, now: datetime) -> Iterator[Fact]:
    """A stage that lacks nothing but a person: whose approval is asked, or who moves it on."""
    rows = Rollout.objects.filter(product=product, state=RolloutState.RUNNING)
    row = rows.select_related("product", "publication", "proposal").first()
    if row is None:
        return
    found = progress(row, now)
    role = asked_role(found)
    if not role and not found.waits_for_a_hand:
        return
    words = "Your approval is asked" if role else "It measures nothing by which it could go on"
    yield Fact(
        NoticeKind.WAITS,
        f"stage:{row.pk}:{row.publication.number}",
        f"Stage {row.stage_index + 1} of publication {row.publication.number} waits for a person",
        f"{words}: {row.proposal.title}.",
        reverse("releases:rollout", args=[product.slug]),
        now,
        _approvers(row, role) if role else _those_who(product, Permission.PUBLISH),
    )


def _approvers(rollout: Rollout, role: str) -> Iterator[User]:
    """Who holds the role that the stage asks for, and had no hand in the proposal."""
    for user in _those_who(rollout.product, Permission.APPROVE):
        held = roles_of(person(user), rollout.product.slug)
        if role in held and not why_not_vote(person(user), rollout.proposal):
            yield user


def _others(asked: Iterator[User], but: int) -> Iterator[User]:
    return (user for user in asked if user.pk != but)


def _breaches(product: Product, since: datetime) -> Iterator[Fact]:
    """Each time that a judgement turned to fail."""
    failed = Evaluation.objects.filter(
        window__product=product,
        changed=True,
        verdict=VerdictState.FAIL,
        evaluated_at__gte=since,
    )
    for row in failed.select_related("window"):
        yield Fact(
            NoticeKind.BREACH,
            f"evaluation:{row.pk}",
            f"Publication {row.window.publication} fails its gates",
            f"{row.window.cohort}: {row.why}",
            reverse("gates:now", args=[product.slug]),
            row.evaluated_at,
            _those_who(product, Permission.ROLLBACK),
        )


def _rollbacks(product: Product, since: datetime) -> Iterator[Fact]:
    made = Publication.objects.filter(
        product=product, kind=PublicationKind.ROLLBACK, published_at__gte=since
    )
    for row in made.defer("token"):
        yield Fact(
            NoticeKind.ROLLBACK,
            f"publication:{row.number}",
            f"Publication {row.number} rolls back",
            f"{row.actor}: {row.reason}",
            reverse("releases:publications", args=[product.slug]),
            row.published_at,
            _those_who(product, Permission.ROLLBACK),
        )


def _voters(product: Product, proposal: Proposal) -> Iterator[User]:
    return (
        user
        for user in _those_who(product, Permission.APPROVE)
        if review(person(user), proposal).may_vote
    )


def _those_who(product: Product, permission: Permission) -> Iterator[User]:
    """People of the product who may; asked only when something is new."""
    slugs = [product.slug, EVERY_PRODUCT]
    held = Grant.objects.filter(product_slug__in=slugs).values_list("user_id", flat=True)
    for user in User.objects.filter(pk__in=held, is_active=True).exclude(email=""):
        if may(person(user), permission, product.slug):
            yield user
