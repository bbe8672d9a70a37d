"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from gates.views import (
    calibration,
    diagnosis,
    diffs,
    economics,
    evidence,
    frontier,
    judgements,
    packets,
    revisit,
)

app_name = "gates"
urlpatterns: list[URLPattern] = [
    path("gates/", judgements.now, name="now"),
    path("gates/segments/", judgements.segments, name="segments"),
    path("gates/history/<slug:metric>/", judgements.gate, name="gate"),
    path("gates/evaluations/", judgements.evaluations, name="evaluations"),
    path("gates/evaluations/<int:pk>/", judgements.evaluation, name="evaluation"),
    path("gates/evaluations/<int:pk>/packet", packets.packet, name="packet"),
    path("frontier/", frontier.frontier, name="frontier"),
    path("calibration/", calibration.calibration, name="calibration"),
    path("calibration/cell/", calibration.calibration_cell, name="calibration_cell"),
    path("calibration/draft/", calibration.draft, name="calibration_draft"),
    path("diagnosis/", diagnosis.diagnose, name="diagnosis"),
    path("diagnosis/draft/", diagnosis.draft_diagnosed, name="diagnosis_draft"),
    path("revisits/", revisit.revisits, name="revisits"),
    path("revisits/<int:pk>/", revisit.revisit, name="revisit"),
    path("revisits/<int:pk>/acknowledge/", revisit.acknowledge, name="revisit_acknowledge"),
    path("revisits/<int:pk>/resolve/", revisit.resolve, name="revisit_resolve"),
    path("decision-diffs/ask", diffs.ask_diff, name="ask_diff"),
    path("decision-diffs/<int:pk>/", diffs.decision_diff, name="decision_diff"),
    path("economics/", economics.economics, name="economics"),
    path("economics.csv", economics.economics_csv, name="economics_csv"),
    path("budgets/", economics.budgets, name="budgets"),
    path("evidence/", evidence.evidence, name="evidence"),
    path("evidence/push/", evidence.push, name="push"),
    path("evidence/push/file", evidence.upload, name="push_file"),
    path("evidence/pieces/", evidence.pieces, name="evidence_pieces"),
    path("evidence/pieces/<int:pk>/", evidence.piece, name="evidence_piece"),
]
