"""Opens an alarm when something is wrong with a product's edges, and closes it when it is over."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from policies.models import Product
from releases.models import Activation, Alarm, Edge, Publication
from releases.selectors.edges import SILENT_AFTER, EdgeFact, Standing, edge_facts
from releases.states import ActivationState, AlarmKind

# Edges take a publication within a second, and one that was away within a poll; longer than this,
# two generations are live because something is wrong.
SPLIT_AFTER = timedelta(seconds=60)
NAMED = 10


def step(product: Product, publication: Publication, now: datetime) -> None:
    """What is wrong now, as rows that pages and messages read; the caller holds the product."""
    wrong = {} if _all_well(product, publication, now) else _wrong(product, publication, now)
    opened = {alarm.kind: alarm for alarm in Alarm.objects.filter(product=product, until=None)}
    for kind, text in wrong.items():
        alarm = opened.pop(kind, None)
        if alarm is None:
            Alarm.objects.create(product=product, kind=kind, since=now, text=text)
        elif alarm.text != text:
            alarm.text = text
            alarm.save(update_fields=["text"])
    for alarm in opened.values():
        alarm.until = now
        alarm.save(update_fields=["until"])


def _all_well(product: Product, publication: Publication, now: datetime) -> bool:
    """Few counts for the usual case, however many edges there are."""
    edges = Edge.objects.filter(product=product, retired_at=None)
    well = edges.filter(
        seen__at__gte=now - SILENT_AFTER, seen__active_publication=publication.number
    )
    return edges.count() == well.count() and not _is_refused(publication)


def _is_refused(publication: Publication) -> bool:
    """Whether an edge's last word on it is a no, though it runs it: as it was signed again."""
    answers = Activation.objects.filter(publication=publication)
    later = answers.filter(
        edge=OuterRef("edge"),
        state=ActivationState.ACTIVE,
        reported_at__gte=OuterRef("reported_at"),
    )
    refused = answers.filter(state=ActivationState.REFUSED, edge__retired_at=None)
    return refused.exclude(Exists(later)).exists()


def _wrong(product: Product, publication: Publication, now: datetime) -> dict[AlarmKind, str]:
    facts = edge_facts(product, publication, now)
    silent = [fact for fact in facts if fact.standing == Standing.SILENT]
    refusing = [fact for fact in facts if fact.standing == Standing.REFUSED]
    found = {}
    if silent:
        found[AlarmKind.SILENT] = f"Nothing is heard from {_names(silent)}."
    if refusing:
        reason = f"{refusing[0].name} says: {refusing[0].reason}"
        found[AlarmKind.REFUSING] = (
            f"Publication {publication.number} is refused by {_names(refusing)}. {reason}"
        )
    if elsewhere := _elsewhere(product, facts, now):
        found[AlarmKind.SPLIT_BRAIN] = _split(publication, elsewhere)
    return found


def _elsewhere(product: Product, facts: Sequence[EdgeFact], now: datetime) -> list[EdgeFact]:
    """Edges last heard to serve generations that for SPLIT_AFTER no wanted publication did.

    Counted from when their own were last wanted: a fleet whose numbers move on is split as well.
    """
    published = Publication.objects.filter(product=product)
    then = published.filter(published_at__lt=now - SPLIT_AFTER).order_by("-number").first()
    numbers = {fact.active for fact in facts if fact.active is not None}
    if then is None or not numbers:
        return []
    wanted = {frozenset(one.served) for one in published.filter(number__gte=then.number)}
    running = published.filter(number__in=numbers)
    differing = {one.number for one in running if frozenset(one.served) not in wanted}
    return [fact for fact in facts if fact.active in differing]


def _split(publication: Publication, elsewhere: Sequence[EdgeFact]) -> str:
    still = ", ".join(f"{fact.name} on {fact.active}" for fact in elsewhere[:NAMED])
    more = f" and {len(elsewhere) - NAMED} more" if len(elsewhere) > NAMED else ""
    return (
        f"Publication {publication.number} is wanted, and other generations have stayed live for "
        f"more than {SPLIT_AFTER.seconds} seconds: {still}{more}."
    )


def _names(facts: Sequence[EdgeFact]) -> str:
    named = ", ".join(fact.name for fact in facts[:NAMED])
    return named + (f" and {len(facts) - NAMED} more" if len(facts) > NAMED else "")
