"""Everything in a well-formed document that contradicts itself, checked when it is proposed."""

from collections.abc import Callable, Sequence

from orchid.engine.document import (
    checks_examples,
    checks_fleet,
    checks_operation,
    checks_quality,
)
from orchid.engine.document.findings import Finding, Findings, RouteUtility, Subject
from orchid.engine.document.model import PolicyDocument

__all__ = ["CHECKS", "Finding", "RouteUtility", "find"]

CHECKS: tuple[Callable[[Subject], Findings], ...] = (
    checks_fleet.residency_closes,
    checks_fleet.versions_coexist,
    checks_fleet.live_tokens_fit,
    checks_fleet.models_priced,
    checks_fleet.classes_feasible,
    checks_fleet.routes_warm,
    checks_fleet.adaptive_floor,
    checks_quality.floors_unambiguous,
    checks_quality.floors_reachable,
    checks_quality.fallback_leads_somewhere,
    checks_quality.fallback_has_no_ring,
    checks_quality.fallback_clears_floors,
    checks_quality.confidence_agrees,
    checks_operation.shares_close,
    checks_operation.budgets_cover_bursts,
    checks_operation.stages_hold,
    checks_operation.stages_grow,
    checks_operation.approvals_ask_somebody,
)


def find(
    document: PolicyDocument,
    *,
    base: PolicyDocument | None = None,
    evidence: Sequence[RouteUtility] = (),
) -> list[Finding]:
    """Findings, errors first. `base` is what serves now, `evidence` what is known of routes.

    Demand over the fleet and the examples can be computed only where every model has a price.
    """
    subject = Subject(document, base, tuple(evidence))
    found = [finding for check in CHECKS for finding in check(subject)]
    if not any(finding.code == "model_without_factor" for finding in found):
        found.extend(checks_fleet.demand_fits(subject))
        found.extend(checks_examples.examples_hold(subject))
    return sorted(found, key=lambda finding: finding.severity != "error")
