"""The OTLP/HTTP receiver: decoded while the sender waits, so that its answer can be partial."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from google.protobuf.json_format import MessageToJson
from rest_framework.views import APIView

from controlplane.errors import BadInput
from ingest.deliveries import body_of, encoding_of, sender_of
from ingest.services import SourceKey
from ingest.services.encoding import MAX_BODY, decoded
from ingest.services.spans import store_spans
from ingest.states import SourceKind
from orchid.formats import otlp
from orchid.formats.reading import Lost, Reading, UnreadableError

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
        store_spans(sender.product, SourceKey(SourceKind.OTLP, sender.name), reading)
        return _otlp_answer(media, reading.lost)


def _spans(media: str, body: bytes) -> Reading[otlp.Packed]:
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
