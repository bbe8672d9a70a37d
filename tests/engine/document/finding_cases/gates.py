"""Gates that can not pass, fail or be judged."""

from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
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
}
