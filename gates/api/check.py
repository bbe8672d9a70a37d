"""The check for machines: may it ship?"""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from gates.api.asked import GENERATION, PRODUCT, number_of, visible_product
from gates.api.verdicts import EvaluationOut, WindowOut
from gates.selectors.check import Answer, check


class CheckOut(serializers.Serializer[Answer]):
    verdict = serializers.CharField()
    exit_code = serializers.IntegerField()
    reasons = serializers.ListField(child=serializers.CharField())
    window = WindowOut(allow_null=True)
    evaluation = EvaluationOut(allow_null=True)


class Check(APIView):
    @extend_schema(responses=CheckOut, parameters=[PRODUCT, GENERATION])
    def get(self, request: Request, slug: str = "") -> Response:
        """May it ship? `exit_code` is 0 pass, 1 fail, 2 inconclusive or no data."""
        product = visible_product(request, slug, Permission.VIEW)
        answer = check(product, number_of(request, "generation"), timezone.now())
        return Response(CheckOut(answer).data)
