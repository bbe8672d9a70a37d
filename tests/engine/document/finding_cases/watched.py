"""What is watched beside the gates."""

from typing import Any

from tests.engine.document.finding_cases.case import Case


def rail(**changes: Any) -> dict[str, Any]:
    return {"measure": "queue_dwell_max_ms", "max": 900, "window": "15m", **changes}


CASES: dict[str, Case] = {
    "guardrail_unknown": Case(
        "/gates/guardrails/0/measure",
        "nothing measures queue_dwell_maxms: did you mean queue_dwell_max_ms?",
        {"gates.guardrails": [rail(measure="queue_dwell_maxms")]},
        {"gates.guardrails": [rail()]},
    ),
    "guardrail_repeated": Case(
        "/gates/guardrails/1",
        "queue_dwell_max_ms is bounded for the same requests by /gates/guardrails/0",
        {"gates.guardrails": [rail(), rail(max=800)]},
        {"gates.guardrails": [rail(), rail(where={"task": "short_assistant"})]},
    ),
    "guardrail_window_under_step": Case(
        "/gates/guardrails/0/window",
        "59s is shorter than one step of 60 s",
        {"gates.guardrails": [rail(window="59s")]},
        {"gates.guardrails": [rail(window="60s")]},
    ),
    "bound_on_the_good_side": Case(
        "/gates/guardrails/0",
        "completion_share gets worse below its bound, and no min is set",
        {"gates.guardrails": [rail(measure="completion_share", max=0.9)]},
        {"gates.guardrails": [{"measure": "completion_share", "min": 0.9, "window": "15m"}]},
    ),
    "revisit_unknown": Case(
        "/revisit/0/trigger",
        "nothing measures mix_chance: did you mean mix_change?",
        {"revisit.0.trigger": "mix_chance"},
        {"revisit.0.trigger": "queue_dwell_mean_ms"},
    ),
}
