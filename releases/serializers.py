"""Shapes of the API: what comes in is checked here, what goes out is written here."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from releases.models import Proposal, Publication, Rollout, Vote
from releases.selectors.exposure import Exposed
from releases.selectors.progress import Condition, Lane
from releases.selectors.trade import sentence
from releases.selectors.votes import votes_behind
from releases.services.binding import bound_digest
from releases.states import Choice


class NewProposal(serializers.Serializer[Any]):
    product = serializers.SlugField(required=False)
    generation = serializers.IntegerField(min_value=1)
    title = serializers.CharField(max_length=200)
    rationale = serializers.CharField(max_length=5000, required=False, default="")


class Moved(serializers.Serializer[Any]):
    """Any move: the version that it is based on."""

    expected_version = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=5000, required=False, default="")


class SegmentMoved(Moved):
    """A gated segment that is to stay behind or to go ahead."""

    segment = serializers.CharField(max_length=80)


class StageApproved(Moved):
    """`segments` are those that the yes was read to be for, by name; "" is the rest.

    Where others lack only a yes by now it is refused; without it the yes is for whatever does.
    """

    segments = serializers.ListField(
        child=serializers.CharField(max_length=80, allow_blank=True), required=False, default=list
    )


class NewVote(serializers.Serializer[Any]):
    """`bound_digest` is what the voter saw (`bound_digest` of the proposal).

    It stands in for the version, which moves with each vote of somebody else.
    """

    expected_version = serializers.IntegerField(min_value=1, required=False, default=None)
    decision = serializers.ChoiceField(choices=Choice.choices)
    reason = serializers.CharField(max_length=5000)
    bound_digest = serializers.CharField(max_length=80)


class FirstPublication(serializers.Serializer[Any]):
    product = serializers.SlugField(required=False)
    generation = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=5000)


class VoteOut(serializers.ModelSerializer[Vote]):
    user = serializers.CharField(source="user.username")

    class Meta:
        model = Vote
        fields = (
            "round",
            "user",
            "role",
            "decision",
            "reason",
            "at",
            "bound_digest",
            "content_digest",
            "void",
            "void_why",
        )


class ProposalOut(serializers.ModelSerializer[Proposal]):
    product = serializers.CharField(source="product.slug")
    generation = serializers.IntegerField(source="generation.number")
    bound_digest = serializers.SerializerMethodField()
    signed = serializers.SerializerMethodField()
    votes = VoteOut(many=True)

    class Meta:
        model = Proposal
        fields: tuple[str, ...] = (
            "id",
            "product",
            "generation",
            "state",
            "round",
            "version",
            "title",
            "rationale",
            "author",
            "revision_digest",
            "base_publication",
            "base_digest",
            "evidence_digest",
            "record_digest",
            "trade",
            "trade_digest",
            "signed",
            "required",
            "bound_digest",
            "votes",
            "created_at",
            "submitted_at",
            "publish_at",
            "publish_local",
            "publish_zone",
            "returned_why",
        )

    def get_signed(self, row: Proposal) -> str:
        """The trade as the one sentence that an approver signs; empty before a submission."""
        return sentence(row.trade)

    def get_bound_digest(self, row: Proposal) -> str:
        return bound_digest(row)


class PublicationOut(serializers.ModelSerializer[Publication]):
    """`by_segment` are segments with a fraction of their own; `votes` carried what it leads to."""

    product = serializers.CharField(source="product.slug")
    votes = serializers.SerializerMethodField()

    class Meta:
        model = Publication
        fields = (
            "id",
            "product",
            "number",
            "kind",
            "incumbent_digest",
            "candidate_digest",
            "fraction",
            "stage",
            "by_segment",
            "votes",
            "pools",
            "etag",
            "kid",
            "published_at",
            "issued_at",
            "expires_at",
            "actor",
            "reason",
        )

    @extend_schema_field(VoteOut(many=True))
    def get_votes(self, row: Publication) -> list[dict[str, Any]]:
        """Of a list they are read at once, and given as `votes` of the context."""
        behind = self.context.get("votes") or votes_behind([row])
        return list(VoteOut(behind[row.pk], many=True).data)


class RolloutOut(serializers.ModelSerializer[Rollout]):
    product = serializers.CharField(source="product.slug")
    publication = serializers.IntegerField(source="publication.number")
    proposal = serializers.IntegerField(source="proposal_id")

    class Meta:
        model = Rollout
        fields = (
            "id",
            "product",
            "proposal",
            "publication",
            "candidate_digest",
            "state",
            "version",
            "stage_index",
            "stage_opened_at",
            "vector",
            "reason",
            "created_at",
            "closed_at",
        )


class ConditionOut(serializers.Serializer[Condition]):
    name = serializers.CharField()
    met = serializers.BooleanField()
    said = serializers.CharField()
    now = serializers.CharField()
    asked = serializers.CharField()
    until = serializers.DateTimeField(allow_null=True)
    of = serializers.CharField(help_text="Segment or stratum; empty where there is one of it.")


class LaneOut(serializers.Serializer[Lane]):
    """A segment at a stage of its own; "" is everything else."""

    segment = serializers.CharField(source="place.segment")
    stage = serializers.IntegerField(source="place.stage")
    held = serializers.BooleanField(source="place.held")
    fraction = serializers.FloatField(source="stage.fraction")
    hold_until = serializers.DateTimeField(allow_null=True)
    conditions = ConditionOut(many=True)


class ExposedOut(serializers.Serializer[Exposed]):
    """A stratum ("" is all of them): the part planned for the candidate, and what it got."""

    stratum = serializers.CharField()
    planned = serializers.FloatField(allow_null=True)
    requests = serializers.IntegerField()
    of_requests = serializers.IntegerField()
    by_requests = serializers.FloatField(allow_null=True)
    teu = serializers.DecimalField(max_digits=None, decimal_places=None)
    of_teu = serializers.DecimalField(max_digits=None, decimal_places=None)
    by_teu = serializers.FloatField(allow_null=True)


class RolloutDetailOut(RolloutOut):
    blockers = serializers.ListField(child=serializers.CharField())
    by_hand = serializers.BooleanField()
    earliest = serializers.DateTimeField(allow_null=True)
    segments = LaneOut(many=True)
    exposure = ExposedOut(many=True)

    class Meta(RolloutOut.Meta):
        fields = (  # type: ignore[assignment]
            *RolloutOut.Meta.fields,
            "blockers",
            "by_hand",
            "earliest",
            "segments",
            "exposure",
        )
