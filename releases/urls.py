"""The room's pages, under /products/<slug>/."""

from django.urls import URLPattern

app_name = "releases"
urlpatterns: list[URLPattern] = []
