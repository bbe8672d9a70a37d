"""Evidence, verdicts and the check for machines."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, require
from accounts.idempotency import idempotent
from controlplane.errors import BadInput, NotFound
from controlplane.web import paged, whole_number
from gates.models import Evaluation, Evidence, Verdict, Window
from gates.selectors import latest, live_window, window_for
from gates.selectors.check import Answer, check
from gates.services import push_evidence_set
from policies import selectors as policies
from policies.models import Product

PRODUCT = OpenApiParameter("product", str, description="The product's slug, where no path has it.")
PUBLICATION = OpenApiParameter("publication", int, description="Default: what is live.")
GENERATION = OpenApiParameter("generation", int, description="Default: what is live.")


class EvidenceOut(serializers.ModelSerializer[Evidence]):
    class Meta:
        model = Evidence
        fields: ClassVar = [
            "id",
            "digest",
            "kind",
            "suite",
            "suite_version",
            "route",
            "manifest",
            "where",
            "n",
            "mean",
            "spread",
            "violations",
            "pushed_by",
            "created_at",
        ]


class VerdictOut(serializers.ModelSerializer[Verdict]):
    class Meta:
        model = Verdict
        exclude: ClassVar = ["id", "evaluation"]


class WindowOut(serializers.ModelSerializer[Window]):
    class Meta:
        model = Window
        fields: ClassVar = [
            "digest",
            "publication",
            "cohort",
            "opens_at",
            "closes_at",
            "exposure",
        ]


class EvaluationOut(serializers.ModelSerializer[Evaluation]):
    """One judgement; `verdicts` has a row for each gate and segment ("" is the whole)."""

    window = WindowOut()
    verdicts = VerdictOut(many=True)

    class Meta:
        model = Evaluation
        fields: ClassVar = [
            "id",
            "window",
            "watermark",
            "evaluated_at",
            "inputs_digest",
            "evidence_digest",
            "validity",
            "verdict",
            "reasons",
            "figures",
            "verdicts",
        ]


class CheckOut(serializers.Serializer[Answer]):
    verdict = serializers.CharField()
    exit_code = serializers.IntegerField()
    reasons = serializers.ListField(child=serializers.CharField())
    window = WindowOut(allow_null=True)
    evaluation = EvaluationOut(allow_null=True)


class EvidenceCells(APIView):
    @extend_schema(responses=EvidenceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Request, slug: str = "") -> Response:
        """Evidence, newest first."""
        product = visible_product(request, slug, Permission.VIEW)
        page = paged(product.evidence.all(), request.query_params.get("cursor", ""))
        rows = EvidenceOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(
        request=OpenApiTypes.OBJECT, responses={201: EvidenceOut(many=True)}, parameters=[PRODUCT]
    )
    @idempotent
    def post(self, request: Request, slug: str = "") -> Response:
        """Push one `orchid.evidence/v1`, or a list of them under `items`; all or nothing."""
        product = visible_product(request, slug, Permission.EVIDENCE_PUSH)
        if not isinstance(request.data, dict):
            raise BadInput("not_an_object", "Evidence is a JSON object.")
        stored = push_evidence_set(actor_of(request), product, request.data)
        created = sum(new for _, new in stored)
        rows = EvidenceOut([row for row, _ in stored], many=True).data
        return Response({"results": rows, "created": created}, status=201 if created else 200)


class Verdicts(APIView):
    @extend_schema(responses=EvaluationOut, parameters=[PRODUCT, PUBLICATION])
    def get(self, request: Request, slug: str = "") -> Response:
        """The latest judgement of what is live, or of a publication."""
        product = visible_product(request, slug, Permission.VIEW)
        number = _number(request, "publication")
        window = live_window(product) if number is None else window_for(product, number)
        evaluation = latest(window) if window else None
        if evaluation is None:
            raise NotFound("not_judged", "Nothing has been judged there yet.")
        return Response(EvaluationOut(evaluation).data)


class Check(APIView):
    @extend_schema(responses=CheckOut, parameters=[PRODUCT, GENERATION])
    def get(self, request: Request, slug: str = "") -> Response:
        """May it ship? `exit_code` is 0 pass, 1 fail, 2 inconclusive or no data."""
        product = visible_product(request, slug, Permission.VIEW)
        answer = check(product, _number(request, "generation"), timezone.now())
        return Response(CheckOut(answer).data)


def visible_product(request: Request, slug: str, permission: Permission) -> Product:
    """The product of the path or the query, if the caller has the permission in it."""
    named = slug or request.query_params.get("product", "")
    if not named:
        raise BadInput("product_missing", "Name the product: ?product=its-slug.")
    require(actor_of(request), Permission.VIEW, named)
    require(actor_of(request), permission, named)
    return policies.product(named)


def _number(request: Any, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    number = whole_number(text)
    if number is None:
        raise BadInput("not_a_number", f"`{name}` is a whole number.")
    return number
