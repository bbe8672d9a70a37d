"""The room for machines, under /api/v1/."""

from django.urls import URLPattern, path

from releases.api import (
    edges,
    overrides,
    proposals,
    publications,
    reconciliation,
    records,
    rollbacks,
    rollouts,
    shadow,
)

PRODUCT = "products/<slug:slug>"

api_urlpatterns: list[URLPattern] = [
    path(f"{PRODUCT}/proposals", proposals.Proposals.as_view()),
    path("proposals", proposals.Proposals.as_view()),
    path("proposals/<int:pk>", proposals.ProposalDetail.as_view()),
    path("proposals/<int:pk>/submit", proposals.Submit.as_view()),
    path("proposals/<int:pk>/vote", proposals.CastVote.as_view()),
    path("proposals/<int:pk>/publish", proposals.Publish.as_view()),
    path("proposals/<int:pk>/withdraw", proposals.Withdraw.as_view()),
    path(f"{PRODUCT}/publications", publications.Publications.as_view()),
    path("publications", publications.Publications.as_view()),
    path(f"{PRODUCT}/rollbacks", rollbacks.Rollbacks.as_view()),
    path("rollbacks", rollbacks.Rollbacks.as_view()),
    path(f"{PRODUCT}/rollback-readiness", rollbacks.RollbackReadiness.as_view()),
    path(f"{PRODUCT}/drills", rollbacks.Drills.as_view()),
    path("drills/<int:pk>", rollbacks.DrillDetail.as_view()),
    path(f"{PRODUCT}/reconciliation", reconciliation.Reconciliation.as_view()),
    path(f"{PRODUCT}/pool-releases", reconciliation.PoolReleases.as_view()),
    path(f"{PRODUCT}/edges", edges.ProductEdges.as_view()),
    path(f"{PRODUCT}/edges/<str:name>/rotate", edges.Rotate.as_view()),
    path(f"{PRODUCT}/edges/<str:name>/revoke", edges.Revoke.as_view()),
    path(f"{PRODUCT}/edges/<str:name>/retire", edges.Retire.as_view()),
    path(f"{PRODUCT}/edges/<str:name>/share", edges.DeclareShare.as_view()),
    path(f"{PRODUCT}/alarms", edges.Alarms.as_view()),
    path("alarms", edges.Alarms.as_view()),
    path("edges", edges.Edges.as_view()),
    path("proposals/<int:pk>/card", records.ReviewCard.as_view()),
    path("proposals/<int:pk>/record", records.DecisionRecord.as_view()),
    path("rollouts/<int:pk>/overrides", overrides.RolloutOverrides.as_view()),
    path("overrides/<int:pk>/confirm", overrides.ConfirmOverride.as_view()),
    path(f"{PRODUCT}/shadow", shadow.Shadow.as_view()),
    path(f"{PRODUCT}/shadow/disagreements", shadow.ShadowDisagreements.as_view()),
    path("rollouts", rollouts.Rollouts.as_view()),
    path("rollouts/<int:pk>", rollouts.RolloutDetail.as_view()),
    path("rollouts/<int:pk>/advance", rollouts.Advance.as_view()),
    path("rollouts/<int:pk>/approve", rollouts.ApproveStage.as_view()),
    path("rollouts/<int:pk>/hold-back", rollouts.HoldBack.as_view()),
    path("rollouts/<int:pk>/let-go", rollouts.LetGo.as_view()),
    path("rollouts/<int:pk>/pause", rollouts.Pause.as_view()),
    path("rollouts/<int:pk>/resume", rollouts.Resume.as_view()),
]
