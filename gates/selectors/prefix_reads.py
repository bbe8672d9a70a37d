"""How much of the input is read from prefix caches, by route and manifest."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gates.selectors.verdicts import live_window
from ingest.selectors.counted import counted
from orchid.engine.document.model import PolicyDocument
from orchid.engine.rollup import Figure
from policies.models import Product
from policies.selectors import document_of

#: As a revisit trigger may be called, and the measure that it takes.
TRIGGERS = frozenset({"prefix_reads", "prefix_read_share"})
WINDOW = timedelta(days=1)


@dataclass(frozen=True)
class PrefixReads:
    """Input tokens of one route under one manifest, and those that a cache held.

    `floor` is the share that the document wants, None where it sets none. Capacity has to hold
    without any of them.
    """

    route: str
    manifest: str
    input_tokens: int
    cached_tokens: int
    floor: float | None

    @property
    def share(self) -> float:
        return self.cached_tokens / self.input_tokens

    @property
    def is_low(self) -> bool:
        return self.floor is not None and self.share < self.floor


def prefix_reads(product: Product, now: datetime) -> list[PrefixReads]:
    """By route and manifest of what is live, over the window of the document's own trigger."""
    window = live_window(product)
    if window is None:
        return []
    document = document_of(window.digest)
    floor, span = _wanted(document)
    start = max(now - span, window.opens_at)
    seen = counted(product, window.digest, window.publication, window.cohort, start, now)
    sums: dict[tuple[str, str], list[int]] = {}
    for cell in seen.sums():
        known = sums.setdefault((cell.name.route, cell.name.manifest), [0, 0])
        known[0] += _total(cell.figures.get("input_tokens"))
        known[1] += _total(cell.figures.get("cached_input_tokens"))
    return [
        PrefixReads(route, manifest, tokens, cached, floor)
        for (route, manifest), (tokens, cached) in sorted(sums.items())
        if route and tokens
    ]


def _wanted(document: PolicyDocument) -> tuple[float | None, timedelta]:
    for condition in document.revisit:
        if condition.trigger in TRIGGERS:
            floor = None if condition.min is None else float(condition.min)
            return floor, timedelta(milliseconds=condition.window_ms)
    return None, WINDOW


def _total(figure: Figure | None) -> int:
    return figure.total if figure else 0
