"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from ingest import views

app_name = "ingest"
urlpatterns: list[URLPattern] = [
    path("sources/", views.sources, name="sources"),
    path("sources/upload/", views.upload, name="upload"),
    path("sources/<int:source_pk>/figures/", views.figures, name="figures"),
    path("batches/", views.batches, name="batches"),
    path("batches/<int:batch_pk>/", views.batch, name="batch"),
    path("batches/<int:batch_pk>/retry/", views.retry, name="retry"),
    path("attempts/", views.attempts, name="attempts"),
    path("requests/", views.requests, name="requests"),
]
