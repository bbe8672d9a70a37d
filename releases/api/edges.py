"""Edges, for machines.

Registering and rotating take no Idempotency-Key: a stored answer would keep the token. Asked twice
they are refused, by the name that is taken and by the credential that is replaced already.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from accounts.shapes import Why
from controlplane.rest import in_pages, taken
from releases.api import edge_shapes as shapes
from releases.api.parts import one_product, visible
from releases.models import Edge
from releases.selectors.edges import alarms, edge_facts
from releases.selectors.fleet import one_edge, product_edge
from releases.services import edges as services
from releases.services.issue import latest

EDGES = 100  # of a list, in one answer


class Edges(APIView):
    @extend_schema(responses=shapes.EdgeOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        """Edges in service, the newest first, with how each stands to the newest publication."""
        rows = Edge.objects.filter(product__in=visible(request, slug), retired_at=None)
        rows = rows.select_related("product")
        return in_pages(request, rows, "registered_at", _items, size=EDGES)


class ProductEdges(Edges):
    @extend_schema(request=shapes.NewEdge, responses={201: shapes.IssuedOut})
    def post(self, request: Request, slug: str) -> Response:
        """A credential for a new edge; its token is in this answer alone."""
        data = taken(shapes.NewEdge, request)
        product = one_product(request, slug)
        made = services.register_edge(actor_of(request), product, **data)
        return Response(shapes.issued(*made), status=201)


class OneEdge(APIView):
    @extend_schema(responses=shapes.EdgeDetailOut)
    def get(self, request: Request, slug: str, name: str) -> Response:
        """One edge, in service or retired: what it answered, and by what it is known."""
        product = one_product(request, slug)
        return Response(shapes.EdgeDetailOut(one_edge(product, name, latest(product))).data)


class Alarms(APIView):
    @extend_schema(responses=shapes.AlarmOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        """What is wrong with edges and isn't over."""
        rows = [row for product in visible(request, slug) for row in alarms(product)]
        return Response({"items": shapes.AlarmOut(rows, many=True).data, "next_cursor": ""})


class Rotate(APIView):
    @extend_schema(request=shapes.Rotation, responses={201: shapes.IssuedOut})
    def post(self, request: Request, slug: str, name: str) -> Response:
        """A new token, in this answer alone, or a certificate; the old one counts a while."""
        data = taken(shapes.Rotation, request)
        made = services.rotate_edge(
            actor_of(request),
            _edge(request, slug, name),
            data["reason"],
            credential_id=data["credential"],
            overlap=timedelta(seconds=data["overlap_s"]),
            certificate=data["certificate"],
        )
        return Response(shapes.issued(*made), status=201)


class Revoke(APIView):
    @extend_schema(request=Why, responses={200: shapes.EdgeOut})
    @idempotent
    def post(self, request: Request, slug: str, name: str) -> Response:
        """End all that this edge shows; it is still waited for, and so is what it holds."""
        edge, data = _edge(request, slug, name), taken(Why, request)
        services.revoke_edge(actor_of(request), edge, data["reason"])
        return _told(edge)


class Retire(APIView):
    @extend_schema(request=shapes.Retirement, responses={200: shapes.RetiredOut})
    @idempotent
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Out of service; 409 `sequences_open` while it holds any, or may, unless abandoned."""
        edge, data = _edge(request, slug, name), taken(shapes.Retirement, request)
        retired = services.retire_edge(actor_of(request), edge, **data)
        return Response(shapes.RetiredOut(retired).data)


class DeclareShare(APIView):
    @extend_schema(request=shapes.DeclaredShare, responses={200: shapes.EdgeOut})
    @idempotent
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Its weight where no traffic was measured."""
        edge, data = _edge(request, slug, name), taken(shapes.DeclaredShare, request)
        services.declare_share(actor_of(request), edge, data["share"], data["reason"])
        return _told(edge)


def _items(rows: Sequence[Edge]) -> list[dict[str, Any]]:
    """Shares are parts of a whole, so the facts are those of every edge of each product."""
    found = {
        (product.pk, fact.name): fact
        for product in {row.product for row in rows}
        for fact in edge_facts(product, latest(product))
    }
    facts = ((row, found.get((row.product_id, row.name))) for row in rows)
    return [
        {"product": row.product.slug, **shapes.EdgeOut(fact).data} for row, fact in facts if fact
    ]


def _edge(request: Request, slug: str, name: str) -> Edge:
    return product_edge(one_product(request, slug), name)


def _told(edge: Edge) -> Response:
    facts = edge_facts(edge.product, latest(edge.product))
    mine = next(fact for fact in facts if fact.name == edge.name)
    return Response({"product": edge.product.slug, **shapes.EdgeOut(mine).data})
