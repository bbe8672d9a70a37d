"""Signing in and out, who has access to a product, and the audit trail."""

from django.urls import path

from accounts import access, leavers, lost_factor_doors, own, trail, views
from accounts.methods import form_page

app_name = "accounts"
urlpatterns = [
    path("login", form_page(views.SignIn.as_view()), name="login"),
    path("logout", views.SignOut.as_view(), name="logout"),
    path("password-reset", form_page(views.ResetRequest.as_view()), name="password_reset"),
    path("password-reset/sent", views.ResetSent.as_view(), name="password_reset_done"),
    path(
        "password-reset/<uidb64>/<token>",
        form_page(views.ResetConfirm.as_view()),
        name="password_reset_confirm",
    ),
    path("password-reset/done", views.ResetDone.as_view(), name="password_reset_complete"),
    path("invitations/<str:secret>", views.invitation, name="invitation"),
    path("confirm", own.confirm, name="confirm"),
    path("confirm/go-on", own.go_on, name="go_on"),
    path("account/", own.account, name="account"),
    path("account/password", form_page(own.NewPassword.as_view()), name="password"),
    path("account/sessions/end", own.end_sessions, name="end_sessions"),
    path("account/providers/<slug:provider>/unlink", own.unlink, name="unlink"),
    path("people/", leavers.people, name="people"),
    path("people/<str:name>/", leavers.one, name="person"),
    path("people/<str:name>/end", leavers.end, name="end_account"),
    path("people/<str:name>/restore", leavers.restore, name="restore_account"),
    path("people/<str:name>/factors", lost_factor_doors.factors, name="factors_of"),
    path("audit/", trail.audit, name="audit"),
    path("audit/verify", trail.verify, name="audit_verify"),
    path("audit/export.jsonl", trail.export, {"form": "jsonl"}, name="audit_export"),
    path("audit/export.csv", trail.export, {"form": "csv"}, name="audit_table"),
    path("products/<slug:slug>/access/", access.access, name="access"),
    path("products/<slug:slug>/access/invite", access.invite, name="invite"),
    path("products/<slug:slug>/access/withdraw", access.withdraw, name="withdraw"),
    path("products/<slug:slug>/access/credentials", access.issue, name="issue"),
    path("products/<slug:slug>/access/revoke", access.revoke, name="revoke"),
    path("products/<slug:slug>/access/rotate", access.rotate, name="rotate"),
    path("products/<slug:slug>/access/roles", access.give_role, name="give_role"),
    path("products/<slug:slug>/access/roles/take", access.take_role, name="take_role"),
]
