"""Trials and recorded traffic; both come in through /ingest/files with kind=trial or arrivals."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.web import paged
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of
from ingest.models import ArrivalTrace, Trial
from ingest.selectors import trials as reads

_HEAD = ["id", "title", "format", "sha256", "created_at"]


class TrialOut(serializers.ModelSerializer[Trial]):
    """One result file; `size` counts its points."""

    # A field may be called `source` like any other; the stubs take it for Field.source.
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]
    run = serializers.CharField(source="source.server_run")
    size = serializers.IntegerField()

    class Meta:
        model = Trial
        fields: ClassVar = [*_HEAD, "source", "run", "tool", "model", "loop", "simulated", "size"]


class OneTrialOut(serializers.ModelSerializer[Trial]):
    """All of a trial: points with the tool's figures apart from ours, facts, what it supports."""

    source = serializers.CharField(source="source.name")  # type: ignore[assignment]
    run = serializers.CharField(source="source.server_run")
    supports_advance = serializers.SerializerMethodField()
    reasons = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()

    class Meta:
        model = Trial
        fields: ClassVar = [
            *(*_HEAD, "source", "run", "tool", "model", "loop", "simulated", "whole"),
            *("points", "told", "declared", "notes", "unused"),
            *("supports_advance", "reasons", "missing"),
        ]

    def get_supports_advance(self, trial: Trial) -> bool:
        return reads.support_of(trial).supports

    def get_reasons(self, trial: Trial) -> list[str]:
        return list(reads.support_of(trial).reasons)

    def get_missing(self, trial: Trial) -> list[str]:
        return [fact.value for fact in reads.support_of(trial).missing]


class ArrivalTraceOut(serializers.ModelSerializer[ArrivalTrace]):
    """One trace of traffic; its percentiles are by the inverted CDF, after the warm-up."""

    source = serializers.CharField(source="source.name")  # type: ignore[assignment]

    class Meta:
        model = ArrivalTrace
        fields: ClassVar = [
            *(*_HEAD, "source", "holds", "rows", "units", "statistics"),
            *("warm_up_requests", "warm_up_s", "notes", "unused"),
        ]


class Trials(APIView):
    @extend_schema(responses=TrialOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Trials, newest first, without their points."""
        page = paged(reads.trials(reader_of(request)), request.query_params.get("cursor", ""))
        rows = TrialOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})


class OneTrial(APIView):
    @extend_schema(responses=OneTrialOut, parameters=[PRODUCT])
    def get(self, request: Any, pk: int) -> Response:
        """One trial, its points, and whether it can support an advance."""
        return Response(OneTrialOut(reads.trial_of(reader_of(request), pk)).data)


class ArrivalTraces(APIView):
    @extend_schema(responses=ArrivalTraceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Traces of traffic, newest first."""
        found = reads.arrival_traces(reader_of(request))
        page = paged(found, request.query_params.get("cursor", ""))
        rows = ArrivalTraceOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})


class OneArrivalTrace(APIView):
    @extend_schema(responses=ArrivalTraceOut, parameters=[PRODUCT])
    def get(self, request: Any, pk: int) -> Response:
        """One trace of traffic."""
        return Response(ArrivalTraceOut(reads.arrival_trace_of(reader_of(request), pk)).data)
