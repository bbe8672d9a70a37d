"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern

app_name = "policies"
urlpatterns: list[URLPattern] = []
