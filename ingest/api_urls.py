"""The room for machines, under /api/v1/; what any OTLP sender expects, at the root."""

from django.urls import URLPattern, path

from ingest.api.attempts import Attempts
from ingest.api.batches import Batches, OneBatch
from ingest.api.engine import EngineRoutes, EngineViewNow, UnmapRoute
from ingest.api.explorer import OneRequest
from ingest.api.files import Files
from ingest.api.requests import Requests
from ingest.api.rollups import Rollups
from ingest.api.servers import AcceptServer, CheckServer, FlushServer, OneServer, Servers
from ingest.api.shadow import Shadow
from ingest.api.sources import Sources
from ingest.api.traces import Traces
from ingest.api.trials import ArrivalTraces, OneArrivalTrace, OneTrial, Trials

api_urlpatterns: list[URLPattern] = [
    path("ingest/requests", Requests.as_view(), name="ingest-requests"),
    path("ingest/rollups", Rollups.as_view(), name="ingest-rollups"),
    path("ingest/shadow", Shadow.as_view(), name="ingest-shadow"),
    path("ingest/requests/<path:request_id>", OneRequest.as_view(), name="ingest-request"),
    path("ingest/engine-view", EngineViewNow.as_view(), name="ingest-engine-view"),
    path("ingest/routes", EngineRoutes.as_view(), name="ingest-routes"),
    path("ingest/routes/<int:pk>/unmap", UnmapRoute.as_view(), name="ingest-unmap"),
    path("ingest/files", Files.as_view(), name="ingest-files"),
    path("ingest/batches", Batches.as_view(), name="ingest-batches"),
    path("ingest/batches/<str:batch_id>", OneBatch.as_view(), name="ingest-batch"),
    path("ingest/sources", Sources.as_view(), name="ingest-sources"),
    path("ingest/trials", Trials.as_view(), name="ingest-trials"),
    path("ingest/trials/<int:pk>", OneTrial.as_view(), name="ingest-trial"),
    path("ingest/arrivals", ArrivalTraces.as_view(), name="ingest-arrivals"),
    path("ingest/arrivals/<int:pk>", OneArrivalTrace.as_view(), name="ingest-arrival-trace"),
    path("ingest/servers", Servers.as_view(), name="ingest-servers"),
    path("ingest/servers/<str:name>", OneServer.as_view(), name="ingest-server"),
    path("ingest/servers/<str:name>/check", CheckServer.as_view(), name="ingest-server-check"),
    path("ingest/servers/<str:name>/accept", AcceptServer.as_view(), name="ingest-server-accept"),
    path("ingest/servers/<str:name>/flush", FlushServer.as_view(), name="ingest-server-flush"),
    path("ingest/attempts", Attempts.as_view(), name="ingest-attempts"),
]
root_urlpatterns: list[URLPattern] = [path("v1/traces", Traces.as_view(), name="otlp-traces")]
