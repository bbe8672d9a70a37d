"""The demo's CI job: once generation 1 is judged on cost, it proposes what would cost less."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from orchid.cli.change import proposed, submitted
from orchid.cli.client import Api, Json
from orchid.cli.evidence import json_object, pushed
from orchid.cli.policy import loaded

PRODUCT = "orchid-demo"
TITLE = "Compact fallback for eligible segments"
RATIONALE = (
    "Generation 1 misses its cost gate. Standard assistant requests and extraction clear their"
    " floors on the compact model, so two of six slots can go. Premium tenants keep the full model."
)
COST = "cost_per_success_usd"
LOOK_AGAIN_S = 2.0
RUN_IN = timedelta(seconds=10)  # the driver starts a moment after the edge


def propose_once(
    api: Api,
    examples: Path,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Json | None:
    """The proposal that this call made, or None where it was made before."""
    at = f"/api/v1/products/{PRODUCT}"
    if any(one["title"] == TITLE for one in api.get(f"{at}/proposals")["items"]):
        return None
    say("waiting for a verdict on cost of what is live, over the whole span it is judged on")
    while not judged_on_cost(api.get(f"{at}/check")):
        sleep(LOOK_AGAIN_S)
    pushed(api, PRODUCT, json_object(examples / "evidence.json"))
    given = loaded(examples / "generation-2.yaml").given
    return submitted(api, proposed(api, PRODUCT, given, TITLE, RATIONALE, base=1))


def judged_on_cost(answer: Json) -> bool:
    """Whether cost has a verdict that the idle moments after the start have no part in."""
    evaluation = answer["evaluation"] or {"verdicts": []}
    if not any(
        one["metric"] == COST and one["verdict"] in ("pass", "fail")
        for one in evaluation["verdicts"]
    ):
        return False
    since = datetime.fromisoformat(evaluation["figures"]["cost"]["from"])
    return since > datetime.fromisoformat(evaluation["window"]["opens_at"]) + RUN_IN
