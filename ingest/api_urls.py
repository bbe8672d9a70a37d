"""The room for machines, under /api/v1/; `otlp_urlpatterns` under /v1/."""

from django.urls import URLPattern

api_urlpatterns: list[URLPattern] = []
otlp_urlpatterns: list[URLPattern] = []
