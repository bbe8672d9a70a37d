"""Who may be served by another route."""

from orchid.engine.document.findings import RouteUtility
from tests.engine.document.finding_cases.case import SHORT, Case

FALLBACK_TO = {"from": "full", "where": SHORT}
REGULATED_ONLY = (RouteUtility("compact", {**SHORT, "risk": "regulated"}, 0.5),)

CASES: dict[str, Case] = {
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
