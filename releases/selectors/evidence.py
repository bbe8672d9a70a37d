"""The quality evidence that a content rests on, and what came of it after a round began."""

from django.db.models import Q, QuerySet

from gates.models import Evidence
from orchid.engine.document.canonical import manifest_digest
from policies.selectors import document_of
from releases.models import Proposal


def evidence_for(product_id: int, digest: str) -> QuerySet[Evidence]:
    """Evidence on the very models that a content pins: the same route under the same manifest."""
    cells = Q(pk__in=[])
    for route, model in document_of(digest).models.items():
        cells |= Q(route=route, manifest=manifest_digest(model))
    return Evidence.objects.filter(cells, product=product_id).order_by("route", "key", "id")


def worsened(proposal: Proposal) -> str:
    """Why evidence that came after the submission takes the votes away; empty where it doesn't.

    Only what repeats a measurement of the same suite, no smaller, with no worse a result, is known
    to worsen no figure. Whatever else is new might.
    """
    rows = evidence_for(proposal.product_id, proposal.revision_digest)
    came = list(rows.filter(created_at__gt=proposal.submitted_at)) if proposal.submitted_at else []
    if not came:
        return "Evidence arrived after it was submitted"
    known = rows.exclude(pk__in=[row.pk for row in came])
    worse = next((row for row in came if not _no_worse(row, known)), None)
    if worse is None:
        return ""
    named = f"{worse.suite} {worse.suite_version} on {worse.route}"
    return f"Evidence arrived after it was submitted: {named}"


def _no_worse(row: Evidence, known: QuerySet[Evidence]) -> bool:
    same = known.filter(route=row.route, manifest=row.manifest, key=row.key, kind=row.kind)
    before = same.filter(suite=row.suite).order_by("-id").first()
    return (
        before is not None
        and row.mean >= before.mean
        and row.n >= before.n
        and row.violations <= before.violations
    )
