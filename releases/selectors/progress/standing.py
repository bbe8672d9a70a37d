"""All of it together: what may move now, and what everything else waits for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from gates.models import Evaluation
from gates.states import Action
from orchid.engine.document.operation import Rollout as Policy
from orchid.engine.document.operation import Stage
from orchid.engine.segments import matches
from releases.models import Rollout
from releases.selectors.edges import Acknowledgement
from releases.selectors.progress import ahead, clock
from releases.selectors.progress.before_canary import own_facts
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.progress.demand import peak
from releases.selectors.progress.judged import gates, gates_of
from releases.selectors.progress.kept import KEEPING, kept
from releases.selectors.progress.places import Place, places, wheres
from releases.selectors.progress.sample import Within, minimum_per_stratum


@dataclass(frozen=True)
class Lane:
    """One segment apart, or ("") the rest: where it stands, and what its next step needs."""

    place: Place
    stage: Stage
    following: Stage | None
    hold_until: datetime | None
    conditions: tuple[Condition, ...]

    @property
    def open(self) -> list[Condition]:
        return [condition for condition in self.conditions if not condition.met]

    @property
    def lacks(self) -> set[str]:
        """The names of the conditions that are open."""
        return {condition.name for condition in self.open}

    @property
    def name(self) -> str:
        return self.place.segment or "everything else"


@dataclass(frozen=True)
class Progress:
    """A rollout as the tick, the guard of a move and the page all see it."""

    policy: Policy
    acknowledged: Acknowledgement
    evaluation: Evaluation | None
    shared: tuple[Condition, ...]
    lanes: tuple[Lane, ...]

    @property
    def action(self) -> Action:
        """What the gates say that the policy does; without a judgement nothing moves."""
        return Action(self.evaluation.action) if self.evaluation else Action.HOLD

    @property
    def rest(self) -> Lane:
        return self.lanes[0]

    @property
    def index(self) -> int:
        return self.rest.place.stage

    @property
    def stage(self) -> Stage:
        return self.rest.stage

    @property
    def hold_until(self) -> datetime | None:
        return self.rest.hold_until

    @property
    def is_apart(self) -> bool:
        """Whether any segment has a stage or a judgement of its own."""
        return len(self.lanes) > 1

    @property
    def is_last(self) -> bool:
        """Whether everything is at the last stage, so that only completion is to come."""
        return all(lane.following is None for lane in self.lanes)

    @property
    def by_hand(self) -> bool:
        """Nothing is measured that could let this stage go on, so a person does."""
        return not self.stage.is_bounded

    @property
    def kept_by(self) -> list[Condition]:
        """What keeps anything of it from being published: a freeze, an overdue second look."""
        return [one for one in self.shared if one.name in KEEPING and not one.met]

    @property
    def waits_for_a_hand(self) -> bool:
        """Its time is over and its conditions hold, but only a person can move it on."""
        return self.by_hand and not self.is_last and not self.waits_for

    @property
    def ready(self) -> tuple[Lane, ...]:
        """What may enter its next stage now."""
        if any(not condition.met for condition in self.shared):
            return ()
        return tuple(lane for lane in self.lanes if lane.following and not lane.open)

    @property
    def waits_for(self) -> list[Condition]:
        """What keeps everything where it is; empty when something may move."""
        if self.ready:
            return []
        moving = [lane for lane in self.lanes if lane.following and not lane.place.held]
        lanes = self.lanes[:1] if self.is_last else moving
        open_ = [condition for lane in lanes for condition in lane.open]
        held = [lane.open[0] for lane in self.lanes if lane.place.held] if not lanes else []
        return list(_once([*(c for c in self.shared if not c.met), *open_, *held]))

    @property
    def blockers(self) -> list[str]:
        """The same as sentences."""
        return [condition.said for condition in self.waits_for]

    @property
    def lacks_a_yes(self) -> tuple[Lane, ...]:
        """What stands at one stage and lacks nothing but the person whom that asks."""
        if any(not condition.met for condition in self.shared):
            return ()
        lanes = [lane for lane in self.lanes if lane.following and lane.lacks == {"approval"}]
        return tuple(lane for lane in lanes if lane.place.stage == lanes[0].place.stage)

    @property
    def earliest(self) -> datetime | None:
        """When the next step is due if time alone is missing; None where it takes more."""
        times = [condition.until for condition in self.waits_for]
        known = [at for at in times if at is not None]
        return max(known) if known and len(known) == len(times) else None


def _once(found: Iterable[Condition]) -> Iterator[Condition]:
    """What several segments wait for is said once."""
    said: set[str] = set()
    for condition in found:
        if condition.said not in said:
            said.add(condition.said)
            yield condition


def progress(rollout: Rollout, now: datetime) -> Progress:
    """Read everything that a move depends on."""
    stand = Stand(rollout, now)
    stands = places(rollout)
    return Progress(
        policy=stand.document.rollout,
        acknowledged=stand.acknowledged,
        evaluation=stand.evaluation,
        shared=(*clock.standing(stand), *kept(stand, stands)),
        lanes=tuple(_lane(stand, place, stands) for place in stands),
    )


def _lane(stand: Stand, place: Place, stands: list[Place]) -> Lane:
    stages = stand.document.rollout.stages
    stage = stages[place.stage]
    following = stages[place.stage + 1] if place.stage + 1 < len(stages) else None
    conditions = tuple(_conditions(stand, place, stands, following))
    return Lane(place, stage, following, clock.hold_until(stand, stage), conditions)


def _conditions(
    stand: Stand, place: Place, stands: list[Place], following: Stage | None
) -> Iterator[Condition]:
    stage = stand.document.rollout.stages[place.stage]
    if place.held:
        yield Condition(
            "held", False, f"{place.segment} is held back until somebody lets it go on."
        )
    yield clock.hold(stand, stage)
    if stage.fraction:
        yield from _judged(stand, place, stands, stage)
    else:
        yield from own_facts(stand)
    if stage.minimum_per_stratum is not None:
        within = _within(stand, place, stands)
        least = stage.minimum_per_stratum
        yield from minimum_per_stratum(stand, least, place.segment, within)
    if stage.peak is not None:
        yield peak(stand, stand.opened_at or stand.now, stage.peak, "This stage")
    if following is not None:
        yield from ahead.before(stand, following)
        yield from ahead.approval(stand, place.segment, stage)


def _judged(stand: Stand, place: Place, stands: list[Place], stage: Stage) -> Iterator[Condition]:
    """Together where everything stands at the last stage, so that the whole has to pass."""
    last = len(stand.document.rollout.stages) - 1
    if len(stands) == 1 or all(one.stage == last for one in stands):
        yield from gates(stand)
        return
    apart = frozenset(one.segment for one in stands if one.segment)
    yield from gates_of(stand, place.segment, apart, clock.hold_until(stand, stage))


def _within(stand: Stand, place: Place, stands: list[Place]) -> Within:
    gated = wheres(stand.document)
    if place.segment:
        return lambda dims: matches(gated[place.segment], dims)
    others = [gated[one.segment] for one in stands if one.segment]

    def of_the_rest(dims: Mapping[str, str]) -> bool:
        return not any(matches(where, dims) for where in others)

    return of_the_rest
