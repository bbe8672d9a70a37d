"""A role promised by a link: made by an owner, taken up once by whoever holds the link."""

import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, may, person, require
from accounts.mails import mailed
from accounts.models import Grant, Invitation, User
from accounts.roles import PEOPLE
from accounts.services import record, token_hash
from controlplane.errors import BadInput, Conflict, NotFound

VALID_FOR = timedelta(days=7)


@transaction.atomic
def invite(actor: Actor, *, email: str, role: str, product_slug: str) -> tuple[Invitation, str]:
    """A new invitation and its secret, which goes into the link and is not kept."""
    require(actor, Permission.ADMINISTER, product_slug)
    if role not in PEOPLE:
        raise BadInput("unknown_role", f"A person's role is one of {', '.join(PEOPLE)}.")
    if actor.user is None:
        raise BadInput("person_only", "A person invites, so that somebody answers for it.")
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        email=email,
        role=role,
        product_slug=product_slug,
        secret_hash=token_hash(secret),
        invited_by=actor.user,
        expires_at=timezone.now() + VALID_FOR,
    )
    record(
        actor,
        "invitation.sent",
        product=product_slug,
        obj=("invitation", invitation.pk),
        data={"email": email, "role": role},
    )
    return invitation, secret


def send_link(invitation: Invitation, link: str) -> bool:
    """Mail the link to whom it is for. Whether a server took it: who invites has the link too."""
    subject = f"Orchid: your role in {invitation.product_slug}"
    said = {"invitation": invitation, "link": link}
    return mailed(invitation.email, subject, "accounts/invitation_email.txt", said)


def opened(secret: str, *, lock: bool = False) -> Invitation:
    """The invitation behind a link; raises NotFound when nobody can take it up any more.

    It is worth what its sender may give now: who lost the right to give roles gives none by an
    old link.
    """
    rows = Invitation.objects.select_for_update(of=("self",)) if lock else Invitation.objects
    found = (
        rows.select_related("invited_by")
        .filter(secret_hash=token_hash(secret), accepted_at=None, withdrawn_at=None)
        .filter(expires_at__gt=timezone.now())
        .first()
    )
    if found is None:
        said = "This invitation was used or withdrawn, or its week is over. Ask for another."
        raise NotFound("invitation_closed", said)
    sender = found.invited_by
    if not may(person(sender), Permission.ADMINISTER, found.product_slug):
        said = f"{sender.name}, who sent this invitation, gives no roles here any more."
        raise NotFound("invitation_closed", f"{said} Ask an owner for another.")
    return found


@transaction.atomic
def withdraw(actor: Actor, invitation_id: int, product_slug: str) -> Invitation:
    """Close the link of an open invitation, as of now; doing it twice changes nothing.

    409 `invitation_accepted` where somebody took it up: then the role is what is to be taken back.
    """
    require(actor, Permission.ADMINISTER, product_slug)
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("invited_by")
    found = rows.filter(pk=invitation_id, product_slug=product_slug).first()
    if found is None:
        raise NotFound("not_found", f"{product_slug} has no such invitation.")
    if found.accepted_at is not None:
        said = f"{found.email} has taken it up: take the role back instead."
        raise Conflict("invitation_accepted", said)
    if found.withdrawn_at is None:
        found.withdrawn_at = timezone.now()
        found.save(update_fields=["withdrawn_at"])
        about, data = ("invitation", found.pk), {"email": found.email, "role": found.role}
        record(actor, "invitation.withdrawn", product=product_slug, obj=about, data=data)
    return found


@transaction.atomic
def join(secret: str, *, username: str, password: str, display_name: str) -> User:
    """Make the person and give the promised role."""
    invitation = opened(secret, lock=True)
    user = User(username=username, display_name=display_name, email=invitation.email)
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise BadInput("weak_password", " ".join(weak.messages)) from weak
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as taken:
        raise Conflict("name_taken", f"{username} is taken; choose another name.") from taken
    _settle(invitation, user)
    return user


@transaction.atomic
def accept(secret: str, user: User) -> Invitation:
    """Give the promised role to somebody who is here already."""
    invitation = opened(secret, lock=True)
    _settle(invitation, user)
    return invitation


def _settle(invitation: Invitation, user: User) -> None:
    Grant.objects.get_or_create(
        user=user, role=invitation.role, product_slug=invitation.product_slug
    )
    invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    record(
        person(user),
        "invitation.accepted",
        product=invitation.product_slug,
        obj=("invitation", invitation.pk),
        data={"role": invitation.role, "invited_by": invitation.invited_by.username},
    )
