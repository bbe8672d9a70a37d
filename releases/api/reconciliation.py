"""What pools still hold, and letting one go, for machines."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases.api.parts import one_product
from releases.api.rollback_shapes import NewPoolRelease, PoolOut, PoolReleaseOut
from releases.models import PoolRelease
from releases.selectors.reconciliation import pool_facts
from releases.services.release_pool import release_pool


class Reconciliation(APIView):
    @extend_schema(responses=PoolOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Each pool with its open sequences by manifest and edge, and what keeps it."""
        facts = pool_facts(one_product(request, slug))
        return Response({"items": PoolOut(facts, many=True).data, "next_cursor": ""})


class PoolReleases(APIView):
    @extend_schema(responses=PoolReleaseOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = PoolRelease.objects.filter(product=one_product(request, slug))
        return listed(request, rows.select_related("product"), PoolReleaseOut, "released_at")

    @extend_schema(request=NewPoolRelease, responses={201: PoolReleaseOut})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """201 with the release, 200 where it was released before; 409 says what keeps the pool."""
        data = taken(NewPoolRelease, request)
        product = one_product(request, slug)
        row, made = release_pool(actor_of(request), product, data["digest"], data["reason"])
        return Response(PoolReleaseOut(row).data, status=201 if made else 200)
