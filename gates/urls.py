"""Pages of the room, under /products/<slug>/."""

from django.urls import URLPattern

app_name = "gates"
urlpatterns: list[URLPattern] = []
