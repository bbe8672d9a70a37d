"""The signed bundle itself, for whoever puts it where static files are served from."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, require
from controlplane.errors import NotFound
from policies.selectors import product as product_by_slug
from releases.keys import public_keys
from releases.services.issue import latest


class NewestBundle(APIView):
    """The bundle that edges are wanted on, byte for byte; 304 while its tag is the one given."""

    @extend_schema(responses={(200, "application/jose"): OpenApiTypes.STR, 304: None})
    def get(self, request: Request, slug: str) -> HttpResponse:
        require(actor_of(request), Permission.VIEW, slug)
        found = latest(product_by_slug(slug))
        if found is None:
            raise NotFound("nothing_published", f"{slug} has no publication yet.")
        headers = {"ETag": found.etag, "Cache-Control": "private, no-cache"}
        if request.headers.get("If-None-Match") == found.etag:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(found.token, content_type="application/jose", headers=headers)


class BundleKeys(APIView):
    """The public keys by id: the signing one, and those that will sign after it."""

    @extend_schema(responses={200: dict[str, dict[str, dict[str, str]]]})
    def get(self, request: Request, slug: str) -> Response:
        require(actor_of(request), Permission.VIEW, slug)
        return Response({"keys": public_keys()})
