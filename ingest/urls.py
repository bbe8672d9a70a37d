"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from ingest.views import attempts, batches, engine, requests, servers, sources, trials

app_name = "ingest"
urlpatterns: list[URLPattern] = [
    path("sources/", sources.sources, name="sources"),
    path("sources/upload/", sources.upload, name="upload"),
    path("sources/<int:source_pk>/figures/", sources.figures, name="figures"),
    path("engine/", engine.engine, name="engine"),
    path("routes/map/", engine.map_route, name="map_route"),
    path("routes/<int:pk>/unmap/", engine.unmap_route, name="unmap_route"),
    path("servers/", servers.servers, name="servers"),
    path("servers/register", servers.register, name="register_server"),
    path("servers/<str:name>/", servers.server, name="server"),
    path("servers/<str:name>/change", servers.change, name="change_server"),
    *(
        path(f"servers/<str:name>/{move}", servers.move, {"what": move}, name=f"{move}_server")
        for move in servers.MOVES
    ),
    path("batches/", batches.batches, name="batches"),
    path("batches/<int:batch_pk>/", batches.batch, name="batch"),
    path("batches/<int:batch_pk>/retry/", batches.retry, name="retry"),
    path("trials/", trials.trials, name="trials"),
    path("trials/upload/", trials.upload, name="trial_upload"),
    path("trials/<int:trial_pk>/", trials.trial, name="trial"),
    path("trials/<int:trial_pk>/declare/", trials.declare_facts, name="trial_declare"),
    path("arrivals/<int:trace_pk>/", trials.arrival_trace, name="arrival_trace"),
    path("attempts/", attempts.attempts, name="attempts"),
    path("requests/", requests.requests, name="requests"),
    path("requests/<str:day>/<int:pk>/", requests.one_request, name="request"),
]
