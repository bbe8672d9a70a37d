"""Pages of the room, under /products/<slug>/."""

from django.urls import path

from policies.views import editing, generations, trying

app_name = "policies"
urlpatterns = [
    path("generations/", generations.generations, name="generations"),
    path("generations/new", editing.new_generation, name="new_generation"),
    path("generations/<int:number>/", generations.generation, name="generation"),
    path("generations/<int:number>/try", trying.try_request, name="try"),
    path("generations/<int:number>/revise", editing.revise, name="revise"),
    path("generations/<int:number>/diff/<int:base>/", generations.difference, name="difference"),
]
