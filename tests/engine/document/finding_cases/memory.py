"""Memory: sums that have to close, and work that does not fit."""

from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
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
