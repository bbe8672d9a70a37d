"""The share of the traffic that each edge carries: measured where there is any, else declared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ingest.selectors.traffic import stored_by_sender
from policies.models import Product

LEAST = 100  # requests of the whole fleet; fewer say nothing about how traffic is spread


@dataclass(frozen=True)
class Carrier:
    """An edge as its traffic is looked at: how it sends, what is declared, whether it is heard."""

    edge_id: int
    sender: str
    declared: float
    is_silent: bool


@dataclass(frozen=True)
class Share:
    """A part of the product's traffic, from 0 to 1."""

    of_traffic: float
    is_measured: bool


def shares(product: Product, carriers: Sequence[Carrier], now: datetime) -> dict[int, Share]:
    """By edge; together they are the whole.

    An edge that sends no records keeps its declared part, and a silent one the larger of both:
    falling silent must not make an edge count for less.
    """
    counted = stored_by_sender(product, now)
    requests = sum(counted.get(one.sender, 0) for one in carriers)
    declared = sum(one.declared for one in carriers) or 1.0
    found = {}
    for one in carriers:
        part, mine = one.declared / declared, counted.get(one.sender, 0)
        is_measured = requests >= LEAST and mine > 0
        if is_measured:
            part = max(part, mine / requests) if one.is_silent else mine / requests
        found[one.edge_id] = Share(part, is_measured)
    total = sum(share.of_traffic for share in found.values()) or 1.0
    return {pk: Share(share.of_traffic / total, share.is_measured) for pk, share in found.items()}
