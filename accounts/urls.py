"""Signing in and out, and the audit trail."""

from django.urls import path

from accounts import views

app_name = "accounts"
urlpatterns = [
    path("login", views.SignIn.as_view(), name="login"),
    path("logout", views.SignOut.as_view(), name="logout"),
    path("password-reset", views.ResetRequest.as_view(), name="password_reset"),
    path("password-reset/sent", views.ResetSent.as_view(), name="password_reset_done"),
    path(
        "password-reset/<uidb64>/<token>",
        views.ResetConfirm.as_view(),
        name="password_reset_confirm",
    ),
    path("password-reset/done", views.ResetDone.as_view(), name="password_reset_complete"),
]
