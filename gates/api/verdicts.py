"""Verdicts for machines."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from controlplane.errors import NotFound
from gates.api.asked import PRODUCT, PUBLICATION, number_of, visible_product
from gates.models import Evaluation, Verdict, Window
from gates.selectors import latest, live_window, window_for


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
            "outcome_digest",
            "evidence_digest",
            "validity",
            "verdict",
            "action",
            "why",
            "reasons",
            "figures",
            "verdicts",
        ]


class Verdicts(APIView):
    @extend_schema(responses=EvaluationOut, parameters=[PRODUCT, PUBLICATION])
    def get(self, request: Request, slug: str = "") -> Response:
        """The latest judgement of what is live, or of a publication."""
        product = visible_product(request, slug, Permission.VIEW)
        number = number_of(request, "publication")
        window = live_window(product) if number is None else window_for(product, number)
        evaluation = latest(window) if window else None
        if evaluation is None:
            raise NotFound("not_judged", "Nothing has been judged there yet.")
        return Response(EvaluationOut(evaluation).data)
