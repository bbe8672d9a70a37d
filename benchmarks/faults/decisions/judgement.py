"""A judgement of the candidate that lets a stage advance, written as the gates write theirs.

What is under fire are decisions. The traffic that would earn this pass takes minutes a stage.
"""

from typing import Any

from django.utils import timezone

from gates.models import Evaluation, Watch
from gates.selectors import window_for
from gates.states import VerdictState
from orchid.engine.verdict.action import Action
from releases.models import Rollout


def pass_now(rollout_id: int) -> bool:
    """Let the newest window of a rollout's candidate pass; False where it has none yet."""
    rollout = Rollout.objects.select_related("publication", "product").get(pk=rollout_id)
    window = window_for(rollout.product, rollout.publication.number, "candidate")
    if window is None:
        return False
    now = timezone.now()
    evaluation = Evaluation.objects.create(
        window=window,
        watermark=now,
        inputs_digest=f"sha256:{now.isoformat()}",
        evidence_digest="",
        evaluated_at=now,
        validity={"state": "ok", "checks": []},
        verdict=VerdictState.PASS,
        action=Action.ADVANCE,
        why="every gate passes",
        figures=_no_traffic(now.isoformat()),
    )
    Watch.objects.update_or_create(
        window=window, defaults={"evaluation": evaluation, "looked_at": now, "judged_to": now}
    )
    return True


def _no_traffic(moment: str) -> dict[str, Any]:
    """The figures of a window in which nothing was asked, for whoever reads them afterwards."""
    unknown: dict[str, Any] = dict.fromkeys(("utility", "p95_ms", "attainment"))
    return {
        "whole": unknown | {"populations": {}},
        "cost": {"successes": 0, "seconds": "0", "usd": "0"},
        "segments": {},
        "from": moment,
        "to": moment,
    }
