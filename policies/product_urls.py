"""Products as such, under /products/."""

from django.urls import path

from policies import views

app_name = "products"
urlpatterns = [path("new", views.new_product, name="new")]
