"""From what was seen to one word about a server, and to what is wrong with it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ingest.services.servers.findings import Finding
from ingest.services.servers.observing import Observation
from ingest.states import ServerState
from orchid.formats.engine_metrics import EngineFigure

#: A health answer that took longer makes a server slow. It does no work, so 1 s is a long time.
SLOW_MS = 1_000.0
#: Failures of a model since its last success after which its readiness is not believed.
FAILED_IN_A_ROW = 3
#: Failures that are the model's own; a rejected or cancelled request says nothing about it.
OWN_FAILURES = ("reason=BACKEND", "reason=OTHER")
Standing = dict[str, float]


def standings(
    before: Mapping[str, Mapping[str, float]], figures: Iterable[EngineFigure]
) -> dict[str, Standing]:
    """By model: successes, its own failures, and how many of these there were at a success.

    `before` is what this gave at the last look. Where a model has answered before we first looked,
    nothing is held against it until it fails again.
    """
    now = _totals(figures)
    return {model: _standing(before.get(model), total) for model, total in now.items()}


def _totals(figures: Iterable[EngineFigure]) -> dict[str, Standing]:
    told: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in figures:
        if one.value is None or not one.model:
            continue
        if one.name in ("success_count", "nv_inference_request_success"):
            told[one.model]["success"] = max(told[one.model]["success"], one.value)
        elif one.name == "nv_inference_request_failure" and one.labels in OWN_FAILURES:
            told[one.model]["own"] += one.value
            told[one.model]["by_reason"] = 1
        elif one.name == "fail_count":
            told[one.model]["any"] = one.value
    return {
        model: {
            "success": parts["success"],
            # Statistics alone can't tell a rejection from a fault of the backend.
            "failed": parts["own"] if parts["by_reason"] else parts["any"],
        }
        for model, parts in told.items()
    }


def _standing(before: Mapping[str, float] | None, now: Standing) -> Standing:
    restarted = before is not None and (
        now["success"] < before["success"] or now["failed"] < before["failed"]
    )
    if before is None or restarted:
        mark = now["failed"] if now["success"] else 0.0
    elif now["success"] > before["success"]:
        mark = now["failed"]
    else:
        mark = before["mark"]
    return {**now, "mark": mark}


def failing(found: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """Models that have only failed since their last success, with how often."""
    rows = {model: int(one["failed"] - one["mark"]) for model, one in found.items()}
    return {model: count for model, count in sorted(rows.items()) if count >= FAILED_IN_A_ROW}


def lies(
    seen: Observation, found: Mapping[str, Mapping[str, float]], probes: Mapping[str, Any]
) -> list[Finding]:
    """Models that are called ready and answer nothing."""
    ready = {model.key for model in seen.models if model.ready}
    next_step = "Look at the server's log for this model and load it again; send it no traffic."
    findings = [
        Finding(
            "every_inference_fails",
            f"{model} is called ready, and its last {count} inferences failed.",
            next_step,
            model,
            "answers",
            f"{count} failures",
            breaks_manifest=True,
        )
        for model, count in failing(found).items()
        if model in ready
    ]
    findings += [
        Finding(
            "warm_up_failed",
            f"{model} is called ready, and failed an inference of zeros: {probe['text']}",
            next_step,
            model,
            "an answer",
            "an error",
            breaks_manifest=True,
        )
        for model, probe in sorted(probes.items())
        if model in ready and probe["outcome"] == "failed"
    ]
    return findings


def state_of(seen: Observation, findings: Sequence[Finding]) -> tuple[ServerState, str]:
    """The worst that holds, and why in a line."""
    if seen.no_answer:
        return ServerState.UNREACHABLE, seen.no_answer
    if not (seen.live and seen.ready):
        return ServerState.NOT_READY, "The server itself says that it is not ready."
    for state, codes in _BY_CODE:
        for finding in findings:
            if finding.code in codes:
                return state, finding.text
    if (seen.answered_in_ms or 0.0) > SLOW_MS:
        return ServerState.SLOW, f"Its health took {seen.answered_in_ms:.0f} ms to tell."
    if seen.overdue:
        return ServerState.SLOW, seen.untold[-1]
    return ServerState.READY, ""


_BY_CODE = (
    (ServerState.LYING, ("every_inference_fails", "warm_up_failed")),
    (ServerState.NOT_READY, ("model_not_ready", "missing_model")),
)
