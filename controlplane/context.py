"""What every page's frame needs: where one is, and where one may go from here."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from accounts.guard import Permission, actor_of, may

# Name, label, permission.
PRODUCT_PAGES: tuple[tuple[str, str, Permission], ...] = (
    ("releases:overview", "Overview", Permission.VIEW),
    ("gates:now", "Gates", Permission.VIEW),
    ("policies:generations", "Generations", Permission.VIEW),
    ("releases:proposals", "Proposals", Permission.VIEW),
    ("releases:publications", "Publications", Permission.VIEW),
    ("releases:edges", "Edges", Permission.VIEW),
    ("ingest:sources", "Sources", Permission.VIEW),
    ("gates:evidence", "Evidence", Permission.VIEW),
)


@dataclass(frozen=True)
class NavItem:
    label: str
    url: str
    current: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    """The product's pages that this person may open; empty outside a product."""
    match = request.resolver_match
    slug = match.kwargs.get("slug", "") if match else ""
    user = getattr(request, "user", None)
    if not slug or user is None or not user.is_authenticated:
        return {"product_slug": "", "product_nav": []}
    actor = actor_of(request)
    if not may(actor, Permission.VIEW, slug):
        return {"product_slug": "", "product_nav": []}
    items = [_item(request, name, label, slug) for name, label, _permission in PRODUCT_PAGES]
    return {"product_slug": slug, "product_nav": [item for item in items if item]}


def _item(request: HttpRequest, name: str, label: str, slug: str) -> NavItem | None:
    try:
        url = reverse(name, kwargs={"slug": slug})
    except NoReverseMatch:
        return None
    is_root = url == f"/products/{slug}/"
    current = request.path == url if is_root else request.path.startswith(url)
    return NavItem(label, url, current)
