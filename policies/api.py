"""Products and generations for machines."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, products_with, require
from accounts.idempotency import idempotent
from controlplane.errors import BadInput
from controlplane.web import whole_number
from policies import selectors, services
from policies import serializers as shapes
from policies.models import Generation, Product, Revision


def visible_product(request: Request, slug: str, permission: Permission) -> Product:
    """The product, if the caller has the permission in it; one that it may not see is not there."""
    actor = actor_of(request)
    require(actor, Permission.VIEW, slug)
    require(actor, permission, slug)
    return selectors.product(slug)


def checked(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class Products(APIView):
    @extend_schema(responses=shapes.ProductOut(many=True))
    def get(self, request: Request) -> Response:
        found = selectors.products(products_with(actor_of(request), Permission.VIEW))
        return Response({"results": shapes.ProductOut(found, many=True).data})

    @extend_schema(request=shapes.NewProduct, responses={201: shapes.ProductOut})
    @idempotent
    def post(self, request: Request) -> Response:
        wanted = checked(shapes.NewProduct(data=request.data))
        product = services.create_product(actor_of(request), **wanted)
        return Response(shapes.ProductOut(product).data, status=201)


class ProductDetail(APIView):
    @extend_schema(responses=shapes.ProductOut)
    def get(self, request: Request, slug: str) -> Response:
        product = visible_product(request, slug, Permission.VIEW)
        return Response(shapes.ProductOut(product).data)


class Generations(APIView):
    @extend_schema(responses=shapes.GenerationOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        product = visible_product(request, slug, Permission.VIEW)
        return Response({"results": _listed(selectors.generations(product))})

    @extend_schema(request=shapes.NewGeneration, responses={201: shapes.RevisionOut})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        product = visible_product(request, slug, Permission.PROPOSE)
        wanted = checked(shapes.NewGeneration(data=request.data))
        revision = services.draft_generation(
            actor_of(request),
            product,
            wanted["document"],
            wanted["title"],
            _base(product, wanted.get("base")),
        )
        return Response(shapes.RevisionOut(revision).data, status=201)


class AllGenerations(APIView):
    """Of one product, named by `?product=`."""

    @extend_schema(
        parameters=[OpenApiParameter("product", str, required=True)],
        responses=shapes.GenerationOut(many=True),
    )
    def get(self, request: Request) -> Response:
        slug = request.query_params.get("product", "")
        product = visible_product(request, slug, Permission.VIEW)
        return Response({"results": _listed(selectors.generations(product))})


class GenerationDetail(APIView):
    @extend_schema(parameters=[OpenApiParameter("revision", int)], responses=shapes.RevisionOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        product = visible_product(request, slug, Permission.VIEW)
        generation = selectors.generation(product, number)
        revision = selectors.revision(generation, _number(request, "revision"))
        return Response(shapes.RevisionOut(revision).data)


class Revisions(APIView):
    @extend_schema(request=shapes.NewRevision, responses={201: shapes.RevisionOut})
    @idempotent
    def post(self, request: Request, slug: str, number: int) -> Response:
        product = visible_product(request, slug, Permission.PROPOSE)
        wanted = checked(shapes.NewRevision(data=request.data))
        generation = selectors.generation(product, number)
        revision = services.revise(actor_of(request), generation, **wanted)
        return Response(shapes.RevisionOut(revision).data, status=201)


class Difference(APIView):
    """What generation `number` changes against `?base=`, and who must approve that."""

    @extend_schema(
        parameters=[OpenApiParameter("base", int, required=True)], responses=shapes.DifferenceOut
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        product = visible_product(request, slug, Permission.VIEW)
        base = _number(request, "base")
        if base is None:
            raise BadInput("base_missing", "Name the generation to compare with: ?base=1")
        before = selectors.revision(selectors.generation(product, base))
        after = selectors.revision(selectors.generation(product, number))
        return Response(shapes.DifferenceOut(selectors.compared(before, after)).data)


def _listed(generations: QuerySet[Generation]) -> Any:
    return shapes.GenerationOut(generations.select_related("product"), many=True).data


def _base(product: Product, number: int | None) -> Revision | None:
    return selectors.revision(selectors.generation(product, number)) if number else None


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name, "")
    number = whole_number(text)
    if text and number is None:
        raise BadInput("bad_number", f"{name} is a number, such as 1.")
    return number
