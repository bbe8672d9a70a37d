"""Proposals and votes, for machines."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases import serializers as shapes
from releases.api.parts import named_product, seen_proposal, visible
from releases.models import Proposal
from releases.review_shapes import ProposalWhole
from releases.selectors.waiting import in_state
from releases.services import propose, publish, review
from releases.states import Choice


def proposal_out(row: Proposal, status: int = 200) -> Response:
    return Response(ProposalWhole(row).data, status=status)


class Proposals(APIView):
    @extend_schema(responses=shapes.ProposalOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Proposal.objects.filter(product__in=visible(request, slug))
        rows = in_state(rows, request.query_params.get("state", ""))
        rows = rows.select_related("product", "generation").prefetch_related("votes__user")
        return listed(request, rows, shapes.ProposalOut, "created_at")

    @extend_schema(request=shapes.NewProposal, responses={201: ProposalWhole})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        data = taken(shapes.NewProposal, request)
        product = named_product(request, slug, data)
        row = propose.propose(
            actor_of(request), product, data["generation"], data["title"], data["rationale"]
        )
        return proposal_out(row, 201)


class ProposalDetail(APIView):
    @extend_schema(responses=ProposalWhole)
    def get(self, request: Request, pk: int) -> Response:
        return proposal_out(seen_proposal(request, pk))


class Submit(APIView):
    @extend_schema(request=shapes.Moved, responses=ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = seen_proposal(request, pk)
        return proposal_out(propose.submit(actor_of(request), row, expected_version=version))


class Withdraw(APIView):
    @extend_schema(request=shapes.Moved, responses=ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_proposal(request, pk)
        version = data["expected_version"]
        actor = actor_of(request)
        return proposal_out(propose.withdraw(actor, row, data["reason"], expected_version=version))


class CastVote(APIView):
    @extend_schema(request=shapes.NewVote, responses=ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.NewVote, request)
        row = review.vote(
            actor_of(request),
            seen_proposal(request, pk),
            Choice(data["decision"]),
            data["reason"],
            data["bound_digest"],
            expected_version=data["expected_version"],
        )
        return proposal_out(row)


class Publish(APIView):
    @extend_schema(request=shapes.Moved, responses=ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = seen_proposal(request, pk)
        return proposal_out(publish.publish(actor_of(request), row, expected_version=version))
