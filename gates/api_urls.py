"""The room for machines, under /api/v1/; each address with the product in its path or its query."""

from django.urls import URLPattern, path

from gates.api.calibration import CalibrationGenerations, CalibrationNow
from gates.api.check import Check
from gates.api.diffs import DecisionDiffs, OneDecisionDiff
from gates.api.evidence import EvidenceCells, OneEvidence
from gates.api.frontier import FrontierNow
from gates.api.verdicts import Verdicts

api_urlpatterns: list[URLPattern] = [
    path("products/<slug:slug>/evidence", EvidenceCells.as_view(), name="product-evidence"),
    path(
        "products/<slug:slug>/evidence/<int:pk>", OneEvidence.as_view(), name="product-evidence-one"
    ),
    path("products/<slug:slug>/verdicts", Verdicts.as_view(), name="product-verdicts"),
    path("products/<slug:slug>/check", Check.as_view(), name="product-check"),
    path(
        "products/<slug:slug>/decision-diffs",
        DecisionDiffs.as_view(),
        name="product-diffs",
    ),
    path(
        "products/<slug:slug>/decision-diffs/<int:pk>",
        OneDecisionDiff.as_view(),
        name="product-diff",
    ),
    path("products/<slug:slug>/frontier", FrontierNow.as_view(), name="product-frontier"),
    path(
        "products/<slug:slug>/calibration", CalibrationNow.as_view(), name="product-calibration"
    ),
    path(
        "products/<slug:slug>/calibration/generations",
        CalibrationGenerations.as_view(),
        name="product-calibration-generations",
    ),
    path("evidence", EvidenceCells.as_view(), name="evidence"),
    path("evidence/<int:pk>", OneEvidence.as_view(), name="evidence-one"),
    path("verdicts", Verdicts.as_view(), name="verdicts"),
    path("check", Check.as_view(), name="check"),
]
