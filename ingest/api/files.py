"""Whole files: traces, logs, statistics and metrics."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from ingest.api.batches import BATCH_ID, PRODUCT, BatchOut, receipt
from ingest.deliveries import batch_id_of, body_of, encoding_of, file_source_of, sender_of
from ingest.services import BatchMeta, accept
from ingest.services.encoding import MAX_FILE
from ingest.services.trials import declared_of
from orchid.engine.trial_evidence import DECLARABLE

_FILE_NAMES = ("kind", "source", "server_run", "engine_kind")
_FILE_ANCHOR = ("anchor_monotonic_ns", "anchor_unix_ns")
_TRIAL = ("title", "format", "warm_up_s", *DECLARABLE)
_QUERY = [OpenApiParameter(name, str) for name in (*_FILE_NAMES, *_FILE_ANCHOR, *_TRIAL)]


class Files(APIView):
    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT, *_QUERY],
    )
    def post(self, request: Any) -> Response:
        """Deliver one file: a trace, a client log, statistics, metrics, a trial or arrivals.

        The format of a trial and of arrivals is recognised unless `format` names it; facts of a
        trial that its file doesn't tell are declared beside it by name.
        """
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
            BatchMeta(declared=declared_of(source.kind, request.query_params)),
        )
        return receipt(batch, created)
