"""The first page: how each product stands, and what waits for whoever is looking."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse

from accounts.guard import Permission, actor_of, may, products_with
from accounts.roles import EVERY_PRODUCT
from controlplane.web import HtmxRequest, render_page
from policies import selectors as policies


@login_required
def dashboard(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    context = {
        "products": policies.products(products_with(actor, Permission.VIEW)),
        "may_create": may(actor, Permission.ADMINISTER, EVERY_PRODUCT),
    }
    return render_page(request, "controlplane/dashboard.html", None, context)
