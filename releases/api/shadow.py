"""What a candidate would have decided, for machines."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.errors import NotFound
from ingest.states import DIFFERING, ShadowMode
from policies.models import Product
from releases.api.parts import one_product
from releases.models import Publication
from releases.selectors.disagreements import Disagreements, Narrowed
from releases.selectors.shadow import (
    agreement,
    mode_looked_at,
    publication_looked_at,
)
from releases.states import ShadowNear

CURSOR = OpenApiParameter("cursor", str, description="The next_cursor of the page before.")


class ShadowAsked(serializers.Serializer[Any]):
    """Which publication and mode; without them the newest that edges told of."""

    publication = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    mode = serializers.ChoiceField(required=False, choices=ShadowMode.choices)


class DisagreementsAsked(ShadowAsked):
    """The same, narrowed to what the requests were near to or to how the candidate differs."""

    near = serializers.ChoiceField(required=False, choices=ShadowNear.choices)
    difference = serializers.ChoiceField(
        required=False, choices=[(one.value, one.label) for one in DIFFERING]
    )


class AgreementOut(serializers.Serializer[Any]):
    """How often a candidate decides as the incumbent does; `share` is null without decisions.

    In mode `hard_limits` the candidate's limits hold: `refused` is what they refuse and the
    incumbent alone would serve.
    """

    product = serializers.CharField()
    publication = serializers.IntegerField()
    mode = serializers.ChoiceField(choices=ShadowMode.choices)
    decisions = serializers.IntegerField()
    disagreements = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    refused = serializers.IntegerField()
    refused_share = serializers.FloatField(allow_null=True)
    by_kind = serializers.DictField(child=serializers.IntegerField())
    near = serializers.DictField(child=serializers.IntegerField())
    passed_over = serializers.DictField(child=serializers.IntegerField())
    first_at = serializers.DateTimeField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)


class DisagreementOut(serializers.Serializer[Any]):
    """One request with both decisions; each has its action, route, reason and predictions."""

    request_id = serializers.CharField(source="row.request_id")
    attempt = serializers.IntegerField(source="row.attempt")
    at = serializers.DateTimeField(source="row.at")
    edge = serializers.CharField(source="row.edge")
    tenant = serializers.CharField(source="row.tenant")
    class_name = serializers.CharField(source="row.class_name")
    segment = serializers.DictField(child=serializers.CharField(), source="row.dims")
    difference = serializers.CharField()
    near = serializers.ListField(child=serializers.CharField())
    deadline_ms = serializers.FloatField(allow_null=True, source="row.deadline_ms")
    input_tokens = serializers.IntegerField(allow_null=True, source="row.input_tokens")
    max_output_tokens = serializers.IntegerField(allow_null=True, source="row.max_output_tokens")
    incumbent = serializers.JSONField(source="row.incumbent")
    candidate = serializers.JSONField(source="row.candidate")


class Shadow(APIView):
    @extend_schema(responses=AgreementOut, parameters=[ShadowAsked])
    def get(self, request: Request, slug: str) -> Response:
        """How often the candidate agrees with what was decided."""
        product = one_product(request, slug)
        publication, mode = _looked_at(product, _asked(ShadowAsked, request))
        found = agreement(product, publication, mode)
        names = AgreementOut().fields.keys() - {"product", "publication"}
        figures = {name: getattr(found, name) for name in names}
        told = {"product": product.slug, "publication": publication.number, **figures}
        return Response(AgreementOut(told).data)


class ShadowDisagreements(APIView):
    @extend_schema(responses=DisagreementOut(many=True), parameters=[DisagreementsAsked, CURSOR])
    def get(self, request: Request, slug: str) -> Response:
        """Decisions in which the candidate differs, newest first, with both sides."""
        product, asked = one_product(request, slug), _asked(DisagreementsAsked, request)
        publication, mode = _looked_at(product, asked)
        rows = Disagreements(product, publication, mode)
        narrowed = Narrowed(asked.get("near", ""), asked.get("difference", ""))
        cursor = request.query_params.get("cursor", "")
        page = rows.page(narrowed, rows.floors(timezone.now()), cursor)
        items = DisagreementOut(page.rows, many=True).data
        return Response({"items": items, "next_cursor": page.next_cursor})


def _asked(shape: type[ShadowAsked], request: Request) -> dict[str, Any]:
    given = shape(data=request.query_params)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def _looked_at(product: Product, asked: dict[str, Any]) -> tuple[Publication, ShadowMode]:
    publication = publication_looked_at(product, asked.get("publication"))
    if publication is None:
        raise NotFound("not_found", f"Nothing of {product.slug} was ever published.")
    return publication, mode_looked_at(product, publication, asked.get("mode", ""))
