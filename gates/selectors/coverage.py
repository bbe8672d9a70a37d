"""Where evidence covers what serves and what may serve, and where it does not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from gates.models import Window
from gates.selectors.evidence import items_for
from gates.selectors.verdicts import latest, live_window
from gates.states import Standing
from ingest.models import Trial
from ingest.selectors import counted
from ingest.selectors.trials import support_of, trials
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import floor_for
from orchid.engine.trial_evidence import Support
from orchid.engine.verdict import utility
from orchid.engine.verdict.coverage import scores_of
from orchid.engine.verdict.evidence import Book, Item
from orchid.engine.verdict.evidence_needs import Need, Seen, needs
from orchid.engine.verdict.gates import levels_of
from orchid.engine.verdict.traffic import SERVED
from policies.models import Product
from policies.selectors import document_of

#: How far back the traffic is looked at for the mix that evidence has to cover.
LOOK_BACK = timedelta(hours=24)
NEWEST_TRIALS = 5


@dataclass(frozen=True)
class Covered:
    """One cell: what speaks for it or why nothing does, its floor, and violations that were found.

    `low` is the lower bound of the true mean at the gate's level.
    """

    need: Need
    item: Item | None
    why: str
    floor: float | None
    low: float | None
    found: Sequence[Item]
    parts: Sequence[Item]
    at: datetime

    @property
    def standing(self) -> Standing:
        """A class that leaves dimensions open is covered by pieces that tell them apart."""
        if self.item is None:
            is_open = self.parts and not self.need.responses
            return Standing.PARTS if is_open else Standing.GAP
        if self.floor is None:
            return Standing.NO_FLOOR
        if self.item.mean < self.floor:
            return Standing.BELOW
        return Standing.MET if self.low is not None and self.low >= self.floor else Standing.NARROW

    @property
    def age_days(self) -> int | None:
        return self.item.age(self.at).days if self.item else None


@dataclass(frozen=True)
class Matrix:
    """Segments by routes for one document; rows with gaps first, then those with most traffic."""

    document: PolicyDocument
    digest: str
    live: bool
    at: datetime
    cells: Sequence[Covered]
    max_age_days: int

    @cached_property
    def routes(self) -> list[str]:
        return sorted({cell.need.route for cell in self.cells})

    @cached_property
    def rows(self) -> list[tuple[str, int, list[list[Covered]]]]:
        """Segment key, its responses, and for each route its cells: one a manifest."""
        by_key: dict[str, list[Covered]] = {}
        for cell in self.cells:
            by_key.setdefault(cell.need.key, []).append(cell)
        rows = [
            (
                key,
                sum(cell.need.responses for cell in cells),
                [[cell for cell in cells if cell.need.route == route] for route in self.routes],
            )
            for key, cells in by_key.items()
        ]
        return sorted(rows, key=lambda row: (not _has_gap(row[2]), -row[1], row[0]))

    @cached_property
    def gaps(self) -> list[Covered]:
        """What nothing covers, most traffic first."""
        found = [cell for cell in self.cells if cell.standing is Standing.GAP]
        return sorted(found, key=lambda cell: (-cell.need.responses, cell.need.place))

    @cached_property
    def violated(self) -> list[Item]:
        """Evidence that found violations in what is needed, each once."""
        return list({item.digest: item for cell in self.cells for item in cell.found}.values())


def matrix(product: Product, digest: str, at: datetime) -> Matrix:
    """What evidence says of a content: of the traffic that it serves, or that it would serve."""
    document, window = document_of(digest), live_window(product)
    live = window is not None and window.digest == digest
    needed = needs(document, seen(window, at) if window else (), live=live)
    book = Book(items_for(product, {need.manifest for need in needed}), document, at)
    cells = [_covered(document, book, need) for need in needed]
    return Matrix(document, digest, live, at, cells, book.max_age.days)


def seen(window: Window, at: datetime) -> list[Seen]:
    """What the window's newest traffic was served by, up to what was judged last."""
    judged = latest(window)
    end = judged.watermark if judged else at
    start = max(window.opens_at, end - LOOK_BACK)
    if start >= end:
        return []
    found = counted(
        window.product, window.digest, window.publication, window.cohort, start, end
    ).sums()
    return [
        Seen(one.dims, one.name.route, one.name.manifest, _served(one.counters)) for one in found
    ]


def supports(product: Product) -> list[tuple[Trial, Support]]:
    """The newest trials, each with whether it can support an advance and why not."""
    newest = trials(product).defer(None).order_by("-created_at", "-id")[:NEWEST_TRIALS]
    return [(trial, support_of(trial)) for trial in newest]


def _covered(document: PolicyDocument, book: Book, need: Need) -> Covered:
    place = need.dims, need.route, need.manifest
    item = book.speaker(*place)
    return Covered(
        need=need,
        item=item,
        why=book.why_silent(*place),
        floor=floor_for(document, need.dims),
        low=_low(document, item) if item else None,
        found=book.found(*place),
        parts=[] if item else book.parts(*place),
        at=book.at,
    )


def _low(document: PolicyDocument, item: Item) -> float | None:
    """Lower bound of the cell by itself, as the utility gate would take it."""
    cell = utility.Cell("", 1, scores_of(item))
    return utility.judge("", [cell], 0.0, 1, levels_of(document)).low


def _served(counters: dict[str, int]) -> int:
    return sum(counters.get(name, 0) for name in SERVED)


def _has_gap(columns: Iterable[Sequence[Covered]]) -> bool:
    return any(cell.standing is Standing.GAP for cells in columns for cell in cells)
