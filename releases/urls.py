"""The room's pages, under /products/<slug>/."""

from django.urls import URLPattern, path

from releases.views import live, proposals

app_name = "releases"
urlpatterns: list[URLPattern] = [
    path("", live.overview, name="overview"),
    path("first-publication", live.first_publication, name="first-publication"),
    path("proposals/", proposals.proposals, name="proposals"),
    path("proposals/open", proposals.open_proposal, name="open-proposal"),
    path("proposals/<int:pk>/", proposals.proposal, name="proposal"),
    path("proposals/<int:pk>/submit", proposals.submit, name="submit"),
    path("proposals/<int:pk>/vote", proposals.cast_vote, name="vote"),
    path("proposals/<int:pk>/publish", proposals.publish_proposal, name="publish"),
    path("proposals/<int:pk>/withdraw", proposals.withdraw, name="withdraw"),
    path("publications/", live.publications, name="publications"),
    path("edges/", live.edges, name="edges"),
    path("rollout/", live.rollout, name="rollout"),
    path("rollout/<int:pk>/advance", live.advance, name="advance"),
    path("rollout/<int:pk>/pause", live.pause, name="pause"),
    path("rollout/<int:pk>/resume", live.resume, name="resume"),
    path("rollback/", live.rollback, name="rollback"),
]
