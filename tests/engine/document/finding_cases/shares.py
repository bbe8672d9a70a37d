"""Shares and budgets."""

from tests.engine.document.finding_cases.case import Case

ONE_DAY = {"tenant": "acme", "window": "1d"}

CASES: dict[str, Case] = {
    "shares_over_parent": Case(
        "/admission/shares",
        "control 0.03 + region/eu 0.98 = 1.01 of the parent",
        {"admission.shares.control.guaranteed": 0.03},
        {"admission.shares.control.guaranteed": 0.01},
    ),
    "share_over_ceiling": Case(
        "/admission/shares/control",
        "guaranteed 0.02 is over its own ceiling 0.01",
        {"admission.shares.control.ceiling": 0.01},
        {"admission.shares.control.ceiling": 0.02},
    ),
    "background_guaranteed": Case(
        "/admission/shares/shadow",
        "shadow is guaranteed 0.1 of its parent",
        {
            "admission.shares": {
                "shadow": {"guaranteed": 0.1},
                "region/eu": {"guaranteed": 0.9},
            }
        },
        {
            "admission.shares": {
                "shadow": {"guaranteed": 0.0},
                "region/eu": {"guaranteed": 0.9},
            }
        },
    ),
    "budget_long_window_only": Case(
        "/budgets/0",
        "acme has no cap on a window of a minute or less",
        {"budgets": [{**ONE_DAY, "max_usd": "400"}]},
        {
            "budgets": [
                {**ONE_DAY, "max_usd": "400"},
                {"tenant": "*", "window": "10s", "max_teu": 120_000},
            ]
        },
    ),
    "ambiguous_budgets": Case(
        "/budgets/1/max_usd",
        "acme has 300 here and 400 in /budgets/0 for 1d",
        {"budgets": [{**ONE_DAY, "max_usd": "400"}, {**ONE_DAY, "max_usd": "300"}]},
        {"budgets": [{**ONE_DAY, "max_usd": "400"}, {**ONE_DAY, "max_teu": 10**9}]},
    ),
    "budget_under_request": Case(
        "/budgets/0/max_teu",
        "7,019 TEU, but one document_generation is 7,020",
        {"budgets.0.max_teu": 7_019},
        {"budgets.0.max_teu": 7_020},
    ),
}
