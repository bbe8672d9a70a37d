"""Work, batches and waits before a deadline."""

from tests.engine.document.finding_cases.case import Case

ASYNC = {"classes.long_assistant.interactive": False}
WAITS = {"deadline": "1h", "max_queue_age": "30m", "after": "30s"}

CASES: dict[str, Case] = {
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
        "dynamic batches of outputs of 64 to 500 tokens use 47.0 % of their slots",
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
