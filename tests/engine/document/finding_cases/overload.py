"""What overload sheds."""

from tests.engine.document.finding_cases.case import Case

PERCENTILE = {"percentile": 0.99, "evidence": "suite output-lengths 5"}

CASES: dict[str, Case] = {
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
    "reserve_over_cap": Case(
        "/classes/long_assistant/reserve/output_tokens",
        "500 tokens reserved of an output of at most 500 spare nothing",
        {"classes.long_assistant.reserve": {**PERCENTILE, "output_tokens": 500}},
        {"classes.long_assistant.reserve": {**PERCENTILE, "output_tokens": 400}},
    ),
    "bound_not_accepted": Case(
        "/classes/short_assistant/min_output_tokens",
        "the contract accepts no bounded answer",
        {"contract.accepts": ["early_terminated"]},
        {"contract.accepts": ["bounded"]},
    ),
}
