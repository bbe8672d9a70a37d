"""Shapes of the API around a review: times, comments, rebases, emergencies and second looks."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from releases.models import Comment, Proposal, SecondLook
from releases.selectors.waiting import is_behind
from releases.serializers import Moved, ProposalOut
from releases.services.binding import current_revision
from releases.services.bulk import MOST_AT_ONCE, MOVES, VOTES, Outcome
from releases.services.cap import LIMITS
from releases.services.expiry import expires_at
from releases.services.hindrances import hindrances
from releases.services.rebase import Rebase
from releases.states import WAITING_PROPOSALS, ProposalState


class ProposalWhole(ProposalOut):
    """One proposal with when its round ends and what keeps it from being published now.

    `newest_digest` is the text of its generation as it is now, which an emergency would serve.
    `is_behind`: something else became live since it was begun, so that it has to be rebased.
    """

    newest_digest = serializers.SerializerMethodField()
    expires_at = serializers.SerializerMethodField()
    hindrances = serializers.SerializerMethodField()
    is_behind = serializers.SerializerMethodField()

    class Meta(ProposalOut.Meta):
        fields = (
            *ProposalOut.Meta.fields,
            "newest_digest",
            "expires_at",
            "hindrances",
            "is_behind",
        )

    def get_newest_digest(self, row: Proposal) -> str:
        return current_revision(row.generation).digest

    def get_expires_at(self, row: Proposal) -> str | None:
        ends = expires_at(row) if row.state in WAITING_PROPOSALS else None
        return ends.isoformat() if ends else None

    def get_is_behind(self, row: Proposal) -> bool:
        return is_behind(row)

    def get_hindrances(self, row: Proposal) -> list[dict[str, str]]:
        if row.state != ProposalState.APPROVED:
            return []
        found = hindrances(row, timezone.now())
        return [{"code": one.code, "detail": one.detail} for one in found]


class NewTime(Moved):
    """A time on the wall without an offset, and its zone; `which` for an hour that comes twice."""

    local = serializers.CharField(max_length=25, allow_blank=True)
    zone = serializers.CharField(max_length=64, required=False, allow_blank=True, default="")
    which = serializers.ChoiceField(
        choices=["first", "second"], required=False, allow_blank=True, default=""
    )


class NewComment(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=5000)


class CommentOut(serializers.ModelSerializer[Comment]):
    class Meta:
        model = Comment
        fields = ("id", "round", "author", "text", "at")


class NewRebase(Moved):
    """`choices` says by JSON pointer whose value a collision takes."""

    choices = serializers.DictField(
        child=serializers.ChoiceField(choices=["mine", "theirs"]), required=False, default=dict
    )


class CollisionOut(serializers.Serializer[Any]):
    pointer = serializers.CharField()
    base = serializers.JSONField(allow_null=True)
    mine = serializers.JSONField(allow_null=True)
    theirs = serializers.JSONField(allow_null=True)


class RebaseOut(serializers.Serializer[Rebase]):
    """The three sides by digest, what they come to, and where somebody has to choose."""

    is_due = serializers.BooleanField()
    base = serializers.CharField()
    mine = serializers.CharField(source="mine.digest")
    theirs = serializers.CharField()
    collisions = CollisionOut(source="merged.collisions", many=True)
    document = serializers.JSONField(source="merged.document")


class BulkMove(serializers.Serializer[Any]):
    """One move by its version; approve and reject go by `bound_digest`, with a reason."""

    expected_version = serializers.IntegerField(min_value=1, required=False, default=None)
    reason = serializers.CharField(max_length=5000, required=False, default="")
    proposal = serializers.IntegerField(min_value=1)
    move = serializers.ChoiceField(choices=sorted(MOVES))
    bound_digest = serializers.CharField(max_length=80, required=False, default="")

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = "bound_digest" if asked["move"] in VOTES else "expected_version"
        if not asked[name]:
            raise serializers.ValidationError({name: f"To {asked['move']} needs it."})
        return asked


class NewBulk(serializers.Serializer[Any]):
    moves = serializers.ListField(child=BulkMove(), min_length=1, max_length=MOST_AT_ONCE)


class OutcomeOut(serializers.Serializer[Any]):
    """`status` is what the move alone would have been answered with."""

    proposal = serializers.IntegerField(source="proposal_id")
    move = serializers.CharField()
    status = serializers.SerializerMethodField()
    state = serializers.CharField(source="proposal.state", default=None)
    version = serializers.IntegerField(source="proposal.version", default=None)
    code = serializers.CharField(source="problem.code", default=None)
    detail = serializers.CharField(source="problem.detail", default=None)

    def get_status(self, row: Outcome) -> int:
        return row.problem.status if row.problem else 200


class NewEmergency(Moved):
    """`digest` is the text that was read (`newest_digest` of the proposal), `leaves` what was live
    then, if that is to hold as well."""

    digest = serializers.CharField(max_length=80)
    leaves = serializers.CharField(max_length=80, required=False, default="")
    reason = serializers.CharField(max_length=5000)


class NewCap(serializers.Serializer[Any]):
    """A tighter budget of one tenant in a window; at least one limit."""

    product = serializers.SlugField(required=False)
    tenant = serializers.CharField(max_length=80)
    window = serializers.CharField(max_length=12)
    reason = serializers.CharField(max_length=5000)
    max_usd = serializers.DecimalField(18, 6, min_value=0, required=False)
    max_teu = serializers.IntegerField(min_value=0, required=False)
    max_live_token_ms = serializers.IntegerField(min_value=0, required=False)
    max_output_tokens = serializers.IntegerField(min_value=0, required=False)
    max_external_calls = serializers.IntegerField(min_value=0, required=False)

    def limits(self) -> dict[str, Any]:
        """The limits that were given, money as text."""
        found = {key: self.validated_data[key] for key in LIMITS if key in self.validated_data}
        return {key: str(value) if key == "max_usd" else value for key, value in found.items()}


class NewLook(Moved):
    """What was found; it stays with what was done."""

    reason = serializers.CharField(max_length=5000)


class SecondLookOut(serializers.ModelSerializer[SecondLook]):
    product = serializers.CharField(source="product.slug")
    publication = serializers.IntegerField(source="publication.number")

    class Meta:
        model = SecondLook
        fields = (
            "id",
            "product",
            "kind",
            "publication",
            "state",
            "version",
            "asked_of",
            "actor",
            "reason",
            "opened_at",
            "due_at",
            "looked_by",
            "looked_at",
            "words",
        )
