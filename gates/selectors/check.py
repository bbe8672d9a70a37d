"""May this generation ship or advance? The answer behind `orchid check`.

A person's override belongs to the decision and not to the measurement: it never turns this answer
into a pass.
"""

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from controlplane.errors import BadInput
from controlplane.web import whole_number
from gates.models import Evaluation, Window
from gates.selectors.verdicts import latest, live_window
from gates.states import Action, VerdictState
from ingest.selectors.percentiles import METHOD
from orchid.engine.document.operation import Stage
from policies.models import Product
from policies.selectors import document_of, generation, generations, revision, revision_by_digest

#: Exit codes of the command line. Only a pass is 0; an error of the call itself is 3.
EXIT_CODES = {
    VerdictState.PASS: 0,
    VerdictState.FAIL: 1,
    VerdictState.INCONCLUSIVE: 2,
    VerdictState.NO_DATA: 2,
}

NO_POPULATION = (
    "No data: no gateway population. No request of {} was ever recorded by an edge; "
    "publish it and run one (orchid edge run)."
)

#: An open window that nobody looked at for so long, or for so many steps, is judged by nobody.
UNWATCHED_AFTER = timedelta(minutes=2)
UNWATCHED_STEPS = 3


@dataclass(frozen=True)
class Asked:
    """What to judge: a generation, a publication, a stage of the rollout; else what is live.

    `stage` is the number of a stage in the document, from 1, or the share that it exposes.
    """

    generation: int | None = None
    publication: int | None = None
    stage: str = ""

    @property
    def words(self) -> str:
        parts = [
            f"generation {self.generation}" if self.generation else "",
            f"publication {self.publication}" if self.publication else "",
            f"stage {self.stage}" if self.stage else "",
        ]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Answer:
    """The verdict with its reasons; without a `window` nothing was ever measured."""

    verdict: VerdictState
    reasons: list[str]
    window: Window | None = None
    evaluation: Evaluation | None = field(default=None)
    next_step: str = ""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def validity(self) -> dict[str, Any] | None:
        return self.evaluation.validity if self.evaluation else None

    @property
    def action(self) -> str:
        """What the policy does about it; without a judgement everything stays as it is."""
        return self.evaluation.action if self.evaluation else Action.HOLD

    @property
    def why(self) -> str:
        return self.evaluation.why if self.evaluation else "nothing was judged"

    @property
    def percentile_method(self) -> str:
        """How the percentiles among the values came about."""
        return METHOD

    @property
    def generation(self) -> int | None:
        if self.window is None:
            return None
        found = revision_by_digest(self.window.product, self.window.digest)
        return int(found.generation.number)


def check(product: Product, asked: Asked, now: datetime) -> Answer:
    """Judge what is asked for; nothing measured is never a pass."""
    window = _window(product, asked)
    if window is None:
        return _never_measured(product, asked)
    evaluation = latest(window)
    if evaluation is None:
        reason = "The window has not been judged yet."
        step = "Wait for the next tick: orchid check --wait 60."
        return Answer(VerdictState.NO_DATA, [reason], window, next_step=step)
    reasons, verdict = list(evaluation.reasons), VerdictState(evaluation.verdict)
    unwatched = _unwatched(window, now)
    if unwatched:
        reasons.insert(0, unwatched)
        verdict = VerdictState.INCONCLUSIVE if verdict == VerdictState.PASS else verdict
    return Answer(verdict, reasons, window, evaluation)


def _window(product: Product, asked: Asked) -> Window | None:
    if asked == Asked():
        return live_window(product)
    found = Window.objects.filter(product=product).select_related("product")
    if asked.generation is not None:
        found = found.filter(digest__in=_digests(product, asked.generation))
    if asked.publication is not None:
        found = found.filter(publication=asked.publication)
    if asked.stage:
        found = _at_stage(product, asked, found)
    return found.order_by("-opens_at", "-id").first()


def _digests(product: Product, number: int) -> list[str]:
    """Of every revision; raises NotFound for a number that no generation has."""
    return list(generation(product, number).revisions.values_list("digest", flat=True))


def _at_stage(product: Product, asked: Asked, found: QuerySet[Window]) -> QuerySet[Window]:
    """Of these windows those of a candidate at the stage's exposure."""
    number = whole_number(asked.stage)
    if number is None:
        share: float | None = _share_of(asked.stage)
    else:
        share = _canary(_stages(product, asked, found), number)
    if share is None:
        return found.none()
    near = (share * (1 - 1e-9), share * (1 + 1e-9))
    return found.filter(cohort="candidate", exposure__range=near)


def _share_of(stage: str) -> float:
    """`5%` or `0.05`."""
    text = stage.removesuffix("%")
    try:
        share = float(text) / (100 if stage.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if 0 < share <= 1:
        return share
    detail = f"`stage` is a stage's number from 1 or the share it exposes (5%), not {stage[:40]!r}."
    raise BadInput("not_a_stage", detail)


def _stages(product: Product, asked: Asked, found: QuerySet[Window]) -> tuple[Stage, ...]:
    """Stages of the generation asked for; else of the newest that these windows judge."""
    if asked.generation is not None:
        digest = revision(generation(product, asked.generation)).digest
    else:
        newest = found.order_by("-opens_at", "-id").first()
        digest = newest.digest if newest else revision(generations(product)[0]).digest
    return document_of(digest).rollout.stages


def _canary(stages: tuple[Stage, ...], number: int) -> float | None:
    """The share of a stage; None for one that exposes nobody and so has no window."""
    if not 1 <= number <= len(stages):
        detail = f"The rollout has stages 1 to {len(stages)}, not {number}."
        raise BadInput("not_a_stage", detail)
    return stages[number - 1].canary


def _never_measured(product: Product, asked: Asked) -> Answer:
    """No window: say what is missing, and what brings it about."""
    if asked.publication is not None or asked.stage:
        reason = f"No data: no edge has served {asked.words} long enough for a window to open."
        step = "orchid status shows what is live, and which edge runs what."
        return Answer(VerdictState.NO_DATA, [reason], next_step=step)
    what = f"generation {asked.generation}" if asked.generation else product.slug
    step = (
        f"Propose {what} for publication and let it be approved; until an edge serves it, "
        "orchid policy diff and what-if say what can be said without traffic."
    )
    return Answer(VerdictState.NO_DATA, [NO_POPULATION.format(what)], next_step=step)


def _unwatched(window: Window, now: datetime) -> str:
    quiet = now - (window.watch.looked_at or window.opens_at)
    step = timedelta(seconds=document_of(window.digest).gates.step_s)
    if window.closes_at is not None or quiet <= max(UNWATCHED_AFTER, UNWATCHED_STEPS * step):
        return ""
    return f"Not judged for {quiet.total_seconds():,.0f} s: is a worker running?"
