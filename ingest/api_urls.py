"""The room for machines, under /api/v1/; what any OTLP sender expects, at the root."""

from django.urls import URLPattern, path

from ingest import api

api_urlpatterns: list[URLPattern] = [
    path("ingest/requests", api.Requests.as_view(), name="ingest-requests"),
    path("ingest/files", api.Files.as_view(), name="ingest-files"),
    path("ingest/batches", api.Batches.as_view(), name="ingest-batches"),
    path("ingest/batches/<str:batch_id>", api.OneBatch.as_view(), name="ingest-batch"),
    path("ingest/sources", api.Sources.as_view(), name="ingest-sources"),
    path("ingest/attempts", api.Attempts.as_view(), name="ingest-attempts"),
]
root_urlpatterns: list[URLPattern] = [path("v1/traces", api.Traces.as_view(), name="otlp-traces")]
