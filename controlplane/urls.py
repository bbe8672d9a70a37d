"""Every address of the control plane. A room's pages live under its product."""

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from accounts import api_urls as accounts_api
from controlplane import dashboard, health, waiting_api
from gates import api_urls as gates_api
from ingest import api_urls as ingest_api
from policies import api_urls as policies_api
from releases import api_urls as releases_api

handler400 = "controlplane.pages.bad_request"
handler403 = "controlplane.pages.forbidden"
handler404 = "controlplane.pages.not_found"
handler500 = "controlplane.pages.server_error"

hall = (
    [
        path("", dashboard.dashboard, name="dashboard"),
        path("healthz", health.healthz, name="healthz"),
        path("readyz", health.readyz, name="readyz"),
        path("metrics", health.metrics_page, name="metrics"),
    ],
    "hall",
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include(hall)),
    path("", include("accounts.urls")),
    path("", include("accounts.factor_urls")),
    path("products/", include("policies.product_urls")),
    path("products/<slug:slug>/", include("policies.urls")),
    path("products/<slug:slug>/", include("ingest.urls")),
    path("products/<slug:slug>/", include("gates.urls")),
    path("products/<slug:slug>/", include("releases.urls")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/", include(accounts_api.api_urlpatterns)),
    path("api/v1/", include(policies_api.api_urlpatterns)),
    path("api/v1/", include(ingest_api.api_urlpatterns)),
    path("api/v1/", include(gates_api.api_urlpatterns)),
    path("api/v1/", include(releases_api.api_urlpatterns)),
    path("api/v1/waiting", waiting_api.WaitingForMe.as_view()),
    path("", include(policies_api.root_urlpatterns)),
    # What OTLP senders expect at the root. The edges have an entry of their own, beside Django.
    path("", include(ingest_api.root_urlpatterns)),
]
