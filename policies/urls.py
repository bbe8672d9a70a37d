"""Pages of the room, under /products/<slug>/."""

from django.urls import path

from policies import views

app_name = "policies"
urlpatterns = [
    path("generations/", views.generations, name="generations"),
    path("generations/new", views.new_generation, name="new_generation"),
    path("generations/<int:number>/", views.generation, name="generation"),
    path("generations/<int:number>/revise", views.revise, name="revise"),
    path("generations/<int:number>/diff/<int:base>/", views.difference, name="difference"),
]
