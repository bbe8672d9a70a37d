"""Calibration for machines: how each cell stands, and the generation that it calls for."""

from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of
from accounts.idempotency import idempotent
from gates.api.asked import visible_product
from gates.selectors.calibration import Reliable, calibrated, drift
from gates.selectors.prefix_reads import PrefixReads, prefix_reads
from gates.services.calibration_draft import draft_cells
from orchid.engine.calibration.standing import Standing

MEASURE = OpenApiParameter("measure", str, description="Only this: work, teu, output, live ...")


class Drafted(serializers.Serializer[Any]):
    generation = serializers.IntegerField()
    digest = serializers.CharField()
    title = serializers.CharField()
    cells = serializers.JSONField()


class CalibrationNow(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=[MEASURE])
    def get(self, request: Request, slug: str) -> Response:
        """Every cell against its promise, the worst first; drift; forecasts; prefix reads."""
        product, now = visible_product(request, slug, Permission.VIEW), timezone.now()
        found, wanted = calibrated(product, now), request.query_params.get("measure")
        moved = drift(product)
        return Response(
            {
                "demand_version": found.demand_version,
                "digest": found.digest,
                "since": found.since,
                "until": found.until,
                "requests_read": found.read,
                "requests_stored": found.stored,
                "cells": [
                    _cell(row) for row in found.rows if wanted in (None, row.key.measure.value)
                ],
                "proposal": found.proposal,
                "reliability": [_bin(one) for one in found.reliability],
                "drift": {
                    "value": moved.value,
                    "watched": moved.watched,
                    "alarms": moved.alarms,
                },
                "prefix_reads": [_prefix(one) for one in prefix_reads(product, now)],
            }
        )


class CalibrationGenerations(APIView):
    @extend_schema(request=None, responses={200: Drafted, 201: Drafted})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Draft the generation whose cells calibration calls for; 200 where it was drafted before.

        409 `nothing_to_propose` where every cell keeps its promise.
        """
        product = visible_product(request, slug, Permission.PROPOSE)
        found = calibrated(product, timezone.now())
        revision, new = draft_cells(actor_of(request), product, found.digest, found.proposal)
        body = {
            "generation": revision.generation.number,
            "digest": revision.digest,
            "title": revision.generation.title,
            "cells": found.proposal,
        }
        return Response(body, status=201 if new else 200)


def _cell(row: Standing) -> dict[str, Any]:
    found, cell = row.found, row.key.cell
    return {
        "route": cell.route,
        "input_bucket": cell.input_bucket,
        "output_bucket": cell.output_bucket,
        "version": row.key.version,
        "measure": row.key.measure.value,
        "verdict": found.verdict.value,
        "n": found.n,
        "predicted": row.predicted,
        "observed": row.observed,
        "bias": found.bias,
        "mean_error": found.mean_error,
        "promised": row.promise.nominal,
        "coverage": found.coverage,
        "coverage_low": found.lower,
        "coverage_high": found.upper,
        "ratio_5": row.low,
        "ratio_95": row.high,
        "pad": found.pad,
        "refused": dict(found.tenants),
        "text": found.text,
    }


def _bin(one: Reliable) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "bin": one.bin,
        "predicted": one.predicted,
        "n": one.n,
        "hits": one.hits,
        "observed": one.observed,
        "low": one.low,
        "high": one.high,
    }


def _prefix(one: PrefixReads) -> dict[str, Any]:
    return {
        "route": one.route,
        "manifest": one.manifest,
        "input_tokens": one.input_tokens,
        "cached_tokens": one.cached_tokens,
        "share": one.share,
        "floor": one.floor,
        "is_low": one.is_low,
    }
