"""How much of each stratum the candidate was to get under a publication, and how much it got."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from gates.models import Window
from ingest.selectors import counted
from orchid.engine.segments import dims_of, matches
from orchid.engine.units import stratum_name
from policies.selectors import document_of
from releases.models import Publication

#: Strata that a page shows, the largest first; the sums have all.
SHOWN = 40


@dataclass(frozen=True)
class Exposed:
    """A stratum, or ("") all of it: eligible requests and their TEU, of the candidate and in all.

    `planned` is None for a whole whose parts are planned differently.
    """

    stratum: str
    planned: float | None
    requests: int = 0
    of_requests: int = 0
    teu: Decimal = Decimal(0)
    of_teu: Decimal = Decimal(0)

    @property
    def by_requests(self) -> float | None:
        return self.requests / self.of_requests if self.of_requests else None

    @property
    def by_teu(self) -> float | None:
        """Apart from requests, since one of them can be the work of hundreds."""
        return float(self.teu / self.of_teu) if self.of_teu else None

    def plus(self, other: "Exposed") -> "Exposed":
        return Exposed(
            self.stratum,
            self.planned if self.planned == other.planned else None,
            self.requests + other.requests,
            self.of_requests + other.of_requests,
            self.teu + other.teu,
            self.of_teu + other.of_teu,
        )


def exposure(publication: Publication, now: datetime) -> list[Exposed]:
    """The whole first, then strata by their requests; empty before its windows are open."""
    if publication.candidate_digest is None:
        return []
    found: dict[str, Exposed] = {}
    windows = list(_windows(publication))
    for window in windows:
        for part in _parts(publication, window, now):
            known = found.get(part.stratum)
            found[part.stratum] = known.plus(part) if known else part
    strata = sorted(found.values(), key=lambda one: (-one.of_requests, one.stratum))
    return [_whole(publication, strata), *strata] if windows else []


def _windows(publication: Publication) -> Iterator[Window]:
    """Its windows; a candidate that is looked at ahead of its clock has a part of what both had."""
    product, number = publication.product, publication.number
    for window in Window.objects.filter(product=product, publication=number):
        yield window
        if window.is_ahead and window.is_split:
            yield Window(
                product=product,
                publication=number,
                digest=publication.incumbent_digest,
                cohort="incumbent",
                opens_at=window.opens_at,
                closes_at=window.closes_at,
            )


def exposure_table(rows: Sequence[Exposed]) -> Table:
    """What was planned beside what was observed, in requests and in TEU."""
    return Table(
        "The candidate’s part of each stratum",
        [
            Column("Stratum"),
            Column("Planned", numeric=True),
            Column("Of requests", numeric=True),
            Column("Requests", numeric=True),
            Column("Of TEU", numeric=True),
            Column("TEU", numeric=True),
        ],
        [_cells(row) for row in rows[: SHOWN + 1]],
    )


def _parts(publication: Publication, window: Window, now: datetime) -> Iterator[Exposed]:
    strata = document_of(publication.target_digest).rollout.strata
    end = window.closes_at or now
    found = counted(
        publication.product, window.digest, window.publication, window.cohort, window.opens_at, end
    )
    is_mine = window.cohort == "candidate"
    for cell in found.sums():
        requests, teu = cell.counters.get("eligible", 0), cell.teu
        if requests:
            yield Exposed(
                stratum_name(strata, cell.dims),
                planned(publication, cell.dims),
                requests if is_mine else 0,
                requests,
                teu if is_mine else Decimal(0),
                teu,
            )


def planned(publication: Publication, dims: Mapping[str, str]) -> float:
    """The fraction of the stratum's segment, or everybody's."""
    own = (one for one in publication.by_segment if matches(one["where"], dims))
    found = next(own, None)
    return float(found["fraction"]) if found else publication.fraction


def _whole(publication: Publication, strata: Sequence[Exposed]) -> Exposed:
    """The sum; nothing is planned for it as a whole where a segment stands apart."""
    everything = Exposed("", publication.fraction)
    for one in strata:
        everything = everything.plus(one)
    return everything


def _cells(row: Exposed) -> tuple[str, ...]:
    dims = dims_of(row.stratum)
    named = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in dims.items())
    return (
        named or ("all strata" if not row.stratum else row.stratum),
        "by segment" if row.planned is None else figures.share(row.planned),
        _share(row.by_requests),
        f"{row.requests:,} of {row.of_requests:,}",
        _share(row.by_teu),
        f"{row.teu:,.0f} of {row.of_teu:,.0f}",
    )


def _share(share: float | None) -> str:
    return "–" if share is None else figures.share(share)
