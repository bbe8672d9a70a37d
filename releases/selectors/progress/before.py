"""Harm that was seen under an earlier publication of the same rollout."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from gates.models import Evaluation, Verdict
from gates.states import Action, Metric, VerdictState
from orchid.engine.verdict import accepted, guardrails
from releases.models import Publication, Rollout
from releases.states import PublicationKind

#: What follows from a publication without a person who has set it going, or set it going again.
FOLLOWING = (PublicationKind.ADVANCE, PublicationKind.PAUSE)


def harm_before(rollout: Rollout) -> Evaluation | None:
    """The newest judgement that stops the candidate under a publication before the present one.

    Edges that have not taken the present one serve by those, and tell of them later still. What had
    been judged so when a person resumed is not looked at: they saw it and went on.
    """
    found = _stopping().filter(
        watch__window__product=rollout.product_id,
        watch__window__digest=rollout.candidate_digest,
        watch__window__cohort="candidate",
        watch__window__publication__gte=rollout.first.number,
        watch__window__publication__lt=rollout.publication.number,
    )
    told = _stopping().filter(window=OuterRef("window"), evaluated_at__lte=_set_going(rollout))
    newest = found.filter(_harms(), ~Exists(told)).order_by("-window__publication")
    return newest.select_related("window").first()


def _stopping() -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(action__in=(Action.PAUSE, Action.ROLL_BACK))


def _harms() -> Exists:
    """Money and rates fall short as edges leave a publication one by one, and harm nobody."""
    by_lag = Q(metric__in=(Metric.COST, f"{accepted.PREFIX}{Metric.COST}"))
    by_lag |= Q(metric__startswith=guardrails.PREFIX)
    failed = Verdict.objects.filter(evaluation=OuterRef("pk"), verdict=VerdictState.FAIL)
    return Exists(failed.exclude(by_lag))


def _set_going(rollout: Rollout) -> datetime:
    """When a person last had it published or resumed."""
    mine = Publication.objects.filter(product=rollout.product_id).exclude(kind__in=FOLLOWING)
    newest = mine.filter(number__lte=rollout.publication.number).order_by("-number")
    return newest.values_list("published_at", flat=True)[:1].get()
