"""The room for machines, under /api/v1/; the schema of documents is public, at the root."""

from django.urls import path

from policies import api
from policies.views import schema

api_urlpatterns = [
    path("products", api.Products.as_view()),
    path("generations", api.AllGenerations.as_view()),
    path("products/<slug:slug>", api.ProductDetail.as_view()),
    path("products/<slug:slug>/generations", api.Generations.as_view()),
    path("products/<slug:slug>/generations/<int:number>", api.GenerationDetail.as_view()),
    path("products/<slug:slug>/generations/<int:number>/revisions", api.Revisions.as_view()),
    path("products/<slug:slug>/generations/<int:number>/diff", api.Difference.as_view()),
]

root_urlpatterns = [
    path("schemas/orchid.policy.v1.json", schema.schema, name="policy_schema"),
]
