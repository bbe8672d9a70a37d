"""The room for machines, under /api/v1/."""

from django.urls import path

from accounts import api, inviting, people

api_urlpatterns = [
    path("audit", api.Audit.as_view()),
    path("audit/verify", api.AuditVerification.as_view()),
    path("audit/export", api.AuditExport.as_view()),
    path("audit/keys", api.AuditKeys.as_view()),
    path("people/<str:name>/factors/reset", people.FactorReset.as_view()),
    path("products/<slug:slug>/invitations", inviting.Invitations.as_view()),
]
