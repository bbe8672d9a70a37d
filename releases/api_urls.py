"""The room for machines, under /api/v1/."""

from django.urls import URLPattern, path

from releases import api

PRODUCT = "products/<slug:slug>"

api_urlpatterns: list[URLPattern] = [
    path(f"{PRODUCT}/proposals", api.Proposals.as_view()),
    path("proposals", api.Proposals.as_view()),
    path("proposals/<int:pk>", api.ProposalDetail.as_view()),
    path("proposals/<int:pk>/submit", api.Submit.as_view()),
    path("proposals/<int:pk>/vote", api.CastVote.as_view()),
    path("proposals/<int:pk>/publish", api.Publish.as_view()),
    path("proposals/<int:pk>/withdraw", api.Withdraw.as_view()),
    path(f"{PRODUCT}/publications", api.Publications.as_view()),
    path("publications", api.Publications.as_view()),
    path(f"{PRODUCT}/rollbacks", api.Rollbacks.as_view()),
    path("rollbacks", api.Rollbacks.as_view()),
    path(f"{PRODUCT}/edges", api.Edges.as_view()),
    path("edges", api.Edges.as_view()),
    path("rollouts", api.Rollouts.as_view()),
    path("rollouts/<int:pk>", api.RolloutDetail.as_view()),
    path("rollouts/<int:pk>/advance", api.Advance.as_view()),
    path("rollouts/<int:pk>/pause", api.Pause.as_view()),
    path("rollouts/<int:pk>/resume", api.Resume.as_view()),
]
