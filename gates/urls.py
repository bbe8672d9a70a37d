"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern, path

from gates import views

app_name = "gates"
urlpatterns: list[URLPattern] = [
    path("gates/", views.now, name="now"),
    path("gates/evaluations/", views.evaluations, name="evaluations"),
    path("gates/evaluations/<int:pk>/", views.evaluation, name="evaluation"),
    path("decision-diffs/ask", views.ask_diff, name="ask_diff"),
    path("decision-diffs/<int:pk>/", views.decision_diff, name="decision_diff"),
    path("evidence/", views.evidence, name="evidence"),
    path("evidence/push/", views.push, name="push"),
]
