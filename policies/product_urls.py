"""Products as such, under /products/."""

from django.urls import URLPattern

app_name = "products"
urlpatterns: list[URLPattern] = []
