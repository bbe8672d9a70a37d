"""Classifier and cascade."""

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import load_document
from tests.engine.document.finding_cases.case import Case
from tests.reference_document import changed

MANIFEST = manifest_digest(load_document(changed()).document.models["full"])
OTHER_MANIFEST = "sha256:" + "0" * 64

CASES: dict[str, Case] = {
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
