"""Floors, and what a client may see of an answer."""

from orchid.engine.document.findings import RouteUtility
from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
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
