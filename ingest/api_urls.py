"""The room for machines, under /api/v1/; what any OTLP sender expects, at the root."""

from django.urls import URLPattern, path

from ingest.api.attempts import Attempts
from ingest.api.batches import Batches, OneBatch
from ingest.api.files import Files
from ingest.api.requests import Requests
from ingest.api.sources import Sources
from ingest.api.traces import Traces

api_urlpatterns: list[URLPattern] = [
    path("ingest/requests", Requests.as_view(), name="ingest-requests"),
    path("ingest/files", Files.as_view(), name="ingest-files"),
    path("ingest/batches", Batches.as_view(), name="ingest-batches"),
    path("ingest/batches/<str:batch_id>", OneBatch.as_view(), name="ingest-batch"),
    path("ingest/sources", Sources.as_view(), name="ingest-sources"),
    path("ingest/attempts", Attempts.as_view(), name="ingest-attempts"),
]
root_urlpatterns: list[URLPattern] = [path("v1/traces", Traces.as_view(), name="otlp-traces")]
