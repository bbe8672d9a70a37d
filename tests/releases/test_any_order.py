"""Whatever comes in whatever order and however often: no advance without a fresh pass, ever once.

A course is a list of events about one rollout: ticks, judgements old and new, edges that fall
silent, people who click on what they saw a while ago, time that passes in small and large steps.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import AuditEvent
from controlplane.errors import Conflict
from gates.models import Evaluation, Watch, Window
from policies.models import Product
from releases.models import Activation, Edge, EdgeSeen, Publication, Rollout
from releases.selectors.progress.judged import FRESH_FOR
from releases.services import rollout as moves
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from tests.releases.releases_cast import actor, judged, published, says

HOLD = timedelta(seconds=20)
STAGES = [{"canary": part, "hold": "20s"} for part in (0.1, 0.5, 1.0)]
EVENTS = [
    "tick",
    "tick",
    "a second",
    "a hold",
    "three holds",
    "activated",
    "silent",
    "pass",
    "pass",
    "inconclusive",
    "old pass",
    "looked at long ago",
    "person advances",
    "stale click",
    "pause",
    "resume",
]
RARE = ["fail", "person rolls back"]


@dataclass
class Course:
    """One rollout, one clock, and what was true when something moved."""

    product: Product
    gateway: Edge
    rollout: Rollout
    now: datetime
    seen_versions: list[int] = field(default_factory=lambda: [1])

    def play(self, event: str) -> None:
        before = Publication.objects.filter(kind="advance").count()
        acts: dict[str, Callable[[], object]] = {
            "tick": self.tick,
            "a second": lambda: self.passed(timedelta(seconds=1)),
            "a hold": lambda: self.passed(HOLD),
            "three holds": lambda: self.passed(3 * HOLD),
            "activated": self.activated,
            "silent": lambda: self.passed(timedelta(seconds=46), heard=False),
            "pass": lambda: self.judged("pass"),
            "inconclusive": lambda: self.judged("inconclusive"),
            "fail": lambda: self.judged("fail"),
            "old pass": lambda: self.judged("pass", self.now - FRESH_FOR - HOLD),
            "looked at long ago": self.aged,
            "person advances": lambda: self.moves(self.fresh().version),
            "stale click": lambda: self.moves(self.seen_versions[0]),
            "pause": lambda: moves.pause(actor("dee"), self.fresh(), "a look first"),
            "resume": lambda: moves.resume(actor("dee"), self.fresh(), "all well"),
            "person rolls back": lambda: roll_back(actor("dee"), self.product, "users complain"),
        }
        justified = self.justified()
        with suppress(Conflict), transaction.atomic():
            acts[event]()
        self.seen_versions.append(self.fresh().version)
        made = Publication.objects.filter(kind="advance").count() - before
        assert made in (0, 1)
        assert not made or justified, f"{event} advanced without a fresh pass over the hold"

    def fresh(self) -> Rollout:
        rows = Rollout.objects.select_related("product", "publication")
        return rows.get(pk=self.rollout.pk)

    def tick(self) -> None:
        """As two workers run it: the second finds what the first has done."""
        count = Publication.objects.count()
        reconcile(self.product.pk, self.now)
        reconcile(self.product.pk, self.now)
        assert Publication.objects.count() - count <= 1

    def passed(self, time: timedelta, *, heard: bool = True) -> None:
        self.now += time
        if heard:
            EdgeSeen.objects.update(at=self.now)

    def activated(self) -> None:
        newest = latest(self.product)
        if not Activation.objects.filter(publication=newest, state="active").exists():
            says(self.gateway, newest, at=self.now)
        EdgeSeen.objects.update(at=self.now)

    def window(self) -> Window | None:
        number = self.fresh().publication.number
        return Window.objects.filter(publication=number, cohort="candidate").first()

    def judged(self, verdict: str, at: datetime | None = None) -> None:
        window, at = self.window(), at or self.now
        if window is None:
            return
        digest = f"sha256:{at.isoformat()}{verdict}"
        known = Evaluation.objects.filter(window=window, inputs_digest=digest)
        if not known.exists():
            judged(window, verdict, at)

    def aged(self) -> None:
        Watch.objects.update(looked_at=self.now - FRESH_FOR - timedelta(seconds=1))

    def moves(self, version: int) -> None:
        moves.advance(actor("dee"), self.fresh(), expected_version=version, now=self.now)

    def justified(self) -> bool:
        """By rows alone, not by what the code under test makes of them."""
        row, window = self.fresh(), self.window()
        watch = Watch.objects.filter(window=window).first() if window else None
        if row.state != "running" or window is None or watch is None or watch.looked_at is None:
            return False
        evaluation = watch.evaluation
        assert evaluation is not None
        covered = evaluation.watermark >= window.opens_at + HOLD
        fresh = self.now - watch.looked_at <= FRESH_FOR
        return evaluation.verdict == "pass" and covered and fresh and self.now >= row_hold(row)

    def settled(self) -> None:
        """What must hold of any course when it is over."""
        numbers = list(Publication.objects.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        acts = AuditEvent.objects.filter(action="rollout.advance").count()
        assert acts == Publication.objects.filter(kind="advance").count() <= len(STAGES) - 1
        rows = Publication.objects.filter(candidate_digest__isnull=False).order_by("number")
        fractions = list(rows.values_list("fraction", flat=True))
        assert fractions == sorted(fractions)
        if Evaluation.objects.filter(verdict="fail", watch__isnull=False).exists():
            self.tick()
            assert self.fresh().state != "running"


def row_hold(row: Rollout) -> datetime:
    """When the stage's clock has run; never, before it was started."""
    far = datetime.max.replace(tzinfo=timezone.now().tzinfo)
    return row.stage_opened_at + HOLD if row.stage_opened_at else far


def course(product: Product, gateway: Edge) -> Course:
    rollout = published(product, stages=STAGES, on_breach="rollback")
    return Course(product, gateway, rollout, timezone.now())


# Cases 8 and 34
@given(st.lists(st.sampled_from(EVENTS + RARE), min_size=4, max_size=24))
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_course_advances_without_a_fresh_pass_or_twice(
    product: Product, gateway: Edge, events: list[str]
) -> None:
    with transaction.atomic():
        one = course(product, gateway)
        for event in ["activated", "tick", *events]:
            one.play(event)
        one.settled()
        transaction.set_rollback(True)


# Case 8
def test_a_course_that_goes_well_goes_through_every_stage_and_completes(
    product: Product, gateway: Edge
) -> None:
    one = course(product, gateway)
    for _ in STAGES:
        for event in ("activated", "tick", "tick", "a hold", "pass", "tick", "tick"):
            one.play(event)
    one.settled()
    assert one.fresh().state == "completed"
    assert Publication.objects.filter(kind="advance").count() == 2


def test_harm_is_acted_on_by_the_first_tick_after_it_was_stored(
    product: Product, gateway: Edge
) -> None:
    """A tick comes each second, so a stored breach is answered well within ten."""
    one = course(product, gateway)
    for event in ("activated", "tick", "a second", "fail"):
        one.play(event)
    stored = Evaluation.objects.latest("id").evaluated_at
    one.play("a second")
    one.play("tick")
    assert one.fresh().state == "rolled_back"
    assert Publication.objects.latest("number").kind == "rollback"
    assert one.now - stored <= timedelta(seconds=10)
