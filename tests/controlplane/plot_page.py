"""One page with one plot, for the browser test."""

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path

from controlplane.urls import urlpatterns as product_urls
from controlplane.web import Column, Plot, Table

FIGURE = {
    "data": [{"type": "scatter", "mode": "markers", "x": [1, 2], "y": [3, 4]}],
    "layout": {"xaxis": {"title": {"text": "$ per success"}}, "shapes": []},
}
TABLE = Table("Points", [Column("Name"), Column("$", numeric=True)], [("a", "1"), ("b", "2")])


def page(request: HttpRequest) -> HttpResponse:
    plot = Plot("frontier", "Frontier", json.dumps(FIGURE), TABLE)
    return render(request, "plot_page.html", {"plot": plot})


urlpatterns = [path("plot", page), path("", include(product_urls))]
