"""Where a rollout stands: its stage, its clock, its evidence, and what keeps it from moving."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gates.models import Evaluation, Watch
from gates.selectors import window_for
from gates.states import Action, VerdictState
from orchid.engine.document.operation import Rollout as Policy
from orchid.engine.document.operation import Stage
from policies.selectors import document_of
from releases.models import Rollout
from releases.selectors.edges import Acknowledgement, acknowledgement
from releases.states import RolloutState

FRESH_FOR = timedelta(seconds=60)  # what nobody looked at since says nothing of the fleet as it is


@dataclass(frozen=True)
class Progress:
    """A rollout as the tick, the guard of a move and the page all see it."""

    policy: Policy
    index: int
    hold_until: datetime | None
    acknowledged: Acknowledgement
    evaluation: Evaluation | None
    blockers: list[str]

    @property
    def action(self) -> Action:
        """What the gates say that the policy does; without a judgement nothing moves."""
        return Action(self.evaluation.action) if self.evaluation else Action.HOLD

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
    watch = _watch(rollout)
    blockers = [
        *_not_running(rollout),
        *_not_acknowledged(acknowledged),
        *_on_hold(hold_until, now),
        *(_no_fresh_advance(watch, now) if stage.fraction else []),
    ]
    return Progress(
        policy,
        rollout.stage_index,
        hold_until,
        acknowledged,
        watch.evaluation if watch else None,
        blockers,
    )


def _watch(rollout: Rollout) -> Watch | None:
    window = window_for(rollout.product, rollout.publication.number, "candidate")
    return Watch.objects.filter(window=window).select_related("evaluation").first()


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


def _no_fresh_advance(watch: Watch | None, now: datetime) -> list[str]:
    evaluation = watch.evaluation if watch else None
    if watch is None or evaluation is None:
        return ["The gates have not been evaluated on this publication."]
    if evaluation.verdict != VerdictState.PASS:
        said = VerdictState(evaluation.verdict).label.lower()
        return [f"The gates say: {said}.", *evaluation.reasons[:3]]
    if evaluation.action != Action.ADVANCE:
        return [f"The gates pass and hold: {evaluation.why}."]
    if watch.looked_at is None or now - watch.looked_at > FRESH_FOR:
        return ["The last evaluation is too old to go on by."]
    return []
