"""Emergencies and the second looks that they owe, for machines that a person works with."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases import review_shapes as shapes
from releases.api.parts import named_product, seen_proposal, visible
from releases.api.proposals import proposal_out
from releases.models import SecondLook
from releases.selectors.seen import seen
from releases.services import second_look
from releases.services.cap import cap_tenant
from releases.services.emergency import Seen, publish_in_emergency


class Emergency(APIView):
    @extend_schema(request=shapes.NewEmergency, responses=shapes.ProposalWhole)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        """Serve a proposal to everyone at once; a second look is owed for it."""
        data = taken(shapes.NewEmergency, request)
        row = publish_in_emergency(
            actor_of(request),
            seen_proposal(request, pk),
            data["reason"],
            Seen(data["digest"], data["leaves"]),
            expected_version=data["expected_version"],
        )
        return proposal_out(row)


class Caps(APIView):
    @extend_schema(request=shapes.NewCap, responses={201: shapes.ProposalWhole})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        """Cap one tenant at once, by a generation that is what is live and this budget."""
        shape = shapes.NewCap(data=request.data)
        shape.is_valid(raise_exception=True)
        data = shape.validated_data
        product = named_product(request, slug, data)
        row = cap_tenant(
            actor_of(request),
            product,
            data["tenant"],
            data["window"],
            shape.limits(),
            data["reason"],
        )
        return proposal_out(row, 201)


class SecondLooks(APIView):
    @extend_schema(responses=shapes.SecondLookOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = SecondLook.objects.filter(product__in=visible(request, slug))
        rows = rows.select_related("product", "publication")
        return listed(request, rows, shapes.SecondLookOut, "opened_at")


class SecondLookDetail(APIView):
    @extend_schema(responses=shapes.SecondLookOut)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.SecondLookOut(seen_look(request, pk)).data)


class Confirm(APIView):
    @extend_schema(request=shapes.NewLook, responses=shapes.SecondLookOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.NewLook, request)
        version = data["expected_version"]
        actor, look = actor_of(request), seen_look(request, pk)
        row = second_look.confirm(actor, look, data["reason"], expected_version=version)
        return Response(shapes.SecondLookOut(row).data)


class Revert(APIView):
    @extend_schema(request=shapes.NewLook, responses=shapes.SecondLookOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.NewLook, request)
        version = data["expected_version"]
        actor, look = actor_of(request), seen_look(request, pk)
        row = second_look.revert(actor, look, data["reason"], expected_version=version)
        return Response(shapes.SecondLookOut(row).data)


def seen_look(request: Request, pk: int) -> SecondLook:
    return seen(actor_of(request), SecondLook.objects.select_related("product", "publication"), pk)
