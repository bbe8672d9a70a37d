"""The room for machines, under /api/v1/; each address with the product in its path or its query."""

from django.urls import URLPattern, path

from gates.api.calibration import CalibrationGenerations, CalibrationNow
from gates.api.check import Check
from gates.api.diagnosis import DiagnosisGenerations, DiagnosisNow
from gates.api.diffs import DecisionDiffs, OneDecisionDiff
from gates.api.economics import Economics, TenantBudgets
from gates.api.evidence import EvidenceCells, OneEvidence
from gates.api.frontier import FrontierNow
from gates.api.packets import EvaluationPacket, FiguresPacket, LatestPacket
from gates.api.revisit import Acknowledge, OneRevisit, Resolve, Revisits
from gates.api.verdicts import Verdicts

api_urlpatterns: list[URLPattern] = [
    path("products/<slug:slug>/evidence", EvidenceCells.as_view(), name="product-evidence"),
    path(
        "products/<slug:slug>/evidence/<int:pk>", OneEvidence.as_view(), name="product-evidence-one"
    ),
    path("products/<slug:slug>/verdicts", Verdicts.as_view(), name="product-verdicts"),
    path("products/<slug:slug>/economics", Economics.as_view(), name="product-economics"),
    path("products/<slug:slug>/budgets", TenantBudgets.as_view(), name="product-budgets"),
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
    path("products/<slug:slug>/calibration", CalibrationNow.as_view(), name="product-calibration"),
    path(
        "products/<slug:slug>/calibration/generations",
        CalibrationGenerations.as_view(),
        name="product-calibration-generations",
    ),
    path(
        "products/<slug:slug>/evaluations/<int:pk>/packet",
        EvaluationPacket.as_view(),
        name="product-evaluation-packet",
    ),
    path(
        "products/<slug:slug>/evaluations/latest/packet",
        LatestPacket.as_view(),
        name="product-latest-packet",
    ),
    path(
        "products/<slug:slug>/packets/figures",
        FiguresPacket.as_view(),
        name="product-figures-packet",
    ),
    path("products/<slug:slug>/diagnosis", DiagnosisNow.as_view(), name="product-diagnosis"),
    path(
        "products/<slug:slug>/diagnosis/generations",
        DiagnosisGenerations.as_view(),
        name="product-diagnosis-generations",
    ),
    path("products/<slug:slug>/revisits", Revisits.as_view(), name="product-revisits"),
    path("products/<slug:slug>/revisits/<int:pk>", OneRevisit.as_view(), name="product-revisit"),
    path(
        "products/<slug:slug>/revisits/<int:pk>/acknowledge",
        Acknowledge.as_view(),
        name="product-revisit-acknowledge",
    ),
    path(
        "products/<slug:slug>/revisits/<int:pk>/resolve",
        Resolve.as_view(),
        name="product-revisit-resolve",
    ),
    path("evidence", EvidenceCells.as_view(), name="evidence"),
    path("evidence/<int:pk>", OneEvidence.as_view(), name="evidence-one"),
    path("verdicts", Verdicts.as_view(), name="verdicts"),
    path("check", Check.as_view(), name="check"),
]
