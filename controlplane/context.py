"""What every page's frame needs: where one is, and where one may go from here."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import ResolverMatch, reverse

from accounts.guard import Permission, actor_of, permissions_in, products_with

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
    ("accounts:access", "Access", Permission.ADMINISTER),
)

# Rooms and pages that belong to a tab without lying under its address.
BELONGS = {
    "ingest": "ingest:sources",
    "gates": "gates:now",
    "gates:evidence": "gates:evidence",
    "gates:evidence_pieces": "gates:evidence",
    "gates:evidence_piece": "gates:evidence",
    "gates:push": "gates:evidence",
    "gates:decision_diff": "releases:proposals",
    "releases:rollout": "releases:overview",
    "releases:rollback": "releases:overview",
    "releases:reconciliation": "releases:edges",
    "releases:notices": "releases:overview",
    "releases:release-pool": "releases:edges",
}


@dataclass(frozen=True)
class NavItem:
    label: str
    url: str
    current: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    """The pages that this person may open: of the product, and of the trail."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"product_slug": "", "product_nav": [], "may_audit": False}
    actor = actor_of(request)
    slug = request.resolver_match.kwargs.get("slug", "") if request.resolver_match else ""
    held = permissions_in(actor, slug) if slug else frozenset()
    pages = [name for name in PRODUCT_PAGES if name[2] in held]
    return {
        "product_slug": slug if held else "",
        "product_nav": [_item(request, name, label, slug) for name, label, _ in pages],
        "may_audit": bool(products_with(actor, Permission.AUDIT)),
    }


def _item(request: HttpRequest, name: str, label: str, slug: str) -> NavItem:
    url = reverse(name, kwargs={"slug": slug})
    at_root = url.count("/") == 3  # the overview begins every other address
    current = request.path == url if at_root else request.path.startswith(url)
    match = request.resolver_match
    belongs = match is not None and _tab_of(match) == name
    return NavItem(label, url, current or belongs)


def _tab_of(match: ResolverMatch) -> str | None:
    """The tab of a page by its own name, or by its room's."""
    return BELONGS.get(match.view_name) or BELONGS.get(match.app_name)
