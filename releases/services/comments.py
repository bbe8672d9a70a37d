"""What people and machines say about a proposal, beside the votes."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput
from releases.models import Comment, Proposal


@transaction.atomic
def comment(actor: Actor, proposal: Proposal, text: str, now: datetime | None = None) -> Comment:
    """Say something about a proposal, in whatever state; it stays and decides nothing."""
    require(actor, Permission.PROPOSE, proposal.product.slug)
    said = text.strip()
    if not said:
        raise BadInput("text_missing", "A comment says something.")
    row = Comment.objects.create(
        proposal=proposal,
        round=proposal.round,
        author=actor.name,
        author_user=actor.user,
        text=said,
        at=now or timezone.now(),
    )
    record(
        actor,
        "proposal.comment",
        product=proposal.product.slug,
        obj=("proposal", proposal.pk),
        after=proposal.revision_digest,
        data={"comment": row.pk, "round": row.round},
    )
    return row
