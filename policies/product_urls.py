"""Products as such, under /products/."""

from django.urls import path

from policies.views import generations

app_name = "products"
urlpatterns = [path("new", generations.new_product, name="new")]
