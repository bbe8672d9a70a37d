"""The evidence that a policy may require: each is there or missing, by its name."""

from collections.abc import Callable, Mapping

from gates.states import EvidenceKind
from orchid.engine.calibration.observed import Measure
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import class_route
from releases.models import Publication
from releases.selectors.card.answer import Proof
from releases.selectors.card.case import CardCase, Link
from releases.selectors.card.trials import tried
from releases.selectors.drill import recent_drills
from releases.states import PublicationKind

#: Recoveries that make one that was repeated.
REPEATED = 2

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
    links = [case.page("Rollback", "releases:rollback")]
    drilled = sum(fact.passed for fact in recent_drills(case.product, case.now))
    rolled = Publication.objects.filter(product=case.product, kind=PublicationKind.ROLLBACK)
    count = drilled + rolled.count()
    said = f"{drilled} of the last rehearsals passed and {rolled.count()} rollbacks were published."
    return count >= REPEATED, said, links


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
