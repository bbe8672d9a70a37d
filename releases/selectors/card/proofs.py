"""The evidence that a policy may require: each is there or missing, by its name."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import takewhile

from controlplane.errors import Conflict
from gates.states import EvidenceKind
from orchid.engine.calibration.observed import Measure
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import class_route
from policies.models import Product
from releases.models import Publication
from releases.selectors.card.answer import Proof
from releases.selectors.card.case import CardCase, Link
from releases.selectors.card.trials import tried
from releases.selectors.drill import recent_drills
from releases.selectors.proven import target
from releases.services.issue import latest
from releases.services.pools import pool_of
from releases.states import ActivationState, PublicationKind

#: Recoveries that make one that was repeated, and how long ago they may have been: what edges and
#: pools could do earlier says little of those that are there now.
REPEATED = 2
RECOVERED_WITHIN = timedelta(days=30)

Found = tuple[bool, str, list[Link]]


def proofs(case: CardCase) -> list[Proof]:
    """All of them, with whether the policy in force requires each."""
    required = set(case.ruling.approvals.evidence_required)
    return [
        Proof(name, label, *find(case), required=name in required)
        for name, (label, find) in _PROOFS.items()
    ]


def _warm_trial(case: CardCase) -> Found:
    return _trial(case, "warm")


def _cold_trial(case: CardCase) -> Found:
    return _trial(case, "cold")


def _trial(case: CardCase, regime: str) -> Found:
    found = tried(case, regime)
    if found is None:
        said = f"No complete open-loop trial of these manifests was run {regime}."
        return False, said, [case.page("Trials", "ingest:trials")]
    trial = found[0]
    return True, trial.title, [case.page("The trial", "ingest:trial", trial.pk)]


def _phase_traces(case: CardCase) -> Found:
    version = case.document.demand.version
    links = [case.page("Calibration", "gates:calibration")]
    seen = case.calibrated
    count = sum(row.found.n for row in seen.of(Measure.WORK))
    if seen.demand_version != version or not count:
        return False, f"No measured phases under demand model {version}.", links
    return True, f"{count:,} requests with measured phases under {version}.", links


def _segmented_quality(case: CardCase) -> Found:
    links = [case.page("Evidence by segment", "gates:evidence")]
    rows = case.trade.get("segments", [])
    unknown = [row["name"] for row in rows if row["after"] is None]
    if not rows:
        return False, "No gated segment has a figure of its own.", links
    if unknown:
        return False, f"No quality is known of {', '.join(unknown)}.", links
    return True, f"{len(rows)} gated segments have evidence on what they are served.", links


def _policy_reconciliation(case: CardCase) -> Found:
    links = [case.page("Evidence", "gates:evidence")]
    kinds = (EvidenceKind.POLICY, EvidenceKind.ADVERSARIAL)
    suites = [item for item in case.book.valid if item.kind in kinds]
    covered = {(item.route, item.manifest) for item in suites}
    models = case.document.models
    pinned = {(route, manifest_digest(models[route])) for route in _serving(case.document)}
    open_routes = sorted(route for route, manifest in pinned - covered)
    broken = sum(item.violations for item in suites)
    if open_routes:
        return False, f"No policy suite is in force on {', '.join(open_routes)}.", links
    if broken:
        return False, f"Policy suites found {broken:,} violations.", links
    return True, f"{len(suites)} policy suites in force on every route, no violation.", links


def _serving(document: PolicyDocument) -> set[str]:
    """Routes that some class asks for or may fall back to."""
    asked = {class_route(document, name) for name in document.classes}
    return asked | {rule.to for rule in document.fallback if rule.to and not rule.deny}


def _repeated_recovery(case: CardCase) -> Found:
    """Of late, and to the very pools that a rollback would serve from, now or over this proposal.

    A rollback after a breach shows that edges went back once; only what was rehearsed on purpose
    shows that they can, so it never is the only one.
    """
    links = [case.page("Rollback", "releases:rollback")]
    pools = _ways_back(case.product)
    if not pools:
        return True, "Nothing earlier was ever live, so no way back could be rehearsed yet.", links
    drilled, rolled = _drilled(case, pools), _rolled_back(case, pools)
    said = (
        f"In the last {RECOVERED_WITHIN.days} days {_times(drilled, 'rehearsal')} passed and "
        f"{_times(rolled, 'rollback')} reached edges, to pool {' or '.join(sorted(pools))}."
    )
    return drilled > 0 and drilled + rolled >= REPEATED, said, links


def _ways_back(product: Product) -> set[str]:
    """The pools of what a rollback would restore and of what decides now; empty where it can't."""
    live = latest(product)
    try:
        restored = target(product, live) if live else None
    except Conflict:
        return set()
    return {pool_of(digest) for digest in (restored, live and live.incumbent_digest) if digest}


def _drilled(case: CardCase, pools: set[str]) -> int:
    """Rehearsals that passed; where the last one didn't, those before it prove nothing."""
    since = case.now - RECOVERED_WITHIN
    recent = [one for one in recent_drills(case.product, case.now) if one.at >= since]
    of_pools = [one for one in recent if pool_of(one.digest) in pools]
    return sum(1 for _ in takewhile(lambda one: one.passed, of_pools))


def _rolled_back(case: CardCase, pools: set[str]) -> int:
    since = case.now - RECOVERED_WITHIN
    made = Publication.objects.filter(product=case.product, kind=PublicationKind.ROLLBACK)
    ran = made.filter(published_at__gte=since, activations__state=ActivationState.ACTIVE)
    ran = ran.exclude(activations__state=ActivationState.REFUSED)
    digests = ran.values_list("pk", "incumbent_digest").distinct()
    return sum(pool_of(digest) in pools for _, digest in digests)


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _uncertainty(case: CardCase) -> Found:
    """Each figure was measured, or its method was held against what is measured of what is live."""
    links = case.judgement()
    rows = case.trade.get("figures", [])
    bare = [row["label"] for row in rows if not _weighed(row)]
    if not rows:
        return False, "No trade has been taken yet.", links
    if bare:
        return False, f"How far off it may be is not known of: {', '.join(bare)}.", links
    return True, "Every signed figure is measured, or its method was checked on live.", links


def _weighed(row: Mapping[str, str | None]) -> bool:
    if row["after"] is None:
        return False
    return row["kind"] == "measured" or row.get("of_live") is not None


_PROOFS: Mapping[str, tuple[str, Callable[[CardCase], Found]]] = {
    "warm_trial": ("a warm trial", _warm_trial),
    "cold_trial": ("a cold trial", _cold_trial),
    "phase_traces": ("phase traces", _phase_traces),
    "segmented_quality": ("quality by segment", _segmented_quality),
    "policy_reconciliation": ("policy reconciliation", _policy_reconciliation),
    "repeated_recovery": ("repeated recovery", _repeated_recovery),
    "uncertainty": ("uncertainty", _uncertainty),
}
