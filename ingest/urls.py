"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from ingest.views import attempts, batches, engine, requests, sources

app_name = "ingest"
urlpatterns: list[URLPattern] = [
    path("sources/", sources.sources, name="sources"),
    path("sources/upload/", sources.upload, name="upload"),
    path("sources/<int:source_pk>/figures/", sources.figures, name="figures"),
    path("engine/", engine.engine, name="engine"),
    path("routes/map/", engine.map_route, name="map_route"),
    path("routes/<int:pk>/unmap/", engine.unmap_route, name="unmap_route"),
    path("batches/", batches.batches, name="batches"),
    path("batches/<int:batch_pk>/", batches.batch, name="batch"),
    path("batches/<int:batch_pk>/retry/", batches.retry, name="retry"),
    path("attempts/", attempts.attempts, name="attempts"),
    path("requests/", requests.requests, name="requests"),
]
