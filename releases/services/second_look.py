"""What was done alone in an emergency is looked at by somebody else, who confirms or undoes it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR, Actor, roles_of
from accounts.roles import Role
from controlplane.errors import BadInput, Conflict, Forbidden
from orchid.engine.document.operation import Approvals
from policies.models import Product
from policies.selectors import document_of
from releases.lifecycle import Change, Move, land
from releases.models import Proposal, Publication, Rollout, SecondLook
from releases.services.issue import latest
from releases.services.rollback import roll_back
from releases.states import DECIDED_PROPOSALS, SecondLookKind, SecondLookState


def open_second_look(
    actor: Actor,
    product: Product,
    kind: SecondLookKind,
    publication: Publication,
    reason: str,
    now: datetime,
    *,
    asked_of: Iterable[str],
) -> SecondLook:
    """Ask for the look of another person, who holds one of the roles in `asked_of`."""
    within = timedelta(milliseconds=_rules_before(publication).second_look)
    return SecondLook.objects.create(
        product=product,
        kind=kind,
        publication=publication,
        asked_of=sorted(asked_of),
        actor=actor.name,
        actor_user=actor.user,
        reason=reason,
        opened_at=now,
        due_at=now + within,
    )


def confirm(
    actor: Actor,
    look: SecondLook,
    words: str,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> SecondLook:
    """Say that what was done stands. 403 `own_act` for whoever had a hand in it."""
    at = now or timezone.now()
    return land(
        look,
        Move.CONFIRM,
        actor,
        lambda row: _looked(row, actor, words, at),
        expected_version=expected_version,
    )


def revert(
    actor: Actor,
    look: SecondLook,
    words: str,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> SecondLook:
    """Undo what was done: a rollback and the end of the look, both or neither.

    409 `no_longer_live` where something else was published since, which a rollback would undo.
    """
    at = now or timezone.now()
    return land(
        look,
        Move.REVERT,
        actor,
        lambda row: _reverted(row, actor, words, at),
        expected_version=expected_version,
    )


def lapse(look: SecondLook, now: datetime) -> SecondLook:
    """Note that nobody looked in time, and go back where the policy before it says so.

    Not where something was published since: whoever approved that, approved it over this.
    """
    with transaction.atomic():
        landed = land(look, Move.LAPSE, SYSTEM_ACTOR, lambda row: _lapsed(row, now))
        rules = _rules_before(look.publication)
        if rules.second_look_overdue == "rollback" and _is_live(look):
            words = f"Nobody looked at publication {look.publication.number} in time."
            roll_back(SYSTEM_ACTOR, look.product, words, now=now)
    return landed


def why_not_look(actor: Actor, look: SecondLook) -> str:
    """The sentence that tells an actor why this look is not theirs; empty when it is."""
    if actor.user is None:
        return "A second look is a person’s."
    if look.actor_user_id == actor.user.pk or actor.user.pk in _hands(look):
        return "You had a hand in what was done; somebody else has to look at it."
    if not roles_of(actor, look.product.slug) & set(look.asked_of):
        asked = " or ".join(Role(role).label for role in look.asked_of)
        return f"It is asked of {asked}; you hold none of these roles here."
    return ""


def overdue(product: Product) -> str:
    """The sentence that tells what was done alone and not looked at in time; empty where none."""
    looks = SecondLook.objects.filter(product=product, state=SecondLookState.OVERDUE)
    look = looks.select_related("publication").first()
    if look is None:
        return ""
    return (
        f"Publication {look.publication.number} went out in an emergency and nobody has looked "
        "at it since. Somebody else has to confirm or undo it before anything goes out but a "
        "way back or another emergency."
    )


def refuse_overdue(product: Product) -> None:
    """Raise 409 `second_look_overdue` while something done alone was not looked at in time."""
    said = overdue(product)
    if said:
        raise Conflict("second_look_overdue", said)


def _hands(look: SecondLook) -> set[int]:
    """Everyone who wrote what was published."""
    proposals = Proposal.objects.filter(
        product=look.product_id,
        revision_digest=look.publication.incumbent_digest,
        state__in=DECIDED_PROPOSALS,
    )
    return set(proposals.values_list("contributors__user_id", flat=True))


def _looked(row: SecondLook, actor: Actor, words: str, now: datetime) -> Change:
    why = why_not_look(actor, row)
    if why:
        raise Forbidden("own_act", why)
    if not words.strip():
        raise BadInput("reason_missing", "Say what you found; it stays with what was done.")
    return Change(
        columns={"looked_by": actor.name, "looked_at": now, "words": words.strip()},
        reason=words.strip(),
        after=row.publication.incumbent_digest,
        data={"publication": row.publication.number, "kind": row.kind, "done_by": row.actor},
    )


def _reverted(row: SecondLook, actor: Actor, words: str, now: datetime) -> Change:
    change = _looked(row, actor, words, now)
    if not _is_live(row):
        raise Conflict(
            "no_longer_live",
            f"Publication {row.publication.number} is not the last one any more, so there is "
            "nothing of it to undo. Confirm what you found, or roll back what is live.",
        )
    publication, _made = roll_back(actor, row.product, words.strip(), now=now)
    change.data["restored_by"] = publication.number
    return change


def _lapsed(row: SecondLook, now: datetime) -> Change:
    if now < row.due_at:
        raise Conflict("not_due", f"The second look may be taken until {row.due_at.isoformat()}.")
    return Change(
        reason="Nobody looked in time.",
        after=row.publication.incumbent_digest,
        data={"publication": row.publication.number, "asked_of": row.asked_of},
    )


def _is_live(look: SecondLook) -> bool:
    live = latest(look.product)
    return live is not None and live.pk == look.publication_id


def _rules_before(publication: Publication) -> Approvals:
    """The rules that were in force: what an emergency brings can't loosen its own second look."""
    earlier = Publication.objects.filter(
        product=publication.product_id, number__lt=publication.number
    )
    before = earlier.order_by("-number").first() or publication
    # A rollout that this publication closed had not made its candidate anybody's rules yet.
    was_on_its_way = Rollout.objects.filter(publication=publication).exists()
    digest = before.incumbent_digest if was_on_its_way else before.target_digest
    return document_of(digest).approvals
