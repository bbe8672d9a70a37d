"""One provoked finding a code, and the nearest document that does not have it.

A case is a list of edits of the reference document; a path names keys and positions, `None`
removes, and a path ending in `+` appends.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.findings import RouteUtility
from orchid.engine.document.load import load_document
from tests.reference_document import changed

Edits = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`wrong` provokes the finding at `pointer` with `said` in its text; `right` does not."""

    pointer: str
    said: str
    wrong: Edits
    right: Edits
    base: Edits | None = None
    evidence: tuple[RouteUtility, ...] = field(default=())
    right_evidence: tuple[RouteUtility, ...] | None = None


def edited(edits: Edits) -> dict[str, Any]:
    """The reference document with the edits made in order."""
    given = changed()
    for path, value in edits.items():
        _edit(given, path.split("."), copy.deepcopy(value))
    return given


def _edit(place: Any, path: list[str], value: Any) -> None:
    *parents, last = path
    for part in parents:
        listed = isinstance(place, list)
        place = place[int(part)] if listed else place.setdefault(part, {})
    if last == "+":
        place.append(value)
    elif value is None:
        place.pop(last, None) if isinstance(place, dict) else place.pop(int(last))
    else:
        place[int(last) if isinstance(place, list) else last] = value


MANIFEST = manifest_digest(load_document(changed()).document.models["full"])
OTHER_MANIFEST = "sha256:" + "0" * 64
SHORT = {"task": "short_assistant", "tenant_class": "standard"}
ADAPTIVE = {"mode": "queue_wait_aimd", "per_replica": 24, "floor": 3}
FALLBACK_TO = {"from": "full", "where": SHORT}
LONG_TO_COMPACT = {"from": "full", "to": "compact", "where": {"task": "long_assistant"}}
ENGLISH_TO_PREMIUM = {"from": "full", "to": "premium", "where": {"language": "en"}}
ENGLISH_LONG_TO_COMPACT = {
    "from": "full",
    "to": "compact",
    "where": {"task": "long_assistant", "language": "en"},
}
ASYNC = {"classes.long_assistant.interactive": False}
WAITS = {"deadline": "1h", "max_queue_age": "30m", "after": "30s"}
ONE_DAY = {"tenant": "acme", "window": "1d"}

MEMORY = {
    "residency_open": Case(
        "/fleet/residency_gib",
        "= 79.5 GiB, but the device has 80 GiB: 0.5 GiB remain",
        {"fleet.residency_gib.safety": "4.5"},
        {"fleet.residency_gib.safety": "4.5", "fleet.residency_gib.spare": "0.5"},
    ),
    "versions_cannot_coexist": Case(
        "/models/full/weights",
        "80 GiB in use + 26.08 GiB for a second version = 106.08 GiB, over the device's 80 GiB",
        {"models.full.weights": "sha256:other"},
        {"models.full.weights": "sha256:other", "fleet.pool": "canary"},
        base={},
    ),
    "live_tokens_over_pool": Case(
        "/admission/live_tokens/per_device",
        "236,748 live tokens are declared, the KV pool holds 236,470",
        {"fleet.kv_usable_factor": "0.849"},
        {"fleet.kv_usable_factor": "0.86"},
    ),
    "weights_over_ledger": Case(
        "/models/premium/weights_gib",
        "26.09 GiB of weights, the residency ledger keeps 26.08 GiB",
        {"models.premium.weights_gib": "26.09"},
        {"models.premium.weights_gib": "26.00"},
    ),
    "residents_over_device": Case(
        "/fleet/replicas",
        "4.2 + 26.08 GiB, over its 26.08 GiB for weights",
        {"fleet.replicas.compact": 5, "fleet.max_resident_models": None},
        {"fleet.replicas.compact": 3, "fleet.max_resident_models": None},
    ),
    "adapters_over_device": Case(
        "/fleet/max_adapters",
        "premium are 1 adapters of one base model, a device may hold 0",
        {"fleet.max_adapters": 0},
        {"fleet.max_adapters": 1},
    ),
    "class_over_context": Case(
        "/classes/document_generation",
        "12,000 + 900 = 12,900 tokens, the context window of premium is 12,899",
        {"models.premium.context_tokens": 12_899},
        {"models.premium.context_tokens": 12_900},
    ),
    "fallback_over_context": Case(
        "/fallback/0",
        "900 + 120 = 1,020 tokens, the context window of compact is 1,019",
        {"models.compact.context_tokens": 1_019},
        {"models.compact.context_tokens": 1_020},
    ),
    "class_over_live_tokens": Case(
        "/classes/document_generation",
        "its 7,020 TEU fit the queue, its 12,900 live tokens are over the 12,899",
        {"admission.live_tokens.per_request": 12_899},
        {"admission.live_tokens.per_request": 12_900},
    ),
    "live_tokens_out_of_order": Case(
        "/admission/live_tokens/per_request",
        "one request may hold 16,000 live tokens, per_tenant only 15,999",
        {"admission.live_tokens.per_tenant": 15_999},
        {"admission.live_tokens.per_tenant": 16_000},
    ),
    "route_ceiling_under_request": Case(
        "/admission/live_tokens/per_route/premium",
        "12,899 live tokens for the route, one document_generation holds 12,900",
        {"admission.live_tokens.per_route": {"premium": 12_899}},
        {"admission.live_tokens.per_route": {"premium": 12_900}},
    ),
    "route_ceiling_over_pool": Case(
        "/admission/live_tokens/per_route/compact",
        "4 x 236,748 = 946,992",
        {"admission.live_tokens.per_route": {"compact": 946_993}},
        {"admission.live_tokens.per_route": {"compact": 946_992}},
    ),
    "route_ceiling_under_baseline": Case(
        # 3 a second x 1.29 s in service x 12,900 tokens = 49,923.
        "/admission/live_tokens/per_route/premium",
        "49,922 live tokens, the declared demand alone holds 49,923",
        {"admission.live_tokens.per_route": {"premium": 49_922}},
        {"admission.live_tokens.per_route": {"premium": 49_923}},
    ),
    "sequences_under_baseline": Case(
        "/models/premium/max_sequences",
        "3 sequences at once, the declared demand alone keeps 3.87",
        {"models.premium.max_sequences": 3},
        {"models.premium.max_sequences": 4},
    ),
}

FLEET = {
    "demand_over_fleet_steady": Case(
        "/fleet",
        "steady demand: 84,030 TEU/s over 80,500 safe, deficit 3,530 TEU/s",
        {"fleet.devices": 23},
        {"fleet.devices": 25},
    ),
    "demand_over_fleet_spike": Case(
        "/fleet",
        "a 1.4x spike: 117,642 TEU/s over 98,000 safe, deficit 19,642",
        {},
        {"fleet.devices": 34},
    ),
    "demand_over_fleet_group_loss": Case(
        "/fleet",
        "84,030 TEU/s over 84,000 safe, deficit 30 TEU/s",
        {},
        {"fleet.devices": 29},
    ),
    "demand_over_fleet_candidate_overlap": Case(
        "/fleet",
        "a candidate on 4 devices beside the incumbent: 84,030 TEU/s over 84,000 safe, deficit 30",
        {},
        {"fleet.devices": 29},
    ),
    "route_cold": Case(
        "/classes/classification/model",
        "no replica of compact",
        {"fleet.replicas.compact": None},
        {},
    ),
    "fallback_not_resident": Case(
        "/overload/3",
        "compact_fallback serves by compact, of which no replica stays resident",
        {"fleet.replicas.compact": None},
        {"fleet.replicas.compact": None, "overload": ["stop_shadow"]},
    ),
    "headroom_open": Case(
        "/fleet/headroom",
        "= 0.25, but a safe factor of 0.7 keeps 0.3: 0.05 is unaccounted",
        {"fleet.headroom": {"variance": "0.10", "failure_reserve": "0.15"}},
        {"fleet.headroom": {"variance": "0.15", "failure_reserve": "0.15"}},
    ),
    "placement_unknown_group": Case(
        "/fleet/placement/compact",
        "group 8: 28 devices in groups of 4 are groups 1 to 7",
        {"fleet.placement": {"compact": [1, 8]}},
        {"fleet.placement": {"compact": [1, 7]}},
    ),
    "placement_over_groups": Case(
        "/fleet/placement/full",
        "16 replicas in groups 1, 2, 3, which have 12 devices",
        {"fleet.placement": {"full": [1, 2, 3]}},
        {"fleet.placement": {"full": [1, 2, 3, 4]}},
    ),
    "primary_single_replica": Case(
        "/fleet/replicas/compact",
        "classification ask for compact, whose only replica is a single failure",
        {"fleet.replicas.compact": 1},
        {"fleet.replicas.compact": 2},
    ),
    "fallback_shares_failure_group": Case(
        "/fallback/0",
        "every replica of compact is in group 2, which also holds full",
        {"fleet.placement": {"compact": [2], "full": [1, 2, 3, 4]}},
        {"fleet.placement": {"compact": [5], "full": [1, 2, 3, 4]}},
    ),
    "upstream_unpinned": Case(
        "/models/full/pinned",
        "no revisit condition upstream_unpinned reruns its frozen suite",
        {"models.full.pinned": False},
        {
            "models.full.pinned": False,
            "revisit.+": {
                "trigger": "upstream_unpinned",
                "measure": "utility of the frozen suite",
                "min": 0.895,
                "window": "1d",
            },
        },
    ),
    "model_without_factor": Case(
        "/models/premium",
        "demand teu-3 has no factor for it",
        {"demand.model_factor.premium": None},
        {},
    ),
    "cell_disabled_without_route": Case(
        "/demand/cells/0",
        "compact with input 4097+, output any is disabled, and no conservative route",
        {
            "demand.cells": [{"route": "compact", "input_bucket": "4097+", "disabled": True}],
            "admission.conservative_route": None,
        },
        {"demand.cells": [{"route": "compact", "input_bucket": "4097+", "disabled": True}]},
    ),
    "ambiguous_cells": Case(
        "/demand/cells/1",
        "full with input any, output any is already /demand/cells/0",
        {"demand.cells": [{"route": "full", "pad": 2}, {"route": "full", "pad": 3}]},
        {"demand.cells": [{"route": "full", "pad": 2}, {"route": "compact", "pad": 3}]},
    ),
}

TIME = {
    "class_infeasible": Case(
        "/classes/long_assistant",
        "takes 1,240.0 ms with the reserve, over its deadline of 1,239 ms",
        {"classes.long_assistant.deadline_ms": 1_239},
        {"classes.long_assistant.deadline_ms": 1_240},
    ),
    "gate_infeasible": Case(
        "/gates/completion_p95_ms/max",
        "document_generation take longer than 352 ms alone: 105",
        {"gates.completion_p95_ms.max": 352},
        # Of 325 requests a second only 15 are then slower: 4.6 %.
        {"gates.completion_p95_ms.max": 353},
    ),
    "batch_delay_over_slack": Case(
        "/scheduling/routes/full/max_delay",
        "a batch may wait 261 ms, long_assistant has 1,500 - 1,240 = 260 ms to spare",
        {"scheduling.routes": {"full": {"max_delay": "261ms"}}},
        {"scheduling.routes": {"full": {"max_delay": "260ms"}}},
    ),
    "scheduling_mode_misfit": Case(
        "/scheduling/routes/full/mode",
        "dynamic batches of outputs of 64 to 500 tokens use 47.0% of their slots",
        {"scheduling.routes": {"full": {"mode": "dynamic"}}},
        {"scheduling.routes": {"premium": {"mode": "dynamic"}}},
    ),
    "batch_never_fills": Case(
        "/scheduling/routes/premium/max_batch",
        "a batch of 25 never fills: 24 requests may be in flight",
        {"scheduling.routes": {"premium": {"max_batch": 25}}},
        {"scheduling.routes": {"premium": {"max_batch": 24}}},
    ),
    "cascade_without_room": Case(
        "/routing/cascade",
        "long_assistant: 458 ms for compact and then 1,240 ms for full are over 1,500 ms",
        {"routing.always_large": [], "routing.cascade.small_timeout": None},
        {"routing.always_large": [], "routing.cascade.small_timeout": "260ms"},
    ),
    "deferral_without_room": Case(
        "/classes/long_assistant/deferral",
        "a run after 30m takes 1,240 ms more, over its deadline of 30m",
        {**ASYNC, "classes.long_assistant.deferral": {**WAITS, "deadline": "30m"}},
        {**ASYNC, "classes.long_assistant.deferral": WAITS},
    ),
    "async_without_deferral": Case(
        "/classes/long_assistant",
        "it may wait, but has no deferral",
        ASYNC,
        {**ASYNC, "classes.long_assistant.deferral": WAITS},
    ),
}

REGULATED_ONLY = (RouteUtility("compact", {**SHORT, "risk": "regulated"}, 0.5),)

QUALITY = {
    "floor_unreachable": Case(
        "/gates/utility/min",
        "no evidence can show a utility of 1.0",
        {"gates.utility.min": 1.0},
        {"gates.utility.min": 0.999},
    ),
    "floor_over_evidence": Case(
        "/segments/floors/0",
        "asks 0.895, but the best route known in task=long_assistant is full with 0.89",
        {},
        {},
        evidence=(
            RouteUtility("full", {"task": "long_assistant"}, 0.89),
            RouteUtility("compact", {"task": "long_assistant"}, 0.7),
        ),
        right_evidence=(
            RouteUtility("full", {"task": "long_assistant"}, 0.89),
            RouteUtility("premium", {"task": "long_assistant"}, 0.9),
        ),
    ),
    "streaming_before_validation": Case(
        "/models/full/streaming",
        "incremental delivers tokens that schema-validator-7 has not seen",
        {"models.full.streaming": "incremental"},
        {"models.full.streaming": "incremental", "models.full.validator": None},
    ),
    "early_stop_not_accepted": Case(
        "/models/full/early_stop",
        "stop-2 ends answers early, which the contract accepts as no success: it accepts bounded",
        {
            "models.full.early_stop": {"version": "stop-2", "evidence": "suite", "where": {}},
            "contract.accepts": ["bounded"],
        },
        {"models.full.early_stop": {"version": "stop-2", "evidence": "suite", "where": {}}},
    ),
    "early_stop_never": Case(
        "/models/full/early_stop/where",
        "no declared request is in input_bucket=0-9",
        {
            "models.full.early_stop": {
                "version": "stop-2",
                "evidence": "suite",
                "where": {"input_bucket": "0-9"},
            },
            "segments.buckets.input_bucket": [512],
        },
        {
            "models.full.early_stop": {
                "version": "stop-2",
                "evidence": "suite",
                "where": {"input_bucket": "0-512"},
            },
        },
    ),
    "cache_without_tenant": Case(
        "/models/full/cacheable/depends_on",
        "the key has time, content_version but no tenant",
        {"models.full.cacheable": {"depends_on": ["time", "content_version"]}},
        {"models.full.cacheable": {"depends_on": ["tenant", "content_version"]}},
    ),
    "cache_shared_without_cell": Case(
        "/models/compact",
        "no privacy cell says whose requests may share one",
        {"admission.affinity": {"hot_at": 0.8}},
        {
            "admission.affinity": {"hot_at": 0.8},
            "models.compact.privacy_cells": ["eu"],
            "models.full.privacy_cells": ["eu"],
            "models.premium.privacy_cells": ["eu"],
        },
    ),
    "class_modality": Case(
        "/classes/long_assistant/modality",
        "full takes text, not image",
        {"classes.long_assistant.modality": "image"},
        {"classes.long_assistant.modality": "image", "models.full.modality": ["text", "image"]},
    ),
}

FALLBACK = {
    "fallback_below_floor": Case(
        "/fallback/0",
        "compact reaches 0.894 in task=short_assistant|tenant_class=standard, under the floor "
        "0.895 of everything",
        {},
        {},
        evidence=(RouteUtility("compact", SHORT, 0.894),),
        right_evidence=(RouteUtility("compact", SHORT, 0.895), *REGULATED_ONLY),
    ),
    "fallback_unproven": Case(
        "/fallback/0",
        "no evidence of compact in task=short_assistant|tenant_class=standard",
        {},
        {},
        evidence=(RouteUtility("full", SHORT, 0.914),),
        right_evidence=(RouteUtility("compact", SHORT, 0.9),),
    ),
    "fallback_ring": Case(
        "/fallback/0",
        "full falls back to compact, which leads back to full",
        {"fallback.+": {"from": "compact", "to": "full", "where": {"task": "classification"}}},
        {"fallback.+": {"from": "compact", "to": "premium", "where": {"task": "classification"}}},
    ),
    "fallback_never": Case(
        "/fallback/3",
        "nothing that asks for full can be in task=classification",
        {
            "fallback.+": {"from": "full", "to": "compact", "where": {"task": "classification"}},
            "admission.conservative_route": "premium",
        },
        {"fallback.+": {"from": "full", "to": "compact", "where": {"task": "long_assistant"}}},
    ),
    "fallback_redundant": Case(
        "/fallback/3",
        "/fallback/0 allows all of task=short_assistant|tenant_class=standard already",
        {"fallback.+": {"from": "full", "to": "compact", "where": SHORT}},
        {"fallback.+": {"from": "full", "to": "premium", "where": SHORT}},
    ),
    "deny_never": Case(
        "/fallback/3",
        "/fallback/2 denies all of risk=high already",
        {"fallback.+": {"deny": True, "where": {"risk": "high"}}},
        {"fallback.+": {"deny": True, "where": {"risk": "unusual"}}},
    ),
    "fallback_drops_validator": Case(
        "/fallback/0",
        "full is validated by schema-validator-7, compact by nothing",
        {"models.compact.validator": None},
        {"models.compact.validator": None, "models.full.validator": None},
    ),
    "cached_fallback_without_cache": Case(
        "/fallback/3",
        "answers of full are never kept",
        {"fallback.+": {**FALLBACK_TO, "to": "cached"}},
        {
            "fallback.+": {**FALLBACK_TO, "to": "cached"},
            "models.full.cacheable": {"depends_on": ["tenant"]},
        },
    ),
    "fallback_not_accepted": Case(
        "/fallback/3",
        "accepts bounded, early_terminated, so what retrieval_only serves is no success",
        {"fallback.+": {**FALLBACK_TO, "to": "retrieval_only"}},
        {
            "fallback.+": {**FALLBACK_TO, "to": "retrieval_only"},
            "contract.accepts": ["bounded", "retrieval_only"],
        },
    ),
    "fallback_outside_cell": Case(
        "/fallback/0",
        "compact serves only the cells eu, full serves eu, us",
        {"models.full.privacy_cells": ["eu", "us"], "models.compact.privacy_cells": ["eu"]},
        {"models.full.privacy_cells": ["eu"], "models.compact.privacy_cells": ["eu", "us"]},
    ),
    "fallback_modality": Case(
        "/fallback/0",
        "short_assistant brings image, compact takes text",
        {
            "classes.short_assistant.modality": "image",
            "models.full.modality": ["text", "image"],
        },
        {
            "classes.short_assistant.modality": "image",
            "models.full.modality": ["text", "image"],
            "models.compact.modality": ["image"],
        },
    ),
}

GATES = {
    "attainment_unprovable": Case(
        "/gates/attainment/min",
        "no number of successes",
        {"gates.attainment.min": 1.0},
        {"gates.attainment.min": 0.9999},
    ),
    "gate_never_fails": Case(
        "/gates/attainment/min",
        "nothing is under 0",
        {"gates.attainment.min": 0.0},
        {"gates.attainment.min": 0.01},
    ),
    "clock_without_gate": Case(
        "/contract/clock",
        "the clock is first_token, but no gate first_token_p95_ms is set",
        {"contract.clock": "first_token"},
        {
            "contract.clock": "first_token",
            "gates.first_token_p95_ms": {"max": 400, "window": "15m"},
        },
    ),
    "gated_segment_never": Case(
        "/gates/segments/3",
        "no declared request is in input_bucket=0-9",
        {
            "gates.segments.+": {"name": "short", "where": {"input_bucket": "0-9"}},
            "segments.buckets.input_bucket": [512],
        },
        {"gates.segments.+": {"name": "short", "where": {"input_bucket": "0-512"}}},
    ),
    "gated_segment_repeated": Case(
        "/gates/segments/3/name",
        "classification is already /gates/segments/0",
        {"gates.segments.+": {"name": "classification", "where": {"risk": "low"}}},
        {"gates.segments.+": {"name": "low-risk", "where": {"risk": "low"}}},
    ),
    "ambiguous_gated_segments": Case(
        "/gates/segments/3/where",
        "selects what /gates/segments/0 does",
        {"gates.segments.+": {"name": "labels", "where": {"task": ["classification"]}}},
        {"gates.segments.+": {"name": "labels", "where": {"language": "en"}}},
    ),
    "eligible_never": Case(
        "/contract/eligible",
        "no declared request is in tenant_class=trial: every denominator stays empty",
        {"contract.eligible": {"tenant_class": "trial"}, "admission.conservative_route": None},
        {"contract.eligible": {"tenant_class": "trial"}},
    ),
    "confidence_disagrees": Case(
        "/gates/completion_p95_ms/confidence",
        "confidence 0.95 beside alpha_pass 0.1",
        {"gates.alpha_pass": 0.1},
        {"gates.alpha_pass": 0.1, "gates.completion_p95_ms.confidence": 0.9},
    ),
    "gate_looser_than_deadline": Case(
        "/gates/completion_p95_ms/max",
        "1,501 ms is over the deadline of 1,500 ms",
        {"gates.completion_p95_ms.max": 1_501},
        {"gates.completion_p95_ms.max": 1_499},
    ),
    "gate_window_short": Case(
        "/gates/attainment",
        "325 requests a second x 1m = 19,500, under the 19,501",
        {"gates.attainment": {"min": 0.96, "window": "1m", "minimum_sample": 19_501}},
        {"gates.attainment": {"min": 0.96, "window": "1m", "minimum_sample": 19_500}},
    ),
    "gate_window_under_step": Case(
        "/gates/violations/window",
        "59s is shorter than one step of 60 s",
        {"gates.violations.window": "59s"},
        {"gates.violations.window": "60s"},
    ),
    "revisit_unknown": Case(
        "/revisit/0/trigger",
        "nothing measures mix_chance: did you mean mix_change?",
        {"revisit.0.trigger": "mix_chance"},
        {"revisit.0.trigger": "segment_floor"},
    ),
}

SELECTORS = {
    "ambiguous_floors": Case(
        "/segments/floors/1",
        "risk=regulated,high asks 0.93, language=en asks 0.9, and a request can match both",
        {"segments.floors.0": {"where": {"language": "en"}, "min_utility": 0.9}},
        {
            "segments.floors.0": {"where": {"language": "en"}, "min_utility": 0.9},
            "segments.floors.+": {
                "where": {"language": "en", "risk": ["regulated", "high"]},
                "min_utility": 0.93,
            },
        },
    ),
    "floor_never": Case(
        "/segments/floors/2",
        "more specific or earlier floors speak for every request in risk=high",
        {"segments.floors.+": {"where": {"risk": "high"}, "min_utility": 0.93}},
        {"segments.floors.+": {"where": {"risk": "unusual"}, "min_utility": 0.93}},
    ),
    "ambiguous_fallback": Case(
        "/fallback/1",
        "serves language=en by premium and /fallback/0 serves task=long_assistant by compact",
        {"fallback": [LONG_TO_COMPACT, ENGLISH_TO_PREMIUM]},
        {"fallback": [LONG_TO_COMPACT, ENGLISH_TO_PREMIUM, ENGLISH_LONG_TO_COMPACT]},
    ),
    "ambiguous_routing": Case(
        "/routing/rules/2",
        "language=en goes to full and task=classification of /routing/rules/0 to compact",
        {"routing.rules.+": {"where": {"language": "en"}, "route": "full"}},
        {"routing.rules.+": {"where": {}, "route": "full"}},
    ),
    "routing_rule_never": Case(
        "/routing/rules/2",
        "/routing/rules/0 take every request in risk=low|task=classification",
        {
            "routing.rules.+": {
                "where": {"task": "classification", "risk": "low"},
                "route": "full",
            }
        },
        {"routing.rules.+": {"where": {"task": "riddles", "risk": "low"}, "route": "full"}},
    ),
    "always_large_never": Case(
        "/routing/always_large/1",
        "no declared request is in input_bucket=0-9",
        {
            "routing.always_large.+": {"input_bucket": "0-9"},
            "segments.buckets.input_bucket": [512],
        },
        {"routing.always_large.+": {"input_bucket": "0-512"}},
    ),
}

ROUTING = {
    "always_large_contradicted": Case(
        "/routing/rules/0",
        "sends task=classification to compact, which /routing/always_large/1 sends to full",
        {"routing.always_large.+": {"task": "classification"}},
        {"routing.always_large.+": {"task": "classification", "risk": "high"}},
    ),
    "cascade_void": Case(
        "/routing/cascade/validated_by",
        "the large model full is not the one that the threshold was validated with",
        {"routing.cascade.large_manifest": OTHER_MANIFEST},
        {"routing.cascade.large_manifest": MANIFEST},
    ),
    "cascade_never_pays": Case(
        "/routing/cascade",
        "compact costs 1 of full",
        {"routing.cascade.small_cost_ratio": "1"},
        {"routing.cascade.small_cost_ratio": "0.99"},
    ),
    "cost_ratio_disagrees": Case(
        "/routing/cascade/small_cost_ratio",
        "0.3 is declared, the factors of teu-3 give 0.45",
        {"routing.cascade.small_cost_ratio": "0.3"},
        {"routing.cascade.small_cost_ratio": "0.46"},
    ),
    "escalation_near_break_even": Case(
        "/revisit/4/max",
        "an escalation of 0.5 is let pass, but small-first saves nothing from 1 - 0.45 = 0.55 on",
        {
            "revisit.+": {
                "trigger": "escalation_rise",
                "measure": "escalated share",
                "max": 0.5,
                "window": "1d",
            }
        },
        {
            "revisit.+": {
                "trigger": "escalation_rise",
                "measure": "escalated share",
                "max": 0.49,
                "window": "1d",
            }
        },
    ),
    "threshold_vacuous": Case(
        "/routing/cascade/threshold",
        "with a threshold of 0 every answer stays small",
        {"routing.cascade.threshold": 0},
        {"routing.cascade.threshold": 0.01},
    ),
}

ADMISSION = {
    "adaptive_wrong_signal": Case(
        "/admission/concurrency/signal",
        "a limit that follows total_latency",
        {"admission.concurrency": {**ADAPTIVE, "signal": "total_latency"}},
        {"admission.concurrency": {**ADAPTIVE, "signal": "queue_wait"}},
    ),
    "adaptive_floor_low": Case(
        "/admission/concurrency/floor",
        "a floor of 1 on 28 replicas allows 28 in flight; the declared demand alone keeps 68.7",
        {"admission.concurrency": {**ADAPTIVE, "floor": 1}},
        {"admission.concurrency": ADAPTIVE},
    ),
    "adaptive_ceiling_low": Case(
        "/admission/concurrency/ceiling",
        "the cap may rise to 2 and fall to 3",
        {"admission.concurrency": {**ADAPTIVE, "ceiling": 2}},
        {"admission.concurrency": {**ADAPTIVE, "ceiling": 3}},
    ),
    "adaptive_ceiling_over_knee": Case(
        "/admission/concurrency/ceiling",
        "may rise to 25, over the measured knee of 24",
        {"admission.concurrency": {**ADAPTIVE, "ceiling": 25}},
        {"admission.concurrency": {**ADAPTIVE, "ceiling": 24}},
    ),
    "adaptive_target_over_slack": Case(
        "/admission/concurrency/target_wait",
        "211 ms of wait is the target, document_generation has 1,500 - 1,290 = 210 ms",
        {"admission.concurrency": {**ADAPTIVE, "target_wait": "211ms"}},
        {"admission.concurrency": {**ADAPTIVE, "target_wait": "210ms"}},
    ),
    "signals_floor_over_knee": Case(
        "/admission/signals/floor_per_replica",
        "without signals may have 25 in flight, one with signals 24",
        {"admission.signals": {"floor_per_replica": 25}},
        {"admission.signals": {"floor_per_replica": 24}},
    ),
    "queue_under_request": Case(
        "/admission/max_queued_teu",
        "7,019 TEU may wait, one document_generation is 7,020",
        {"admission.max_queued_teu": 7_019},
        {"admission.max_queued_teu": 7_020},
    ),
    "queue_outlasts_deadline": Case(
        "/admission/max_queued_teu",
        "147,098 TEU at 98,000 TEU/s take 1,501 ms",
        {"admission.max_queued_teu": 147_098},
        {"admission.max_queued_teu": 147_000},
    ),
    "age_bound_over_deadline": Case(
        "/admission/queue/age_bound",
        "goes first after 2s, when its deadline of 1,500 ms is over",
        {"admission.queue": {"age_bound": "2s"}},
        {"admission.queue": {"age_bound": "1500ms"}},
    ),
    "retry_budget_high": Case(
        "/admission/retry/budget",
        "11% of retries on top of an overload, over 10%",
        {"admission.retry.budget": 0.11},
        {"admission.retry.budget": 0.1},
    ),
    "retry_counted_in_part": Case(
        "/admission/retry/count",
        "counts attempts, so retries are unbounded in teu, live_tokens",
        {"admission.retry.count": ["attempts"]},
        {"admission.retry.count": ["live_tokens", "attempts", "teu"]},
    ),
    "retry_without_jitter": Case(
        "/admission/retry/after_ms",
        "comes back after 1,000 ms, all at once",
        {"admission.retry.after_ms": [1000, 1000]},
        {"admission.retry.after_ms": [1000, 1001]},
    ),
}

OVERLOAD = {
    "rung_repeated": Case(
        "/overload/1",
        "stop_shadow is already /overload/0",
        {"overload": ["stop_shadow", "stop_shadow"]},
        {"overload": ["stop_shadow", "defer_async"]},
    ),
    "rungs_out_of_order": Case(
        "/overload/1",
        "stop_shadow after defer_async",
        {"overload": ["defer_async", "stop_shadow"]},
        {"overload": ["stop_shadow", "defer_async"]},
    ),
    "leave_over_enter": Case(
        "/overload/0",
        "stop_shadow is entered at queued 0.25 and left under 0.25",
        {
            "overload": [
                {"rung": "stop_shadow", "enter": {"queued": 0.25}, "leave": {"queued": 0.25}}
            ]
        },
        {
            "overload": [
                {"rung": "stop_shadow", "enter": {"queued": 0.25}, "leave": {"queued": 0.24}}
            ]
        },
    ),
    "rungs_not_growing": Case(
        "/overload/1",
        "defer_async is entered at queued 0.3, before stop_shadow at 0.4",
        {
            "overload": [
                {"rung": "stop_shadow", "enter": {"queued": 0.4}},
                {"rung": "defer_async", "enter": {"queued": 0.3}},
            ]
        },
        {
            "overload": [
                {"rung": "stop_shadow", "enter": {"queued": 0.3}},
                {"rung": "defer_async", "enter": {"queued": 0.4}},
            ]
        },
    ),
    "capped_under_minimum": Case(
        "/classes/short_assistant/capped_output_tokens",
        "overload caps it at 63 tokens, its smallest useful output is 64",
        {"classes.short_assistant.capped_output_tokens": 63},
        {"classes.short_assistant.capped_output_tokens": 64},
    ),
    "cap_never": Case(
        "/classes/short_assistant/capped_output_tokens",
        "a cap of 120 tokens on an output of at most 120 cuts nothing",
        {"classes.short_assistant.capped_output_tokens": 120},
        {"classes.short_assistant.capped_output_tokens": 119},
    ),
    "bound_not_accepted": Case(
        "/classes/short_assistant/min_output_tokens",
        "the contract accepts no bounded answer",
        {"contract.accepts": ["early_terminated"]},
        {"contract.accepts": ["bounded"]},
    ),
}

SHARES = {
    "shares_over_parent": Case(
        "/admission/shares",
        "control 0.03 + region/eu 0.98 = 1.01 of the parent",
        {"admission.shares.control.guaranteed": 0.03},
        {"admission.shares.control.guaranteed": 0.01},
    ),
    "share_over_ceiling": Case(
        "/admission/shares/control",
        "guaranteed 0.02 is over its own ceiling 0.01",
        {"admission.shares.control.ceiling": 0.01},
        {"admission.shares.control.ceiling": 0.02},
    ),
    "background_guaranteed": Case(
        "/admission/shares/shadow",
        "shadow is guaranteed 0.1 of its parent",
        {
            "admission.shares": {
                "shadow": {"guaranteed": 0.1},
                "region/eu": {"guaranteed": 0.9},
            }
        },
        {
            "admission.shares": {
                "shadow": {"guaranteed": 0.0},
                "region/eu": {"guaranteed": 0.9},
            }
        },
    ),
    "budget_long_window_only": Case(
        "/budgets/0",
        "acme has no cap on a window of a minute or less",
        {"budgets": [{**ONE_DAY, "max_usd": "400"}]},
        {
            "budgets": [
                {**ONE_DAY, "max_usd": "400"},
                {"tenant": "*", "window": "10s", "max_teu": 120_000},
            ]
        },
    ),
    "ambiguous_budgets": Case(
        "/budgets/1/max_usd",
        "acme has 300 here and 400 in /budgets/0 for 1d",
        {"budgets": [{**ONE_DAY, "max_usd": "400"}, {**ONE_DAY, "max_usd": "300"}]},
        {"budgets": [{**ONE_DAY, "max_usd": "400"}, {**ONE_DAY, "max_teu": 10**9}]},
    ),
    "budget_under_request": Case(
        "/budgets/0/max_teu",
        "7,019 TEU, but one document_generation is 7,020",
        {"budgets.0.max_teu": 7_019},
        {"budgets.0.max_teu": 7_020},
    ),
}

ROLLOUT = {
    "stage_without_hold": Case(
        "/rollout/stages/3",
        "the canary of 1% has no hold",
        {"rollout.stages.3": {"canary": 0.01}},
        {"rollout.stages.3": {"canary": 0.01, "hold": "1h"}},
    ),
    "stage_hold_short": Case(
        "/rollout/stages/3/hold",
        "325 requests a second x 0.01 x 5m = 975, under the 1,000",
        {"rollout.stages.3.hold": "5m"},
        {"rollout.stages.3.hold": "6m"},
    ),
    "stage_shrinks": Case(
        "/rollout/stages/4",
        "exposure falls from 0.01 to 0.005",
        {"rollout.stages.4": {"canary": 0.005, "hold": "1h"}},
        {"rollout.stages.4": {"canary": 0.01, "hold": "1h"}},
    ),
    "stages_out_of_order": Case(
        "/rollout/stages/1",
        "observe comes after shadow",
        {"rollout.stages.0": {"shadow": "1h"}, "rollout.stages.1": {"observe": "1h"}},
        {"rollout.stages.0": {"observe": "1h"}, "rollout.stages.1": {"shadow": "1h"}},
    ),
    "rollout_incomplete": Case(
        "/rollout/stages",
        "the last stage exposes 0.5",
        {"rollout.stages": [{"canary": 0.5, "hold": "1h"}]},
        {"rollout.stages": [{"canary": 1.0, "hold": "1h"}]},
    ),
    "shadow_without_reserve": Case(
        "/rollout/stages/1",
        "84,030 TEU/s leaves nothing of 84,000 for shadow work",
        {"fleet.devices": 24},
        {"fleet.devices": 25},
    ),
    "approvals_of_zero": Case(
        "/approvals/quality",
        "nobody has to approve a change of quality",
        {"approvals.quality": []},
        {"approvals.quality": ["sre"]},
    ),
}

CASES: dict[str, Case] = {
    code: case
    for theme in (
        MEMORY,
        FLEET,
        TIME,
        QUALITY,
        FALLBACK,
        GATES,
        SELECTORS,
        ROUTING,
        ADMISSION,
        OVERLOAD,
        SHARES,
        ROLLOUT,
    )
    for code, case in theme.items()
}
