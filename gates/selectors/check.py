"""May this generation ship or advance? The answer behind `orchid check`."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gates.models import Evaluation, Window
from gates.selectors.verdicts import latest, live_window
from gates.states import VerdictState
from policies.models import Product
from policies.selectors import generation

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

#: An open window that was not judged for this long is judged by nobody.
UNWATCHED_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class Answer:
    """The verdict with its reasons; without a `window` nothing was ever measured."""

    verdict: VerdictState
    reasons: list[str]
    window: Window | None = None
    evaluation: Evaluation | None = field(default=None)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]


def check(product: Product, number: int | None, now: datetime) -> Answer:
    """Judge a generation by number, or what is live; nothing measured is never a pass."""
    window = _window(product, number)
    if window is None:
        what = f"generation {number}" if number else product.slug
        return Answer(VerdictState.NO_DATA, [NO_POPULATION.format(what)])
    evaluation = latest(window)
    if evaluation is None:
        return Answer(VerdictState.NO_DATA, ["The window has not been judged yet."], window)
    reasons = list(evaluation.reasons)
    verdict = VerdictState(evaluation.verdict)
    unwatched = _unwatched(window, evaluation, now)
    if unwatched:
        reasons.insert(0, unwatched)
        verdict = VerdictState.INCONCLUSIVE if verdict == VerdictState.PASS else verdict
    return Answer(verdict, reasons, window, evaluation)


def _window(product: Product, number: int | None) -> Window | None:
    if number is None:
        return live_window(product)
    digests = generation(product, number).revisions.values_list("digest", flat=True)
    found = Window.objects.filter(product=product, digest__in=digests)
    return found.order_by("-opens_at", "-id").first()


def _unwatched(window: Window, evaluation: Evaluation, now: datetime) -> str:
    quiet = now - evaluation.evaluated_at
    if window.closes_at is not None or quiet <= UNWATCHED_AFTER:
        return ""
    return f"Not judged for {quiet.total_seconds():,.0f} s: is a worker running?"
