"""The room for machines, under /api/v1/."""

from django.urls import URLPattern

api_urlpatterns: list[URLPattern] = []
