"""What each edge is wanted on, what it says it runs, and who is keeping the clock from starting."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import QuerySet
from django.utils import timezone

from policies.models import Product
from releases.models import Activation, Alarm, Edge, Publication
from releases.selectors.told import is_told, told_since
from releases.selectors.traffic import Carrier, Share, shares
from releases.states import ActivationState

SILENT_AFTER = timedelta(seconds=45)  # a long poll returns within 30 s; the rest is a slow network
LATE_AFTER = timedelta(seconds=10)  # an edge that is heard answers a publication well within this


class Standing(StrEnum):
    """How an edge stands to the publication it is wanted on."""

    ACTIVE = "active"
    REFUSED = "refused"
    SILENT = "silent"
    LATE = "late"
    WAITING = "waiting"


@dataclass(frozen=True)
class EdgeFact:
    """One line of the Edges page. `share` is a part of the traffic, `declared_share` a weight.

    `told` means that `open_sequences` is known: the edge said so, and not too long ago.
    """

    name: str
    credential: int
    share: float
    share_is_measured: bool
    declared_share: float
    wanted: int | None
    downloaded: int | None
    active: int | None
    standing: Standing
    reason: str
    activated_at: datetime | None
    last_seen: datetime | None
    clock_skew_ms: float | None
    open_sequences: dict[str, int]
    reported_at: datetime | None
    told: bool

    @property
    def has_answered(self) -> bool:
        """Whether it is heard and runs the wanted one, though it may refuse its new signature."""
        runs = self.activated_at is not None and self.active == self.wanted
        return runs and self.standing != Standing.SILENT

    @property
    def badge(self) -> str:
        """The class of the badge that shows the standing."""
        return _BADGES[self.standing]


@dataclass(frozen=True)
class Acknowledgement:
    """Whether enough of the traffic runs a publication, since when, and who is missing."""

    share: float
    required: float
    reached_at: datetime | None
    missing: list[EdgeFact]


def edge_facts(
    product: Product, wanted: Publication | None, now: datetime | None = None
) -> list[EdgeFact]:
    """Every edge in service, by name, against the publication that it is wanted on."""
    now = now or timezone.now()
    edges = list(_in_service(product).select_related("seen", "credential"))
    answers = _answers(wanted)
    carriers = [
        Carrier(edge.pk, edge.credential.name, edge.share, is_silent(edge, now)) for edge in edges
    ]
    parts, counts_from = shares(product, carriers, now), told_since(now)
    return [
        _fact(edge, wanted, answers.get(edge.pk), parts[edge.pk], now, counts_from)
        for edge in edges
    ]


def alarms(product: Product) -> list[Alarm]:
    """What is wrong with the product's edges and isn't over, the oldest first."""
    return list(Alarm.objects.filter(product=product, until=None).order_by("since"))


def acknowledgement(
    product: Product, publication: Publication, required: float, now: datetime | None = None
) -> Acknowledgement:
    """The share of traffic on a publication; `reached_at` is when the required share was complete.

    Shares are of the traffic that was measured of late, where there is any.
    """
    facts = edge_facts(product, publication, now)
    reached_at, share = None, 0.0
    active = [fact for fact in facts if fact.has_answered]
    for fact in sorted(active, key=lambda fact: fact.activated_at or publication.published_at):
        share += fact.share
        if reached_at is None and share >= required - 1e-9:
            reached_at = fact.activated_at
    missing = [fact for fact in facts if not fact.has_answered]
    return Acknowledgement(share, required, reached_at, missing)


def is_silent(edge: Edge, now: datetime) -> bool:
    """Whether nothing was heard for longer than an edge ever pauses."""
    seen = getattr(edge, "seen", None)
    return now - (seen.at if seen else edge.registered_at) > SILENT_AFTER


def _in_service(product: Product) -> QuerySet[Edge]:
    return Edge.objects.filter(product=product, retired_at=None)


def _answers(wanted: Publication | None) -> dict[int, dict[str, Activation]]:
    """By edge and state, what was answered to the wanted publication."""
    found: dict[int, dict[str, Activation]] = {}
    if wanted is not None:
        for row in Activation.objects.filter(publication=wanted):
            found.setdefault(row.edge_id, {})[row.state] = row
    return found


def _fact(
    edge: Edge,
    wanted: Publication | None,
    answers: dict[str, Activation] | None,
    share: Share,
    now: datetime,
    counts_from: datetime,
) -> EdgeFact:
    seen = getattr(edge, "seen", None)
    yes = (answers or {}).get(ActivationState.ACTIVE)
    no = (answers or {}).get(ActivationState.REFUSED)
    active = seen.active_publication if seen else None
    standing = _standing(edge, wanted, yes, no, now)
    return EdgeFact(
        name=edge.name,
        credential=edge.credential_id,
        share=share.of_traffic,
        share_is_measured=share.is_measured,
        declared_share=edge.share,
        wanted=wanted.number if wanted else None,
        downloaded=seen.downloaded_publication if seen else None,
        active=active,
        standing=standing,
        reason=_reason(standing, no, wanted),
        activated_at=yes.at if yes else None,
        last_seen=seen.at if seen else None,
        clock_skew_ms=seen.clock_skew_ms if seen else None,
        open_sequences=_reported(edge),
        reported_at=seen.reported_at if seen else None,
        told=is_told(edge, counts_from),
    )


def _standing(
    edge: Edge,
    wanted: Publication | None,
    yes: Activation | None,
    no: Activation | None,
    now: datetime,
) -> Standing:
    """Silence is said first: an edge that isn't heard may run anything by now.

    Then what it said last: one that runs a publication may refuse it as it was signed again, and
    takes nothing that comes after it either.
    """
    if is_silent(edge, now):
        return Standing.SILENT
    seen = getattr(edge, "seen", None)
    runs = yes and seen and wanted and seen.active_publication == wanted.number
    if yes and runs and (no is None or no.reported_at <= yes.reported_at):
        return Standing.ACTIVE
    if no:
        return Standing.REFUSED
    late = wanted is not None and now - wanted.published_at > LATE_AFTER
    return Standing.LATE if late else Standing.WAITING


def _reason(standing: Standing, no: Activation | None, wanted: Publication | None) -> str:
    number = wanted.number if wanted else "anything"
    match standing:
        case Standing.REFUSED:
            return no.reason if no else ""
        case Standing.SILENT:
            return f"Nothing heard for more than {SILENT_AFTER.seconds} seconds."
        case Standing.LATE:
            return f"Heard, but no answer to {number} within {LATE_AFTER.seconds} seconds."
        case Standing.WAITING:
            return f"{number} has just been offered." if wanted else "Nothing is published yet."
    return ""


def _reported(edge: Edge) -> dict[str, int]:
    seen = getattr(edge, "seen", None)
    return {digest: int(count) for digest, count in (seen.open_sequences if seen else {}).items()}


_BADGES = {
    Standing.ACTIVE: "badge badge--pass",
    Standing.REFUSED: "badge badge--fail",
    Standing.SILENT: "badge badge--fail",
    Standing.LATE: "badge badge--inconclusive",
    Standing.WAITING: "badge badge--no-data",
}
