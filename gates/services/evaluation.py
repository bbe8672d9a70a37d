"""Judge a window: validity, then every gate, stored once for equal inputs."""

import math
from datetime import datetime
from typing import Any

from django.db import transaction

from gates.models import Evaluation, Verdict, Window
from gates.services.inputs import Inputs, gather
from gates.services.reporting import figures_of
from orchid.engine.verdict import validity
from orchid.engine.verdict.combine import Overall, combine
from orchid.engine.verdict.gates import judge
from orchid.engine.verdict.result import Result


@transaction.atomic
def evaluate(window_id: int, now: datetime) -> Evaluation:
    """Judge the window at `now`. Safe to run twice or twice at once: equal inputs are one row."""
    window = Window.objects.select_for_update().select_related("product").get(pk=window_id)
    inputs = gather(window, now)
    digest = inputs.digest
    evaluation = window.evaluations.filter(inputs_digest=digest).first()
    if evaluation is None:
        evaluation = _judge(window, inputs, digest, now)
    window.judged_to = inputs.end
    window.judged_state = validity.worst(inputs.checks)
    window.save(update_fields=["judged_to", "judged_state"])
    return evaluation


def _judge(window: Window, inputs: Inputs, digest: str, now: datetime) -> Evaluation:
    judged = judge(inputs.document, inputs.observed)
    overall = combine(judged.results, inputs.document.gates.alpha_fail)
    evaluation = Evaluation.objects.create(
        window=window,
        watermark=inputs.end,
        inputs_digest=digest,
        evidence_digest=inputs.evidence_digest,
        evaluated_at=now,
        validity=_validity(inputs),
        verdict=validity.apply(overall.verdict, inputs.checks),
        reasons=_reasons(inputs, overall),
        figures=figures_of(inputs, judged),
    )
    Verdict.objects.bulk_create(_row(evaluation, result) for result in judged.results)
    return evaluation


def _validity(inputs: Inputs) -> dict[str, Any]:
    state = validity.worst(inputs.checks)
    return {
        "valid": state is validity.State.OK,
        "attribution": all(check.state is not validity.State.BROKEN for check in inputs.checks),
        "state": state,
        "checks": [
            {"name": check.name, "state": check.state, "message": check.message}
            for check in inputs.checks
        ],
    }


def _reasons(inputs: Inputs, overall: Overall) -> list[str]:
    off = [check for check in inputs.checks if check.state is not validity.State.OK]
    return [f"{check.name}: {check.message}" for check in off] + list(overall.reasons)


def _row(evaluation: Evaluation, result: Result) -> Verdict:
    return Verdict(
        evaluation=evaluation,
        metric=result.metric,
        segment=result.segment,
        verdict=result.verdict,
        value=result.value,
        bound=result.bound,
        margin=result.margin,
        low=_finite(result.low),
        high=_finite(result.high),
        n=result.n,
        n_effective=result.n_effective,
        minimum=result.minimum,
        log_e_pass=_finite(result.log_e_pass),
        log_e_fail=_finite(result.log_e_fail),
        needs=result.needs,
        fragile=result.fragile,
        message=result.message,
    )


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number
