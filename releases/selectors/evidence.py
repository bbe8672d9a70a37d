"""The quality evidence that a content rests on, and what came of it after a round began."""

from collections.abc import Iterator, Sequence

from django.db.models import Q, QuerySet

from gates.models import Evidence
from gates.selectors.evidence import items_of, last_of
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.segments import LOAD_STATE, may_overlap, specificity
from orchid.engine.verdict.evidence import SCORING_KINDS, Item, Silence, in_force
from orchid.engine.verdict.utility import variation
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

    Only what repeats a measurement in force, with nothing worse that a verdict reads, is known to
    worsen no figure. Whatever else is new might, and so might what a new edition leaves behind.
    """
    rows = evidence_for(proposal.product_id, proposal.revision_digest)
    since = proposal.submitted_at
    came = items_of(rows.filter(created_at__gt=since)) if since else []
    if not came:
        return "Evidence arrived after it was submitted"
    before, _ = in_force(items_of(last_of(rows.filter(created_at__lte=since))))
    worse = next(_worse(came, before, items_of(last_of(rows))), None)
    if worse is None:
        return ""
    return f"Evidence arrived after it was submitted: {worse.name} on {worse.route}"


def _worse(came: Sequence[Item], before: Sequence[Item], now: Sequence[Item]) -> Iterator[Item]:
    """What came and may worsen a figure: by what it says, or by whom it silences."""
    yield from (item for item in came if not _no_worse(item, before))
    spoke = {item.digest for item in before}
    for one in in_force(now)[1]:
        if one.why is Silence.EDITION and one.by and one.item.digest in spoke:
            yield one.by


def _no_worse(new: Item, before: Sequence[Item]) -> bool:
    old = next((item for item in before if item.cell == new.cell), None)
    if old is None or new.violations > old.violations:
        return False
    rivals = (item for item in before if item.push >= old.push and _contend(item, new))
    return all(_scores_as_well(new, item) for item in (old, *rivals))


def _contend(one: Item, other: Item) -> bool:
    """Whether the one pushed last speaks where both could: a rerun then silences the other."""
    return (
        one.kind in SCORING_KINDS
        and other.kind in SCORING_KINDS
        and (one.route, one.manifest) == (other.route, other.manifest)
        and specificity(one.where) == specificity(other.where)
        and may_overlap(one.where, other.where)
        and (one.under({LOAD_STATE: other.load_state}) or other.under({LOAD_STATE: one.load_state}))
    )


def _scores_as_well(new: Item, old: Item) -> bool:
    return (
        new.n >= old.n
        and new.mean >= old.mean
        and new.spread <= old.spread
        and new.measured_at >= old.measured_at
        and _bounded_as_well(new, old)
    )


def _bounded_as_well(new: Item, old: Item) -> bool:
    """With single scores another bound holds, which is known to be as sharp by as many alone."""
    if new.scores is None or old.scores is None:
        return new.scores == old.scores
    return new.n == old.n and variation(new.scores) <= variation(old.scores)
