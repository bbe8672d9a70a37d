"""Where a rollout stands: its stage, its clock, its evidence, and what keeps it from moving."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gates.models import Evaluation
from gates.selectors import latest as latest_evaluation
from gates.selectors import window_for
from gates.states import VerdictState
from orchid.engine.document.operation import Rollout as Policy
from orchid.engine.document.operation import Stage
from policies.selectors import document_of
from releases.models import Rollout
from releases.selectors.edges import Acknowledgement, acknowledgement
from releases.states import RolloutState

FRESH_FOR = timedelta(seconds=60)  # an older evaluation says nothing about the fleet as it is


@dataclass(frozen=True)
class Progress:
    """A rollout as the tick, the guard of a move and the page all see it."""

    policy: Policy
    index: int
    hold_until: datetime | None
    acknowledged: Acknowledgement
    evaluation: Evaluation | None
    blockers: list[str]
    breach: str

    @property
    def stage(self) -> Stage:
        return self.policy.stages[self.index]

    @property
    def is_last(self) -> bool:
        return self.index + 1 == len(self.policy.stages)

    @property
    def by_hand(self) -> bool:
        """No request is the candidate’s before the canary, so no gate speaks: a person goes on."""
        return self.stage.fraction == 0.0


def progress(rollout: Rollout, now: datetime) -> Progress:
    """Read everything an advance depends on; `blockers` is empty when it may happen."""
    policy = document_of(rollout.candidate_digest).rollout
    stage = policy.stages[rollout.stage_index]
    acknowledged = acknowledgement(
        rollout.product, rollout.publication, policy.acknowledged_share, now
    )
    hold_until = _hold_until(rollout, stage)
    evaluation = _evaluation(rollout)
    blockers = [
        *_not_running(rollout),
        *_not_acknowledged(acknowledged),
        *_on_hold(hold_until, now),
        *(_no_fresh_pass(evaluation, hold_until, now) if stage.fraction else []),
    ]
    return Progress(
        policy,
        rollout.stage_index,
        hold_until,
        acknowledged,
        evaluation,
        blockers,
        _breach(evaluation),
    )


def _evaluation(rollout: Rollout) -> Evaluation | None:
    window = window_for(rollout.product, rollout.publication.number, "candidate")
    return latest_evaluation(window) if window else None


def _hold_until(rollout: Rollout, stage: Stage) -> datetime | None:
    if rollout.stage_opened_at is None:
        return None
    return rollout.stage_opened_at + timedelta(milliseconds=stage.hold_ms or 0)


def _not_running(rollout: Rollout) -> list[str]:
    if rollout.state == RolloutState.RUNNING:
        return []
    return [f"The rollout is {rollout.status.label.lower()}."]


def _not_acknowledged(found: Acknowledgement) -> list[str]:
    if found.reached_at is not None:
        return []
    names = ", ".join(f"{edge.name} ({edge.standing})" for edge in found.missing)
    return [f"Not every edge runs it: {names}." if names else "No edge is registered."]


def _on_hold(hold_until: datetime | None, now: datetime) -> list[str]:
    if hold_until is None:
        return ["The hold clock has not started."]
    return ["The hold is not over."] if now < hold_until else []


def _no_fresh_pass(
    evaluation: Evaluation | None, hold_until: datetime | None, now: datetime
) -> list[str]:
    if evaluation is None:
        return ["The gates have not been evaluated on this publication."]
    if evaluation.verdict != VerdictState.PASS:
        said = VerdictState(evaluation.verdict).label.lower()
        return [f"The gates say: {said}.", *evaluation.reasons[:3]]
    covers = hold_until is not None and evaluation.watermark and evaluation.watermark >= hold_until
    if not covers or now - evaluation.evaluated_at > FRESH_FOR:
        return ["The last evaluation does not cover the whole hold."]
    return []


def _breach(evaluation: Evaluation | None) -> str:
    """Why to stop early. A verdict is only fail where its evidence may show harm."""
    if evaluation is None or evaluation.verdict != VerdictState.FAIL:
        return ""
    return "A gate failed on this publication’s own requests"
