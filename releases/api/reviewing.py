"""What surrounds the votes, for machines: times, comments, rebases, several moves at once."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases import review_shapes as shapes
from releases.api.parts import seen_proposal
from releases.api.proposals import proposal_out
from releases.models import Comment
from releases.services import bulk, comments, rebase, schedule


class Schedule(APIView):
    @extend_schema(request=shapes.NewTime, responses=shapes.ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        """Set, move or (with an empty `local`) lift the time; the votes of the round are void."""
        data = taken(shapes.NewTime, request)
        row = schedule.reschedule(
            actor_of(request),
            seen_proposal(request, pk),
            data["local"],
            data["zone"],
            data["which"],
            expected_version=data["expected_version"],
        )
        return proposal_out(row)


class Comments(APIView):
    @extend_schema(responses=shapes.CommentOut(many=True))
    def get(self, request: Request, pk: int) -> Response:
        rows = Comment.objects.filter(proposal=seen_proposal(request, pk))
        return listed(request, rows, shapes.CommentOut, "at")

    @extend_schema(request=shapes.NewComment, responses={201: shapes.CommentOut})
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        text = taken(shapes.NewComment, request)["text"]
        row = comments.comment(actor_of(request), seen_proposal(request, pk), text)
        return Response(shapes.CommentOut(row).data, status=201)


class RebaseOf(APIView):
    @extend_schema(responses=shapes.RebaseOut)
    def get(self, request: Request, pk: int) -> Response:
        """What a rebase would come to, and where somebody has to choose; stores nothing."""
        return Response(shapes.RebaseOut(rebase.rebased(seen_proposal(request, pk))).data)

    @extend_schema(request=shapes.NewRebase, responses=shapes.ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.NewRebase, request)
        row = rebase.rebase(
            actor_of(request),
            seen_proposal(request, pk),
            data["choices"],
            expected_version=data["expected_version"],
        )
        return proposal_out(row)


class Bulk(APIView):
    @extend_schema(request=shapes.NewBulk, responses=shapes.OutcomeOut(many=True))
    @idempotent
    def post(self, request: Request) -> Response:
        """Several moves in their order, each answered by itself whatever became of the others."""
        asked = taken(shapes.NewBulk, request)["moves"]
        outcomes = bulk.move_each(actor_of(request), asked)
        return Response({"items": shapes.OutcomeOut(outcomes, many=True).data})
