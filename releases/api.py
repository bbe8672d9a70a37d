"""The same doors for machines: parse, call the service or selector, answer."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, products_with, require
from accounts.idempotency import idempotent
from controlplane.errors import BadInput, NotFound
from controlplane.web import paged
from policies.models import Product
from policies.selectors import product as product_by_slug
from policies.selectors import products
from releases import serializers as shapes
from releases.models import Proposal, Publication, Rollout
from releases.selectors.edges import edge_facts
from releases.selectors.progress import progress
from releases.services import propose, publish, review, rollback, rollout
from releases.services.issue import latest
from releases.states import OPEN_ROLLOUTS, Choice


def taken(shape: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """The checked input; raises 400 with every wrong field."""
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def visible(request: Request, slug: str | None) -> list[Product]:
    """The products of a list: one by address or `?product=`, else all that the actor may see."""
    actor = actor_of(request)
    named = slug or request.query_params.get("product")
    if named:
        require(actor, Permission.VIEW, named)
        return [product_by_slug(named)]
    return list(products(products_with(actor, Permission.VIEW)))


def named_product(request: Request, slug: str | None, data: dict[str, Any]) -> Product:
    """The product of a write, by address or in the body; unseen is not there."""
    named = slug or data.get("product")
    if not named:
        raise BadInput("product_missing", "Name the product.")
    require(actor_of(request), Permission.VIEW, named)
    return product_by_slug(named)


def listed(
    request: Request, rows: QuerySet[Any], shape: type[BaseSerializer[Any]], field: str
) -> Response:
    page = paged(rows, request.query_params.get("cursor", ""), field=field)
    return Response({"items": shape(page.rows, many=True).data, "next_cursor": page.next_cursor})


def seen_proposal(request: Request, pk: int) -> Proposal:
    """A proposal that the actor may see; one that isn't theirs to see is not there."""
    row = Proposal.objects.select_related("product", "generation").filter(pk=pk).first()
    if row is None:
        raise NotFound("not_found", f"There is no proposal {pk}.")
    require(actor_of(request), Permission.VIEW, row.product.slug)
    return row


def seen_rollout(request: Request, pk: int) -> Rollout:
    row = Rollout.objects.select_related("product", "publication").filter(pk=pk).first()
    if row is None:
        raise NotFound("not_found", f"There is no rollout {pk}.")
    require(actor_of(request), Permission.VIEW, row.product.slug)
    return row


def proposal_out(row: Proposal, status: int = 200) -> Response:
    return Response(shapes.ProposalOut(row).data, status=status)


class Proposals(APIView):
    @extend_schema(responses=shapes.ProposalOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Proposal.objects.filter(product__in=visible(request, slug))
        rows = rows.select_related("product", "generation").prefetch_related("votes__user")
        return listed(request, rows, shapes.ProposalOut, "created_at")

    @extend_schema(request=shapes.NewProposal, responses={201: shapes.ProposalOut})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        data = taken(shapes.NewProposal, request)
        product = named_product(request, slug, data)
        row = propose.propose(
            actor_of(request), product, data["generation"], data["title"], data["rationale"]
        )
        return proposal_out(row, 201)


class ProposalDetail(APIView):
    @extend_schema(responses=shapes.ProposalOut)
    def get(self, request: Request, pk: int) -> Response:
        return proposal_out(seen_proposal(request, pk))


class Submit(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.ProposalOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = seen_proposal(request, pk)
        return proposal_out(propose.submit(actor_of(request), row, expected_version=version))


class Withdraw(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.ProposalOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_proposal(request, pk)
        version = data["expected_version"]
        actor = actor_of(request)
        return proposal_out(propose.withdraw(actor, row, data["reason"], expected_version=version))


class CastVote(APIView):
    @extend_schema(request=shapes.NewVote, responses=shapes.ProposalOut)
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
    @extend_schema(request=shapes.Moved, responses=shapes.ProposalOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = seen_proposal(request, pk)
        return proposal_out(publish.publish(actor_of(request), row, expected_version=version))


class Publications(APIView):
    @extend_schema(responses=shapes.PublicationOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Publication.objects.filter(product__in=visible(request, slug))
        return listed(request, rows.select_related("product"), shapes.PublicationOut, "issued_at")


class Rollbacks(APIView):
    @extend_schema(request=shapes.NewRollback, responses={201: shapes.PublicationOut})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        """201 with the new publication; 200 with the last one where it already is that rollback."""
        data = taken(shapes.NewRollback, request)
        product = named_product(request, slug, data)
        actor = actor_of(request)
        publication, made = rollback.roll_back(actor, product, data["reason"], to=data["to"])
        return Response(shapes.PublicationOut(publication).data, status=201 if made else 200)


class Edges(APIView):
    @extend_schema(responses=shapes.EdgeOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        items = [
            {"product": product.slug, **shapes.EdgeOut(fact).data}
            for product in visible(request, slug)
            for fact in edge_facts(product, latest(product))
        ]
        return Response({"items": items, "next_cursor": ""})


class Rollouts(APIView):
    @extend_schema(responses=shapes.RolloutOut(many=True))
    def get(self, request: Request) -> Response:
        rows = Rollout.objects.filter(product__in=visible(request, None))
        rows = rows.select_related("product", "publication")
        return listed(request, rows, shapes.RolloutOut, "created_at")


class RolloutDetail(APIView):
    @extend_schema(responses=shapes.RolloutOut)
    def get(self, request: Request, pk: int) -> Response:
        """The rollout and, while it is open, what keeps it from advancing."""
        row = seen_rollout(request, pk)
        is_open = row.state in OPEN_ROLLOUTS
        blockers = progress(row, timezone.now()).blockers if is_open else []
        return Response({**shapes.RolloutOut(row).data, "blockers": blockers})


class Advance(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = rollout.advance(
            actor_of(request), seen_rollout(request, pk), expected_version=version
        )
        return Response(shapes.RolloutOut(row).data)


class Pause(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_rollout(request, pk)
        version = data["expected_version"]
        row = rollout.pause(actor_of(request), row, data["reason"], expected_version=version)
        return Response(shapes.RolloutOut(row).data)


class Resume(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_rollout(request, pk)
        version = data["expected_version"]
        row = rollout.resume(actor_of(request), row, data["reason"], expected_version=version)
        return Response(shapes.RolloutOut(row).data)
