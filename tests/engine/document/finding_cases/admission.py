"""Concurrency, signals, queue and retries."""

from tests.engine.document.finding_cases.case import Case

ADAPTIVE = {"mode": "queue_wait_aimd", "per_replica": 24, "floor": 3}

CASES: dict[str, Case] = {
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
        "11 % of retries on top of an overload, over 10 %",
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
