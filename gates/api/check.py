"""The check for machines: may it ship?"""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from gates.api.asked import GENERATION, PRODUCT, PUBLICATION, number_of, visible_product
from gates.api.verdicts import EvaluationOut, WindowOut
from gates.selectors.check import Answer, Asked, check

STAGE = OpenApiParameter(
    "stage", str, description="A stage of the rollout: its number from 1, or its share (5%)."
)


class CheckOut(serializers.Serializer[Answer]):
    """`exit_code` is 0 pass, 1 fail, 2 inconclusive or no data.

    `validity`, `verdict` and `action` are three answers: can the evidence be trusted, what does it
    say, what does the policy do. `evaluation.verdicts` has every gate in every gated segment.
    """

    verdict = serializers.CharField()
    exit_code = serializers.IntegerField()
    validity = serializers.JSONField(allow_null=True)
    action = serializers.CharField()
    why = serializers.CharField(allow_blank=True)
    reasons = serializers.ListField(child=serializers.CharField())
    percentile_method = serializers.CharField()
    next_step = serializers.CharField(allow_blank=True)
    generation = serializers.IntegerField(allow_null=True)
    window = WindowOut(allow_null=True)
    evaluation = EvaluationOut(allow_null=True)


class Check(APIView):
    @extend_schema(responses=CheckOut, parameters=[PRODUCT, GENERATION, PUBLICATION, STAGE])
    def get(self, request: Request, slug: str = "") -> Response:
        """May it ship, or advance to its next stage? Only a pass may."""
        product = visible_product(request, slug, Permission.VIEW)
        asked = Asked(
            number_of(request, "generation"),
            number_of(request, "publication"),
            request.query_params.get("stage", ""),
        )
        return Response(CheckOut(check(product, asked, timezone.now())).data)
