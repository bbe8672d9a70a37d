"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from gates.views import calibration, diffs, evidence, frontier, judgements

app_name = "gates"
urlpatterns: list[URLPattern] = [
    path("gates/", judgements.now, name="now"),
    path("gates/evaluations/", judgements.evaluations, name="evaluations"),
    path("gates/evaluations/<int:pk>/", judgements.evaluation, name="evaluation"),
    path("frontier/", frontier.frontier, name="frontier"),
    path("calibration/", calibration.calibration, name="calibration"),
    path("calibration/cell/", calibration.calibration_cell, name="calibration_cell"),
    path("calibration/draft/", calibration.draft, name="calibration_draft"),
    path("decision-diffs/ask", diffs.ask_diff, name="ask_diff"),
    path("decision-diffs/<int:pk>/", diffs.decision_diff, name="decision_diff"),
    path("evidence/", evidence.evidence, name="evidence"),
    path("evidence/push/", evidence.push, name="push"),
    path("evidence/push/file", evidence.upload, name="push_file"),
    path("evidence/pieces/", evidence.pieces, name="evidence_pieces"),
    path("evidence/pieces/<int:pk>/", evidence.piece, name="evidence_piece"),
]
