"""The room's pages, under /products/<slug>/."""

from django.urls import URLPattern, path

from releases.views import (
    edges,
    overrides,
    overview,
    proposals,
    publications,
    reconciliation,
    records,
    rollback,
    rollout,
    shadow,
)

app_name = "releases"
urlpatterns: list[URLPattern] = [
    path("", overview.overview, name="overview"),
    path("first-publication", overview.first_publication, name="first-publication"),
    path("proposals/", proposals.proposals, name="proposals"),
    path("proposals/open", proposals.open_proposal, name="open-proposal"),
    path("proposals/<int:pk>/", proposals.proposal, name="proposal"),
    path("proposals/<int:pk>/submit", proposals.submit, name="submit"),
    path("proposals/<int:pk>/vote", proposals.cast_vote, name="vote"),
    path("proposals/<int:pk>/publish", proposals.publish_proposal, name="publish"),
    path("proposals/<int:pk>/withdraw", proposals.withdraw, name="withdraw"),
    path("proposals/<int:pk>/record", records.record, name="record"),
    path("proposals/<int:pk>/record.md", records.record_markdown, name="record-markdown"),
    path("proposals/<int:pk>/record.json", records.record_json, name="record-json"),
    path("rollout/<int:pk>/override", overrides.ask, name="ask-override"),
    path("overrides/<int:pk>/confirm", overrides.confirm, name="confirm-override"),
    path("publications/", publications.publications, name="publications"),
    path("edges/", edges.edges, name="edges"),
    path("edges/register", edges.register, name="register-edge"),
    path("edges/<str:name>/", edges.edge, name="edge"),
    path("edges/<str:name>/rotate", edges.rotate, name="rotate-edge"),
    path("edges/<str:name>/revoke", edges.revoke, name="revoke-edge"),
    path("edges/<str:name>/retire", edges.retire, name="retire-edge"),
    path("edges/<str:name>/share", edges.share, name="share-edge"),
    path("rollout/", rollout.rollout, name="rollout"),
    path("rollout/<int:pk>/advance", rollout.advance, name="advance"),
    path("rollout/<int:pk>/approve", rollout.approve_stage, name="approve-stage"),
    path("rollout/<int:pk>/hold-back", rollout.hold_back, name="hold-back"),
    path("rollout/<int:pk>/let-go", rollout.let_go, name="let-go"),
    path("rollout/<int:pk>/pause", rollout.pause, name="pause"),
    path("rollout/<int:pk>/resume", rollout.resume, name="resume"),
    path("shadow/", shadow.shadow, name="shadow"),
    path("rollback/", rollback.rollback, name="rollback"),
    path("rollback/drill", rollback.drill, name="drill"),
    path("reconciliation/", reconciliation.reconciliation, name="reconciliation"),
    path("reconciliation/release", reconciliation.release, name="release-pool"),
]
