"""What still runs under which manifest at which edge, and what keeps a pool from being let go."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils import timezone

from controlplane.errors import NotFound
from gates.models import Window
from gates.selectors.evidence import manifests_of
from gates.selectors.periods import counted_until
from gates.selectors.verdicts import live_window
from ingest.selectors import watermark
from policies.models import Product, Revision
from policies.selectors import document_of
from releases.models import PoolRelease, Publication, Reconciliation, Rollout
from releases.selectors.holdings import (
    Abandoned,
    Holding,
    abandoned,
    digests_heard,
    holdings,
)
from releases.services.pools import released
from releases.states import OPEN_ROLLOUTS, PoolRole


@dataclass(frozen=True)
class Blocker:
    """One reason against letting a pool go; `code` is what the API refuses with."""

    code: str
    text: str


@dataclass(frozen=True)
class Pinned:
    """One route's manifest of a generation; two routes may have the same."""

    route: str
    digest: str


@dataclass(frozen=True)
class PoolFact:
    """A generation's pool: what it is to the product, who holds what, what keeps it."""

    digest: str
    generation: int | None
    title: str
    pool: str
    role: PoolRole
    holdings: list[Holding]
    manifests: list[Pinned]
    settled_at: datetime | None
    release: PoolRelease | None
    blockers: list[Blocker]
    shared_with: list[int]
    abandoned: list[Abandoned]

    @property
    def open_sequences(self) -> int:
        return sum(one.sequences for one in self.holdings)

    @property
    def rows(self) -> list[tuple[Holding, list[tuple[str, int]]]]:
        """Each edge with its attempts under each route's manifest."""
        return [
            (one, [(pin.route, one.manifests.get(pin.digest, 0)) for pin in self.manifests])
            for one in self.holdings
        ]

    @property
    def unclear(self) -> list[Holding]:
        """Edges that keep the ledger of this generation open."""
        return [one for one in self.holdings if not one.is_zero]

    @property
    def may_be_released(self) -> bool:
        return self.release is None and not self.blockers


def pool_facts(product: Product, now: datetime | None = None) -> list[PoolFact]:
    """Every pool of the newest publication, and what runs under a digest that it doesn't name."""
    current = Publication.objects.filter(product=product).order_by("-number").first()
    return [] if current is None else _Ledger(product, current, now or timezone.now()).facts()


def pool_fact(product: Product, digest: str, now: datetime | None = None) -> PoolFact:
    """The pool of one generation. Raises NotFound where none is kept."""
    for fact in pool_facts(product, now):
        if fact.digest == digest:
            return fact
    raise NotFound("not_found", f"No pool is kept for {digest or 'no digest'}.")


class _Ledger:
    """Everything read once for one look at a product's pools."""

    def __init__(self, product: Product, current: Publication, now: datetime) -> None:
        self.product, self.current, self.now = product, current, now

    def facts(self) -> list[PoolFact]:
        order = {role: place for place, role in enumerate(PoolRole)}
        found = [self._fact(digest) for digest in self.holdings]
        return sorted(found, key=lambda fact: (order[fact.role], fact.generation or 0))

    @cached_property
    def holdings(self) -> dict[str, list[Holding]]:
        named = set(self.current.pools) | digests_heard(self.product)
        return holdings(self.product, named, self.now)

    @cached_property
    def revisions(self) -> dict[str, Revision]:
        rows = Revision.objects.filter(
            generation__product=self.product, digest__in=self.holdings
        ).select_related("generation")
        return {row.digest: row for row in rows.order_by("-number")}

    @cached_property
    def releases(self) -> dict[str, PoolRelease]:
        return released(self.product, self.holdings.keys())

    @cached_property
    def abandoned(self) -> dict[str, list[Abandoned]]:
        return abandoned(self.product, self.holdings.keys())

    @cached_property
    def settled(self) -> dict[str, datetime | None]:
        rows = Reconciliation.objects.filter(product=self.product)
        return dict(rows.values_list("digest", "settled_at"))

    @cached_property
    def rollout_open(self) -> bool:
        return Rollout.objects.filter(product=self.product, state__in=OPEN_ROLLOUTS).exists()

    @cached_property
    def windows_open(self) -> set[str]:
        windows = Window.objects.filter(product=self.product, closes_at=None)
        return set(windows.values_list("digest", flat=True))

    @cached_property
    def counted_to(self) -> datetime | None:
        """Up to when the books are complete; None while no edge tells how far it has counted."""
        if watermark(self.product, self.now) is None:
            return None
        return counted_until(self.product, live_window(self.product), self.now)

    def _fact(self, digest: str) -> PoolFact:
        revision, held = self.revisions.get(digest), self.holdings[digest]
        release = self.releases.get(digest)
        return PoolFact(
            digest=digest,
            generation=revision.generation.number if revision else None,
            title=revision.generation.title if revision else "",
            pool=self.current.pools.get(digest, ""),
            role=self._role(digest, release is not None),
            holdings=held,
            manifests=_manifests(digest) if revision else [],
            settled_at=self.settled.get(digest),
            release=release,
            blockers=list(self._blockers(digest)),
            shared_with=self._shared_with(digest),
            abandoned=self.abandoned.get(digest, []),
        )

    def _role(self, digest: str, gone: bool) -> PoolRole:
        if digest in self.current.served:
            rising = digest == self.current.candidate_digest and self.current.fraction < 1.0
            return PoolRole.CANDIDATE if rising else PoolRole.SERVING
        if digest == self.current.candidate_digest:
            return PoolRole.CANDIDATE
        if digest not in self.current.pools:
            return PoolRole.UNKNOWN
        if gone:
            return PoolRole.RELEASED
        running = any(one.sequences or one.admits for one in self.holdings[digest])
        return PoolRole.DRAINING if running else PoolRole.WARM

    def _shared_with(self, digest: str) -> list[int]:
        """Generations that go on using the same pool once this one has let it go."""
        pool = self.current.pools.get(digest)
        others = {
            other
            for other, name in self.current.pools.items()
            if name == pool and other != digest and other not in self.releases
        }
        return sorted(self.revisions[one].generation.number for one in others & {*self.revisions})

    def _blockers(self, digest: str) -> Iterator[Blocker]:
        """In the order in which they go away."""
        if digest not in self.current.pools:
            yield Blocker("pool_not_named", "No pool is named for it in what edges are told.")
        if digest in self.current.served:
            yield Blocker("pool_serves", "New requests are decided under this generation.")
        elif self.rollout_open and digest in (
            self.current.incumbent_digest,
            self.current.candidate_digest,
        ):
            yield Blocker("rollout_open", "The rollout under way leads to it or back to it.")
        yield from self._open_ledger(digest)
        yield from self._open_books(digest)

    def _open_ledger(self, digest: str) -> Iterator[Blocker]:
        unclear = [one.words for one in self.holdings[digest] if not one.is_zero]
        if unclear:
            yield Blocker("sequences_open", f"Open sequences: {'; '.join(unclear)}.")

    def _open_books(self, digest: str) -> Iterator[Blocker]:
        settled_at = self.settled.get(digest)
        if digest in self.windows_open:
            yield Blocker("accounting_open", "Its requests are still being judged and priced.")
        elif settled_at is None:
            yield Blocker("accounting_open", "Its last sequence has not been seen to end yet.")
        elif self.counted_to is None:
            text = "No edge tells how far it has counted, so its last costs may be missing."
            yield Blocker("accounting_open", text)
        elif self.counted_to < settled_at:
            yield Blocker(
                "accounting_open",
                f"Costs are counted up to {self.counted_to:%H:%M:%S} UTC, and its last sequence "
                f"ended by {settled_at:%H:%M:%S}.",
            )


def _manifests(digest: str) -> list[Pinned]:
    found = manifests_of(document_of(digest))
    return [Pinned(route, manifest) for route, manifest in sorted(found.items())]
