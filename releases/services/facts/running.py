"""What waits for a person while something runs, and what went wrong."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import reverse

from accounts.guard import person, roles_of
from accounts.models import User
from accounts.roles import Permission
from gates.models import Evaluation, Verdict
from gates.selectors.verdicts import GatesNow, gates_of
from gates.states import VerdictState
from gates.wording import bound, figure, in_segment_words, with_names
from policies.models import Product
from releases.models import Alarm, Publication, Rollout
from releases.selectors.progress import Progress, progress
from releases.services.facts.fact import Fact, said, those_who
from releases.services.quorum import why_not_vote
from releases.services.stage import asked_role
from releases.states import NoticeKind, PublicationKind, RolloutState

#: Reasons of a verdict that a message names; the page has them all.
NAMED = 3


def running(product: Product, now: datetime, since: datetime) -> Iterator[Fact]:
    """What a rollout waits for, what went wrong and what was done about it."""
    yield from _stages(product, now)
    yield from _paused(product, now)
    yield from _breaches(product, since)
    yield from _rollbacks(product, since)
    yield from _alarms(product, since)


def _stages(product: Product, now: datetime) -> Iterator[Fact]:
    """A stage that lacks nothing but a person: whose approval is asked, or who moves it on."""
    rows = Rollout.objects.filter(product=product, state=RolloutState.RUNNING)
    row = rows.select_related("product", "publication", "proposal").first()
    if row is None:
        return
    found = progress(row, now)
    role = asked_role(found)
    if not role and not found.waits_for_a_hand:
        return
    words, stage = "It measures nothing by which it could go on", row.stage_index
    if role:
        words, stage = _asked(found), found.lacks_a_yes[0].place.stage
    given = row.approvals.filter(publication=row.publication).count()  # each yes may leave another
    yield Fact(
        NoticeKind.WAITS,
        f"stage:{row.pk}:{row.publication.number}" + (f":{given}" if given else ""),
        f"Stage {stage + 1} of publication {row.publication.number} waits for a person",
        f"{words}: {row.proposal.title}.",
        reverse("releases:rollout", args=[product.slug]),
        now,
        _approvers(row, role) if role else those_who(product, Permission.PUBLISH),
    )


def _asked(found: Progress) -> str:
    names = ", ".join(lane.name for lane in found.lacks_a_yes)
    return f"Your approval is asked for {names}" if found.is_apart else "Your approval is asked"


def _approvers(rollout: Rollout, role: str) -> Iterator[User]:
    """Who holds the role that the stage asks for, and had no hand in the proposal."""
    for user in those_who(rollout.product, Permission.APPROVE):
        held = roles_of(person(user), rollout.product.slug)
        if role in held and not why_not_vote(person(user), rollout.proposal):
            yield user


def _paused(product: Product, now: datetime) -> Iterator[Fact]:
    """A rollout that stands still until a person resumes it or rolls it back."""
    rows = Rollout.objects.filter(product=product, state=RolloutState.PAUSED)
    for row in rows.select_related("publication", "proposal"):
        yield Fact(
            NoticeKind.WAITS,
            f"rollout:{row.pk}:{row.version}:paused",
            f"The rollout of publication {row.publication.number} is paused",
            f"{row.proposal.title}: {said(row.reason)}. It stands at stage {row.stage_index + 1} "
            "until somebody resumes it or rolls it back.",
            reverse("releases:rollout", args=[product.slug]),
            now,
            those_who(product, Permission.PUBLISH),
        )


def _breaches(product: Product, since: datetime) -> Iterator[Fact]:
    """Each time that a judgement turned to fail; not again while more of its gates do."""
    earlier = Evaluation.objects.filter(window=OuterRef("window"), pk__lt=OuterRef("pk"))
    newest_first = earlier.order_by("-evaluated_at", "-pk")
    failed = Evaluation.objects.filter(
        window__product=product,
        changed=True,
        verdict=VerdictState.FAIL,
        evaluated_at__gte=since,
    ).annotate(before=Coalesce(Subquery(newest_first.values("verdict")[:1]), Value("")))
    for row in failed.exclude(before=VerdictState.FAIL).select_related("window"):
        worst = _worst_failed(row)
        yield Fact(
            NoticeKind.BREACH,
            f"evaluation:{row.pk}",
            f"Publication {row.window.publication} fails {_gate(worst) if worst else 'its gates'}",
            _breach_words(row, worst),
            reverse("gates:now", args=[product.slug]),
            row.evaluated_at,
            those_who(product, Permission.ROLLBACK),
        )


def _worst_failed(row: Evaluation) -> Verdict | None:
    """The gate to name first; None where what failed is no gate of its own."""
    worst = GatesNow(row.window, row, gates_of(row)).headline
    return worst if worst and worst.verdict == VerdictState.FAIL else None


def _gate(worst: Verdict) -> str:
    where = in_segment_words(worst.segment)
    return f"{worst.get_metric_display()} {f'in {where}' if where else 'on the whole'}"


def _breach_words(row: Evaluation, worst: Verdict | None) -> str:
    """What failed, of which generation and what follows, in short; then how that is known."""
    reasons = "; ".join(in_segment_words(with_names(said(one))) for one in row.reasons[:NAMED])
    reasons = reasons or "a gate failed"
    is_live = row.window.live_from is not None
    who = "What is live" if is_live else f"Its {row.window.cohort}"
    then = f"What follows: {with_names(row.why)}."
    if is_live:
        then = "It changes by a person alone: roll back, or publish what mends it."
    if worst is None or worst.value is None:
        return f"{who}: {reasons}. {then}"
    seen, due = figure(worst.metric, worst.value, worst.bound), bound(worst.metric, worst.bound)
    return f"{who}: {_gate(worst)} is {seen}, due is {due}. {then} How it is known: {reasons}."


def _rollbacks(product: Product, since: datetime) -> Iterator[Fact]:
    made = Publication.objects.filter(
        product=product, kind=PublicationKind.ROLLBACK, published_at__gte=since
    )
    for row in made.defer("token"):
        yield Fact(
            NoticeKind.ROLLBACK,
            f"publication:{row.number}",
            f"Publication {row.number} rolls back",
            f"{row.actor}: {row.reason}",
            reverse("releases:publications", args=[product.slug]),
            row.published_at,
            those_who(product, Permission.ROLLBACK),
        )


def _alarms(product: Product, since: datetime) -> Iterator[Fact]:
    """Each alarm of the edges once, and once that it is over."""
    rows = Alarm.objects.filter(Q(until=None) | Q(until__gte=since), product=product)
    for row in rows:
        yield _alarm(product, row, "", row.get_kind_display(), row.since)
        if row.until is not None:
            yield _alarm(product, row, ":over", f"Over: {row.get_kind_display()}", row.until)


def _alarm(product: Product, row: Alarm, ended: str, title: str, at: datetime) -> Fact:
    began = f"It began at {row.since:%Y-%m-%d %H:%M:%S} UTC"
    told = f"{began} and is over. It said: {row.text}" if ended else row.text
    return Fact(
        NoticeKind.ALARM,
        f"alarm:{row.pk}{ended}",
        title,
        told,
        reverse("releases:edges", args=[product.slug]),
        at,
        those_who(product, Permission.ROLLBACK),
    )
