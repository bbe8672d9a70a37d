"""Everything in a well-formed document that contradicts itself, checked when it is proposed.

A check is one function that tells places and texts; its name is the finding's code and its list
below the severity. An error is a promise that can't be kept or two that exclude each other, and
blocks a proposal; a warning is a thin margin, or a rule without effect.
"""

from collections.abc import Sequence

from orchid.engine.document import (
    checks_admission,
    checks_calibration,
    checks_examples,
    checks_fallback,
    checks_fleet,
    checks_gates,
    checks_memory,
    checks_overload,
    checks_quality,
    checks_rollout,
    checks_routing,
    checks_selectors,
    checks_shares,
    checks_time,
    checks_watched,
)
from orchid.engine.document.findings import Check, Finding, RouteUtility, Severity, Subject
from orchid.engine.document.model import PolicyDocument

__all__ = ["ERRORS", "WARNINGS", "Finding", "RouteUtility", "find"]

ERRORS: tuple[Check, ...] = (
    checks_memory.residency_open,
    checks_memory.versions_cannot_coexist,
    checks_memory.live_tokens_over_pool,
    checks_memory.weights_over_ledger,
    checks_memory.residents_over_device,
    checks_memory.class_over_context,
    checks_memory.class_over_live_tokens,
    checks_memory.live_tokens_out_of_order,
    checks_memory.route_ceiling_under_request,
    checks_fleet.route_cold,
    checks_fleet.fallback_not_resident,
    checks_fleet.headroom_open,
    checks_fleet.placement_unknown_group,
    checks_fleet.placement_over_groups,
    checks_calibration.model_without_factor,
    checks_calibration.cell_disabled_without_route,
    checks_calibration.ambiguous_cells,
    checks_time.class_infeasible,
    checks_time.batch_delay_over_slack,
    checks_time.gate_infeasible,
    checks_time.cascade_without_room,
    checks_time.deferral_without_room,
    checks_quality.floor_unreachable,
    checks_quality.floor_over_evidence,
    checks_quality.streaming_before_validation,
    checks_quality.early_stop_not_accepted,
    checks_quality.cache_without_tenant,
    checks_quality.class_modality,
    checks_fallback.fallback_below_floor,
    checks_fallback.fallback_ring,
    checks_fallback.fallback_drops_validator,
    checks_fallback.cached_fallback_without_cache,
    checks_gates.attainment_unprovable,
    checks_gates.gate_never_fails,
    checks_gates.clock_without_gate,
    checks_gates.gated_segment_never,
    checks_gates.gated_segment_repeated,
    checks_gates.ambiguous_gated_segments,
    checks_gates.eligible_never,
    checks_watched.guardrail_unknown,
    checks_watched.guardrail_repeated,
    checks_watched.revisit_unknown,
    checks_selectors.ambiguous_floors,
    checks_selectors.ambiguous_fallback,
    checks_routing.always_large_contradicted,
    checks_routing.cascade_void,
    checks_routing.cascade_never_pays,
    checks_admission.adaptive_wrong_signal,
    checks_admission.adaptive_floor_low,
    checks_admission.adaptive_ceiling_low,
    checks_admission.signals_floor_over_knee,
    checks_admission.queue_under_request,
    checks_overload.rung_repeated,
    checks_overload.rungs_out_of_order,
    checks_overload.leave_over_enter,
    checks_overload.capped_under_minimum,
    checks_shares.shares_over_parent,
    checks_shares.share_over_ceiling,
    checks_shares.ambiguous_budgets,
    checks_rollout.stage_without_hold,
    checks_rollout.stage_shrinks,
    checks_rollout.stages_out_of_order,
    checks_rollout.cycles_of_unknown_length,
    checks_rollout.minimum_without_strata,
    checks_rollout.apart_without_gates,
    checks_rollout.apart_across_strata,
    checks_rollout.apart_overlaps,
    checks_rollout.approvals_of_zero,
    checks_rollout.freeze_zone_unknown,
    checks_rollout.freeze_repeated,
)

WARNINGS: tuple[Check, ...] = (
    checks_fleet.demand_over_fleet_steady,
    checks_fleet.demand_over_fleet_spike,
    checks_fleet.demand_over_fleet_group_loss,
    checks_fleet.demand_over_fleet_candidate_overlap,
    checks_fleet.capacity_not_warm,
    checks_fleet.primary_single_replica,
    checks_fleet.fallback_shares_failure_group,
    checks_fleet.upstream_unpinned,
    checks_memory.fallback_over_context,
    checks_memory.route_ceiling_over_pool,
    checks_memory.route_ceiling_under_baseline,
    checks_memory.sequences_under_baseline,
    checks_memory.adapters_over_device,
    checks_time.scheduling_mode_misfit,
    checks_time.batch_never_fills,
    checks_time.async_without_deferral,
    checks_quality.early_stop_never,
    checks_quality.cache_shared_without_cell,
    checks_fallback.fallback_never,
    checks_fallback.fallback_redundant,
    checks_fallback.deny_never,
    checks_fallback.fallback_unproven,
    checks_fallback.fallback_not_accepted,
    checks_fallback.fallback_outside_cell,
    checks_fallback.fallback_modality,
    checks_gates.confidence_disagrees,
    checks_gates.gate_looser_than_deadline,
    checks_gates.gate_window_short,
    checks_gates.gate_window_under_step,
    checks_watched.guardrail_window_under_step,
    checks_watched.bound_on_the_good_side,
    checks_selectors.floor_never,
    checks_routing.ambiguous_routing,
    checks_routing.routing_rule_never,
    checks_routing.always_large_never,
    checks_routing.threshold_vacuous,
    checks_routing.cost_ratio_disagrees,
    checks_routing.escalation_near_break_even,
    checks_admission.adaptive_ceiling_over_knee,
    checks_admission.adaptive_target_over_slack,
    checks_admission.retry_budget_high,
    checks_admission.retry_counted_in_part,
    checks_admission.retry_without_jitter,
    checks_admission.queue_outlasts_deadline,
    checks_admission.age_bound_over_deadline,
    checks_overload.rungs_not_growing,
    checks_overload.cap_never,
    checks_overload.reserve_over_cap,
    checks_overload.bound_not_accepted,
    checks_shares.background_guaranteed,
    checks_shares.budget_long_window_only,
    checks_shares.budget_under_request,
    checks_rollout.rollout_incomplete,
    checks_rollout.stage_without_bound,
    checks_rollout.whole_without_cover,
    checks_rollout.approvals_without_evidence,
    checks_rollout.stage_hold_short,
    checks_rollout.shadow_without_reserve,
)

#: Need a price of every class's work.
PRICED = frozenset(
    {
        checks_fleet.demand_over_fleet_steady,
        checks_fleet.demand_over_fleet_spike,
        checks_fleet.demand_over_fleet_group_loss,
        checks_fleet.demand_over_fleet_candidate_overlap,
        checks_admission.queue_under_request,
        checks_memory.class_over_live_tokens,
        checks_shares.budget_under_request,
        checks_rollout.shadow_without_reserve,
    }
)


def find(
    document: PolicyDocument,
    *,
    base: PolicyDocument | None = None,
    evidence: Sequence[RouteUtility] = (),
) -> list[Finding]:
    """Findings, errors first. `base` is what serves now, `evidence` what is known of routes.

    What needs prices, the examples among it, is only checked where every model has one.
    """
    subject = Subject(document, base, tuple(evidence))
    priced = not any(checks_calibration.model_without_factor(subject))
    found = [*_told("error", ERRORS, subject, priced), *_told("warning", WARNINGS, subject, priced)]
    if priced:
        found.extend(checks_examples.examples_hold(subject))
    return sorted(found, key=lambda finding: finding.severity != "error")


def _told(
    severity: Severity, checks: tuple[Check, ...], subject: Subject, priced: bool
) -> list[Finding]:
    return [
        Finding(check.__name__, severity, pointer, text)
        for check in checks
        if priced or check not in PRICED
        for pointer, text in check(subject)
    ]
