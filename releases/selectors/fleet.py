"""The Edges page: who needs somebody first, how many stand how, and one edge by itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator
from django.db.models import Q
from django.utils import timezone

from accounts.models import Credential
from accounts.roles import Role
from controlplane.errors import NotFound
from policies.models import Product
from releases.models import Activation, Edge, Publication
from releases.selectors.edges import EdgeFact, Standing, edge_facts
from releases.selectors.holdings import LeftOpen, left_open

PAGE = 100
ANSWERS = 20
#: The order of the list: whoever stops a clock comes first.
ATTENTION = (
    Standing.REFUSED,
    Standing.SILENT,
    Standing.LATE,
    Standing.WAITING,
    Standing.ACTIVE,
)


@dataclass(frozen=True)
class Count:
    """How many edges stand so, and the part of the traffic that they carry."""

    standing: Standing
    edges: int
    share: float


@dataclass(frozen=True)
class Fleet:
    """One page of a product's edges with the sums over all of them."""

    counts: list[Count]
    page: Page[EdgeFact]
    standing: str
    awaited: list[Credential]

    @property
    def total(self) -> int:
        return sum(count.edges for count in self.counts)


@dataclass(frozen=True)
class OneEdge:
    """An edge with what it answered of late, the credentials that it may show and what it holds."""

    edge: Edge
    fact: EdgeFact | None
    answers: list[Activation]
    credentials: list[Credential]
    left: LeftOpen | None


def fleet(
    product: Product, wanted: Publication | None, standing: str = "", page: str = ""
) -> Fleet:
    """The edges that stand so, or all; a page that isn't there is the nearest that is."""
    facts = edge_facts(product, wanted)
    shown = [fact for fact in facts if standing in ("", fact.standing)]
    shown.sort(key=lambda fact: (ATTENTION.index(fact.standing), fact.name))
    return Fleet(_counts(facts), Paginator(shown, PAGE).get_page(page), standing, awaited(product))


def awaited(product: Product) -> list[Credential]:
    """Live credentials of edges that never came."""
    live = Credential.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
        product_slug=product.slug,
        kind=Role.EDGE,
        revoked_at=None,
        superseded_at=None,
    )
    known = Edge.objects.filter(product=product).values("credential_id")
    return list(live.exclude(pk__in=known).order_by("created_at"))


def one_edge(
    product: Product, name: str, wanted: Publication | None, now: datetime | None = None
) -> OneEdge:
    """An edge by its name, in service or retired."""
    edge = product_edge(product, name)
    facts = {fact.name: fact for fact in edge_facts(product, wanted, now)}
    answers = Activation.objects.filter(edge=edge).select_related("publication")
    credentials = [one for one in (edge.credential, edge.former_credential) if one]
    newest = answers.order_by("-reported_at", "-id")[:ANSWERS]
    left = None if edge.retired_at else left_open(edge, now or timezone.now())
    return OneEdge(edge, facts.get(name), list(newest), credentials, left)


def product_edge(product: Product, name: str) -> Edge:
    """An edge by its name; 404 for one that never came."""
    found = Edge.objects.select_related("product", "credential", "former_credential", "seen")
    edge = found.filter(product=product, name=name).first()
    if edge is None:
        raise NotFound("not_found", f"{product.slug} has no edge {name}.")
    return edge


def _counts(facts: Sequence[EdgeFact]) -> list[Count]:
    numbers = Counter(fact.standing for fact in facts)
    return [
        Count(standing, numbers[standing], sum(f.share for f in facts if f.standing == standing))
        for standing in ATTENTION
        if numbers[standing]
    ]
