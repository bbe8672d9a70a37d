"""A diagnosis for machines: exact parts as text, the proposed change, its effect."""

from fractions import Fraction
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of
from accounts.idempotency import idempotent
from controlplane.errors import NotFound
from gates.api.asked import number_of, visible_product
from gates.diagnosis_words import change_words
from gates.selectors.diagnosis import Diagnosis, Side, diagnosis
from gates.services.diagnosis import draft_change
from orchid.engine.diagnosis.change import Part
from orchid.engine.diagnosis.proposal import Proposal
from policies.models import Product

ASKED = [
    OpenApiParameter("metric", str, description="A gate; default attainment."),
    OpenApiParameter("segment", str, description="A gated segment; default the whole."),
    OpenApiParameter("after", int, description="A window's id; default what is live."),
    OpenApiParameter(
        "before", int, description="A window's id; default the incumbent, or the stretch before."
    ),
    OpenApiParameter("minutes", int, description="Length of a stretch; default the gate's window."),
]


class PartOut(serializers.Serializer[Any]):
    """`value` is the exact fraction `numerator/denominator`, `about` the same as a number."""

    effect = serializers.CharField()
    segment = serializers.CharField(allow_blank=True)
    route = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(allow_blank=True)
    value = serializers.CharField()
    about = serializers.FloatField()


class SideOut(serializers.Serializer[Any]):
    window = serializers.IntegerField()
    publication = serializers.IntegerField()
    cohort = serializers.CharField()
    digest = serializers.CharField()
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    n = serializers.IntegerField()
    figure = serializers.CharField(allow_null=True)


class OutlookOut(serializers.Serializer[Any]):
    metric = serializers.CharField()
    bound = serializers.FloatField()
    recorded = serializers.FloatField(allow_null=True)
    expected = serializers.FloatField(allow_null=True)
    keeps = serializers.BooleanField()


class ProposalOut(serializers.Serializer[Any]):
    words = serializers.CharField()
    edits = serializers.ListField(child=serializers.DictField())
    requests = serializers.FloatField()
    brings_back = serializers.BooleanField()
    target = serializers.FloatField()
    outlook = OutlookOut(many=True)
    caveats = serializers.ListField(child=serializers.CharField())


class DiagnosisOut(serializers.Serializer[Any]):
    """The parts sum to the change exactly."""

    metric = serializers.CharField()
    segment = serializers.CharField(allow_blank=True)
    said = serializers.CharField()
    before = SideOut()
    after = SideOut()
    change = serializers.CharField(allow_null=True)
    parts = PartOut(many=True)
    keeps_bound = serializers.BooleanField(help_text="Nothing is proposed for a gate that does.")
    proposal = ProposalOut(allow_null=True)
    next_experiment = serializers.CharField()


class DraftAsked(serializers.Serializer[Any]):
    metric = serializers.CharField(required=False, allow_blank=True)
    segment = serializers.CharField(required=False, allow_blank=True)
    after = serializers.IntegerField(required=False, min_value=1)
    before = serializers.IntegerField(required=False, min_value=1)
    minutes = serializers.IntegerField(required=False, min_value=1)


class Drafted(serializers.Serializer[Any]):
    generation = serializers.IntegerField()
    digest = serializers.CharField()
    title = serializers.CharField()


class DiagnosisNow(APIView):
    @extend_schema(responses=DiagnosisOut, parameters=ASKED)
    def get(self, request: Request, slug: str) -> Response:
        """What moved a gate between two stretches of traffic, and the smallest change."""
        product = visible_product(request, slug, Permission.VIEW)
        names = ("after", "before", "minutes")
        numbers = {name: number_of(request, name) for name in names}
        query = request.query_params
        found = diagnosis(product, query.get("metric", ""), query.get("segment", ""), **numbers)
        return Response(_diagnosis(_judged(product, found)))


class DiagnosisGenerations(APIView):
    @extend_schema(request=DraftAsked, responses={200: Drafted, 201: Drafted})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Draft the generation with the proposed change; 200 where it was drafted before.

        409 `nothing_to_propose` where no change makes the gate better.
        """
        product = visible_product(request, slug, Permission.PROPOSE)
        given = DraftAsked(data=request.data)
        given.is_valid(raise_exception=True)
        found = _judged(product, diagnosis(product, **given.validated_data))
        revision, new = draft_change(actor_of(request), product, found)
        body = {
            "generation": revision.generation.number,
            "digest": revision.digest,
            "title": revision.generation.title,
        }
        return Response(body, status=201 if new else 200)


def _judged(product: Product, found: Diagnosis | None) -> Diagnosis:
    if found is None:
        raise NotFound("not_judged", f"Nothing of {product.slug} has been judged yet.")
    return found


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    change = found.change
    return {
        "metric": found.metric.value,
        "segment": found.scope.name,
        "said": change_words(found),
        "before": _side(found.before, found.n[0], change.before),
        "after": _side(found.after, found.n[1], change.after),
        "change": _exact(change.value),
        "parts": [_part(part) for part in change.ranked()],
        "keeps_bound": found.keeps_bound,
        "proposal": _proposal(found.proposal) if found.proposal else None,
        "next_experiment": found.experiment,
    }


def _side(side: Side, n: int, figure: Fraction | None) -> dict[str, Any]:
    window = side.window
    return {
        "window": window.pk,
        "publication": window.publication,
        "cohort": window.cohort,
        "digest": window.digest,
        "start": side.start,
        "end": side.end,
        "n": n,
        "figure": _exact(figure),
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "effect": part.effect.value,
        "segment": part.segment,
        "route": part.route,
        "outcome": part.outcome,
        "value": _exact(part.value),
        "about": float(part.value),
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    change = proposal.change
    return {
        "words": change.words,
        "edits": [{"path": list(edit.path), "value": edit.value} for edit in change.edits],
        "requests": float(change.requests),
        "brings_back": proposal.brings_back,
        "target": float(proposal.target),
        "outlook": [
            {
                "metric": one.goal.metric,
                "bound": float(one.goal.bound),
                "recorded": _about(one.recorded),
                "expected": _about(one.expected),
                "keeps": one.keeps,
            }
            for one in proposal.outlook
        ],
        "caveats": list(proposal.caveats),
    }


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"


def _about(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
