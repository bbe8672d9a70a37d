"""Rules that speak at once, or never."""

from tests.engine.document.finding_cases.case import Case

LONG_TO_COMPACT = {"from": "full", "to": "compact", "where": {"task": "long_assistant"}}
ENGLISH_TO_PREMIUM = {"from": "full", "to": "premium", "where": {"language": "en"}}
ENGLISH_LONG_TO_COMPACT = {
    "from": "full",
    "to": "compact",
    "where": {"task": "long_assistant", "language": "en"},
}

CASES: dict[str, Case] = {
    "ambiguous_floors": Case(
        "/segments/floors/1",
        "risk=regulated,high asks 0.93, language=en asks 0.9, and a request can match both",
        {"segments.floors.0": {"where": {"language": "en"}, "min_utility": 0.9}},
        {
            "segments.floors.0": {"where": {"language": "en"}, "min_utility": 0.9},
            "segments.floors.+": {
                "where": {"language": "en", "risk": ["regulated", "high"]},
                "min_utility": 0.93,
            },
        },
    ),
    "floor_never": Case(
        "/segments/floors/2",
        "more specific or earlier floors speak for every request in risk=high",
        {"segments.floors.+": {"where": {"risk": "high"}, "min_utility": 0.93}},
        {"segments.floors.+": {"where": {"risk": "unusual"}, "min_utility": 0.93}},
    ),
    "ambiguous_fallback": Case(
        "/fallback/1",
        "serves language=en by premium and /fallback/0 serves task=long_assistant by compact",
        {"fallback": [LONG_TO_COMPACT, ENGLISH_TO_PREMIUM]},
        {"fallback": [LONG_TO_COMPACT, ENGLISH_TO_PREMIUM, ENGLISH_LONG_TO_COMPACT]},
    ),
    "ambiguous_routing": Case(
        "/routing/rules/2",
        "language=en goes to full and task=classification of /routing/rules/0 to compact",
        {"routing.rules.+": {"where": {"language": "en"}, "route": "full"}},
        {"routing.rules.+": {"where": {}, "route": "full"}},
    ),
    "routing_rule_never": Case(
        "/routing/rules/2",
        "/routing/rules/0 take every request in risk=low|task=classification",
        {
            "routing.rules.+": {
                "where": {"task": "classification", "risk": "low"},
                "route": "full",
            }
        },
        {"routing.rules.+": {"where": {"task": "riddles", "risk": "low"}, "route": "full"}},
    ),
    "always_large_never": Case(
        "/routing/always_large/1",
        "no declared request is in input_bucket=0-9",
        {
            "routing.always_large.+": {"input_bucket": "0-9"},
            "segments.buckets.input_bucket": [512],
        },
        {"routing.always_large.+": {"input_bucket": "0-512"}},
    ),
}
