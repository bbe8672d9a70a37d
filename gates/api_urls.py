"""The room for machines, under /api/v1/; each address with the product in its path or its query."""

from django.urls import URLPattern, path

from gates import api, diff_api

api_urlpatterns: list[URLPattern] = [
    path("products/<slug:slug>/evidence", api.EvidenceCells.as_view(), name="product-evidence"),
    path("products/<slug:slug>/verdicts", api.Verdicts.as_view(), name="product-verdicts"),
    path("products/<slug:slug>/check", api.Check.as_view(), name="product-check"),
    path(
        "products/<slug:slug>/decision-diffs",
        diff_api.DecisionDiffs.as_view(),
        name="product-diffs",
    ),
    path(
        "products/<slug:slug>/decision-diffs/<int:pk>",
        diff_api.OneDecisionDiff.as_view(),
        name="product-diff",
    ),
    path("evidence", api.EvidenceCells.as_view(), name="evidence"),
    path("verdicts", api.Verdicts.as_view(), name="verdicts"),
    path("check", api.Check.as_view(), name="check"),
]
