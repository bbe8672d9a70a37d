"""The review card and the decision record of a proposal, for machines."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import taken
from releases import decision_shapes as shapes
from releases.api.parts import seen_proposal
from releases.selectors.card import review_card
from releases.selectors.record import Record, record_of
from releases.services import decision_record


class ReviewCard(APIView):
    @extend_schema(responses=shapes.CardOut)
    def get(self, request: Request, pk: int) -> Response:
        """Every question with its computed answer, and which missing evidence stops an approval."""
        card = review_card(seen_proposal(request, pk), timezone.now())
        return Response(
            {
                "answers": shapes.AnswerOut(card.answers, many=True).data,
                "proofs": shapes.ProofOut(card.proofs, many=True).data,
                "blockers": [proof.name for proof in card.blockers],
            }
        )


class DecisionRecord(APIView):
    @extend_schema(responses=dict[str, Any])
    def get(self, request: Request, pk: int) -> Response:
        """The record as JSON; `markdown` is the same for people."""
        return _told(record_of(seen_proposal(request, pk)))

    @extend_schema(request=shapes.RecordEdit, responses=dict[str, Any])
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.RecordEdit, request)
        row, number = seen_proposal(request, pk), data["expected_revision"]
        actor, texts = actor_of(request), data["sections"]
        return _told(decision_record.edit(actor, row, texts, expected_revision=number))


def _told(record: Record) -> Response:
    return Response(record.as_json() | {"markdown": record.as_markdown()})
