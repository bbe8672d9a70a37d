"""A small whole policy document on which admission's answers can be worked out by hand.

Full decodes 20 ms a token, compact 5; both prefill 12,800 tokens a second; nothing is kept back
after the model, and one TEU is one output token of full.
"""

from collections.abc import Mapping
from typing import Any

from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.document.load import load_document

MANIFEST = {"tokenizer": "t", "precision": "fp16", "runtime": "r"}


def small_document(**changes: Any) -> dict[str, Any]:
    """The document's keys; a change names a path with double underscores: admission__shares."""
    document = _whole()
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = document
        for parent in parents:
            place = place[parent]
        place[last] = value
    return document


def small_policy(**changes: Any) -> CompiledPolicy:
    loaded = load_document(small_document(**changes))
    return compile_policy(loaded.document, digest=loaded.digest, pool="one")


def _whole() -> dict[str, Any]:
    gate = {"window": "1h"}
    return {
        "schema": "orchid.policy/v1",
        "product": "orchid-small",
        "contract": {
            "clock": "completion",
            "deadline_ms": 1000,
            "denominator": "eligible_offered",
            "post_model_reserve_ms": 0,
            "accepts": ["bounded"],
        },
        "gates": {
            "completion_p95_ms": {"max": 1000, **gate},
            "cost_per_success_usd": {"max": "0.01", **gate},
            "utility": {"min": 0.5, **gate},
            "attainment": {"min": 0.5, **gate},
            "violations": {"max": 0, **gate},
        },
        "demand": {
            "version": "teu-1",
            "input_weight": 0.25,
            "model_factor": {"full": 1, "compact": 0.5},
        },
        "models": {"full": _model("w-full", 20), "compact": _model("w-compact", 5)},
        "classes": {
            "chat": _class("chat", min_output_tokens=16),
            "form": _class("form"),
        },
        "segments": {"dimensions": ["task", "tenant_class"]},
        "fallback": [
            {"from": "full", "to": "compact", "where": {"tenant_class": "standard"}},
            {"deny": True, "where": {"task": "form"}},
        ],
        "admission": {
            "max_queued_teu": 1000,
            "concurrency": {"mode": "static_knee", "per_replica": 4},
            "live_tokens": {"per_device": 100_000, "per_tenant": 50_000, "per_request": 8_000},
            "retry": {"budget": 0.1, "after_ms": [200, 2000]},
            "breaker": {"failures": 5, "window_s": 10, "open_s": 5},
        },
        "scheduling": {"prefill_chunk_tokens": 512, "max_decode_turns": 8, "kv_block_tokens": 16},
        "overload": ["compact_fallback", "reject_infeasible"],
        "fleet": {
            "devices": 1,
            "group_size": 1,
            "raw_teu_per_s": 1000,
            "safe_factor": 1,
            "device_usd_per_h": "1",
            "overhead_usd_per_h": "0",
        },
        "rollout": {"stages": [{"canary": 1.0, "hold": "20s"}]},
        "approvals": {"quality": ["product_owner"], "cost": ["product_owner"], "capacity": ["sre"]},
    }


def _model(weights: str, decode_ms: float) -> Mapping[str, Any]:
    timing = {"fixed_ms": 0, "prefill_tokens_per_s": 12_800, "decode_ms_per_token": decode_ms}
    return {**MANIFEST, "weights": weights, "context_tokens": 16_000, "timing": timing}


def _class(task: str, **extra: Any) -> dict[str, Any]:
    shape = {"input_tokens": 128, "max_output_tokens": 20, "arrivals_per_s": 1}
    return {"model": "full", **shape, "dimensions": {"task": task}, **extra}
