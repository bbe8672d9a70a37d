"""The room for machines, under /api/v1/."""

from django.urls import path

from accounts import api, inviting, leaving_api, letting_in, lost_factor_doors

api_urlpatterns = [
    path("audit", api.Audit.as_view()),
    path("audit/verify", api.AuditVerification.as_view()),
    path("audit/export", api.AuditExport.as_view()),
    path("audit/keys", api.AuditKeys.as_view()),
    path("people", leaving_api.People.as_view()),
    path("people/<str:name>", leaving_api.OnePerson.as_view()),
    path("people/<str:name>/end", leaving_api.EndAccount.as_view()),
    path("people/<str:name>/restore", leaving_api.RestoreAccount.as_view()),
    path("people/<str:name>/factors/reset", lost_factor_doors.FactorReset.as_view()),
    path("products/<slug:slug>/invitations", inviting.Invitations.as_view()),
    path("products/<slug:slug>/invitations/<int:pk>/withdraw", inviting.Withdrawal.as_view()),
    path("products/<slug:slug>/tokens", letting_in.Tokens.as_view()),
    path("products/<slug:slug>/tokens/<int:pk>/rotate", letting_in.RotateToken.as_view()),
    path("products/<slug:slug>/tokens/<int:pk>/revoke", letting_in.RevokeToken.as_view()),
    path("products/<slug:slug>/roles", letting_in.Roles.as_view()),
    path("products/<slug:slug>/roles/<int:pk>/take", letting_in.TakeRole.as_view()),
]
