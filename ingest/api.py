"""The inbox and the OTLP receiver for machines, and the reads of the room."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from google.protobuf.json_format import MessageToJson
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from controlplane.errors import BadInput
from controlplane.web import paged
from ingest import selectors
from ingest.deliveries import (
    batch_id_of,
    body_of,
    encoding_of,
    file_source_of,
    meta_of,
    reader_of,
    sender_of,
)
from ingest.models import Batch, RequestRow
from ingest.services import SourceKey, accept
from ingest.services.encoding import MAX_BODY, MAX_FILE, decoded
from ingest.services.spans import store_spans
from ingest.states import SourceKind
from orchid.formats import otlp
from orchid.formats.reading import Lost, Reading, UnreadableError


class BatchOut(serializers.ModelSerializer[Batch]):
    """What became of a delivery; `rejected` names each refused line or lost fragment."""

    # A field may be called `source` like any other; the stubs take it for Field.source.
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]

    class Meta:
        model = Batch
        fields: ClassVar = [
            "batch_id",
            "kind",
            "source",
            "status",
            "size",
            "received_at",
            "done_at",
            "counts",
            "rejected",
            "reason",
        ]


BATCH_ID = OpenApiParameter("Batch-Id", str, OpenApiParameter.HEADER, required=True)
PRODUCT = OpenApiParameter("product", str, description="Needed unless the credential is for one.")
SOURCE = OpenApiParameter("source", str, description="A source's name; default: every source.")
_FILE_NAMES = ("kind", "source", "server_run", "engine_kind")
_FILE_ANCHOR = ("anchor_monotonic_ns", "anchor_unix_ns")
_QUERY = [OpenApiParameter(name, str) for name in (*_FILE_NAMES, *_FILE_ANCHOR)]


def receipt(batch: Batch, created: bool) -> Response:
    """202 for a batch that is now stored, 200 for one that was stored before."""
    return Response(BatchOut(batch).data, status=202 if created else 200)


def _many(form: type[serializers.Serializer[Any]], rows: Sequence[Any]) -> list[Any]:
    return [form(row).data for row in rows]


class RequestOut(serializers.ModelSerializer[RequestRow]):
    """One logical request as its edge reported it; an unknown value is null."""

    class Meta:
        model = RequestRow
        fields: ClassVar = [
            "request_id",
            "arrived_at",
            "publication",
            "digest",
            "cohort",
            "dims",
            "action",
            "route",
            "reason",
            "outcome",
            "completion_ms",
            "teu",
            "attempt_ids",
        ]


class Requests(APIView):
    @extend_schema(responses=RequestOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Requests, newest first."""
        page = paged(
            selectors.requests(reader_of(request)),
            request.query_params.get("cursor", ""),
            field="arrived_at",
        )
        rows = RequestOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(
        request={"application/x-ndjson": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT],
    )
    def post(self, request: Any) -> Response:
        """Deliver request records, one JSON object a line; 202 once they are durable.

        Verdicts rest on them, so that only an edge's own credential brings them in.
        """
        sender = sender_of(request, Permission.EDGE)
        batch, created = accept(
            sender.product,
            SourceKey(SourceKind.EDGE, sender.name),
            batch_id_of(request),
            SourceKind.EDGE,
            body_of(request, MAX_BODY),
            request.content_type or "",
            encoding_of(request),
            meta_of(request),
        )
        return receipt(batch, created)


class Files(APIView):
    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT, *_QUERY],
    )
    def post(self, request: Any) -> Response:
        """Deliver one file: a Triton trace, a client log, statistics or metrics."""
        sender = sender_of(request)
        source = file_source_of(request.query_params, sender.name)
        batch, created = accept(
            sender.product,
            source,
            batch_id_of(request),
            source.kind,
            body_of(request, MAX_FILE),
            request.content_type or "",
            encoding_of(request),
        )
        return receipt(batch, created)


class OneBatch(APIView):
    @extend_schema(responses=BatchOut, parameters=[PRODUCT])
    def get(self, request: Any, batch_id: str) -> Response:
        """Counts and rejected lines of one delivery."""
        batch = selectors.batch_of(reader_of(request), batch_id=batch_id)
        return Response(BatchOut(batch).data)


class Batches(APIView):
    @extend_schema(responses=BatchOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Deliveries, newest first."""
        page = paged(
            selectors.batches(reader_of(request)),
            request.query_params.get("cursor", ""),
            field="received_at",
        )
        rows = BatchOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})


class SourceOut(serializers.Serializer[selectors.SourceRow]):
    kind = serializers.CharField(source="source.kind")
    name = serializers.CharField(source="source.name")
    server_run = serializers.CharField(source="source.server_run")
    engine_kind = serializers.CharField(source="source.engine_kind")
    last_seen_at = serializers.DateTimeField(source="source.last_seen_at")
    watermark = serializers.DateTimeField(source="source.watermark")
    anchored = serializers.BooleanField()
    batches = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    inserted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    rejected = serializers.IntegerField()
    missing = serializers.IntegerField()


class Sources(APIView):
    @extend_schema(responses=SourceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """What comes from where."""
        rows = selectors.sources(reader_of(request))
        return Response({"results": _many(SourceOut, rows)})


class AttemptOut(serializers.Serializer[selectors.AttemptSeen]):
    """One execution in an engine; `joined` says who else saw it: gateway, client or nobody."""

    source = serializers.CharField(source="attempt.source.name")  # type: ignore[assignment]
    server_run = serializers.CharField(source="attempt.source.server_run")
    attempt_id = serializers.CharField(source="attempt.attempt_id")
    model = serializers.CharField(source="attempt.model")
    parent = serializers.CharField(source="attempt.parent_key")  # type: ignore[assignment]
    started_at = serializers.DateTimeField()
    queue_ms = serializers.FloatField(source="attempt.queue_ms")
    compute_ms = serializers.FloatField(source="attempt.compute_ms")
    request_ms = serializers.FloatField(source="attempt.request_ms")
    exclusive_ms = serializers.FloatField(source="attempt.exclusive_ms")
    outcome = serializers.CharField()
    engine_outcome = serializers.CharField()
    joined = serializers.CharField()
    disagrees = serializers.BooleanField()


class Attempts(APIView):
    @extend_schema(responses=AttemptOut(many=True), parameters=[PRODUCT, SOURCE])
    def get(self, request: Any) -> Response:
        """Engine attempts, newest first, with what the gateway and the client say of them."""
        product = reader_of(request)
        found = selectors.attempts(product)
        if source := request.query_params.get("source"):
            found = found.filter(source__name=source)
        page = paged(
            found,
            request.query_params.get("cursor", ""),
            field="received_at",
        )
        rows = _many(AttemptOut, selectors.joined(product, page.rows))
        return Response({"results": rows, "next_cursor": page.next_cursor})


JSON = "application/json"
PROTOBUF = "application/x-protobuf"


class Traces(APIView):
    @extend_schema(
        request={PROTOBUF: OpenApiTypes.BINARY, JSON: OpenApiTypes.OBJECT},
        responses={(200, JSON): OpenApiTypes.OBJECT, (200, PROTOBUF): OpenApiTypes.BINARY},
    )
    def post(self, request: Any) -> HttpResponse:
        """OTLP/HTTP traces. 200 once stored; `partialSuccess` counts the spans that were not."""
        sender = sender_of(request)
        media = (request.content_type or "").partition(";")[0].strip().lower()
        reading = _spans(media, decoded(body_of(request, MAX_BODY), encoding_of(request)))
        store_spans(sender.product, SourceKey(SourceKind.OTLP, sender.name), reading.records)
        return _otlp_answer(media, reading.lost)


def _spans(media: str, body: bytes) -> Reading[otlp.Span]:
    readers = {JSON: otlp.read_json, PROTOBUF: otlp.read_protobuf}
    if media not in readers:
        raise BadInput("unsupported_media", f"Send {PROTOBUF} or {JSON}.", status=415)
    try:
        return readers[media](body)
    except UnreadableError as error:
        raise BadInput("not_otlp", str(error)) from error


def _otlp_answer(media: str, lost: list[Lost]) -> HttpResponse:
    """In the sender's own encoding, as OTLP asks."""
    answer = otlp.partial_success(len(lost), lost[0].reason if lost else "")
    if media == PROTOBUF:
        return HttpResponse(answer.SerializeToString(), content_type=PROTOBUF)
    return HttpResponse(MessageToJson(answer, indent=None), content_type=JSON)
