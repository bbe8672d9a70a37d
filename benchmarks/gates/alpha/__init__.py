"""Do verdicts keep the error chances that a document declares, however often one looks?

Requests of a share that is exactly the one due are drawn, 10,000 runs of each kind of traffic, and
judged again and again by the production functions: every pass and every fail is an error. Beside
it: what the exact binomial test, which is made for one look, does under the same looks; how many
requests a true pass takes; and how long the detector of a live generation runs.
"""

from collections.abc import Iterator

from benchmarks.gates.alpha import detection, report, study
from benchmarks.gates.alpha.peeking import (
    ALPHA_FAIL,
    ALPHA_PASS,
    REQUIRED,
    First,
    Firsts,
    fixed_sample_size,
)
from benchmarks.gates.alpha.picture import Curve
from benchmarks.gates.alpha.study import FULL, SCENARIOS, SMOKE, Scale, needed, part
from benchmarks.gates.alpha.traffic import PER_MINUTE
from benchmarks.line import Against, Line

#: A share that clearly passes, as the reference product's does.
GOOD = 0.984


def run(smoke: bool) -> Iterator[Line]:
    """Every figure; a full run also writes the documents' data, table and picture."""
    scale = SMOKE if smoke else FULL
    judged = not smoke
    lines: list[Line] = []
    curves: list[Curve] = []
    for found in (_independent(scale, judged), _correlated(scale, judged)):
        lines += found[0]
        curves += found[1]
        yield from found[0]
    rest = [*_power(scale), *_detector(scale, judged)]
    yield from rest
    if judged:
        report.write([*lines, *rest], curves)


def _independent(scale: Scale, judged: bool) -> tuple[list[Line], list[Curve]]:
    firsts, fixed = study.by_request(REQUIRED, scale.runs, scale.requests)
    lines = [
        *_errors(
            "independent", firsts, judged, f"a look after each of {scale.requests:,} requests"
        ),
        Line(
            "false pass, binomial test made for one look",
            part(fixed),
            "of runs",
            Against("alpha_pass", ALPHA_PASS),
            note="the same runs and looks, from 200 requests on",
        ),
    ]
    curves = [
        report.curve("binomial test for one look: independent requests", fixed, scale.requests),
        report.curve("e-value: independent requests", firsts.passed, scale.requests),
    ]
    return lines, curves


def _correlated(scale: Scale, judged: bool) -> tuple[list[Line], list[Curve]]:
    lines, curves = [], []
    for scenario in SCENARIOS:
        firsts = study.at_the_bound(scenario, scale)
        told = "prior from a week's past" if scenario.declared else "prior 1: not covered"
        note = f"a look after each of {scale.minutes} minutes; {told}"
        lines += _errors(scenario.name, firsts, judged and scenario.declared, note)
        if scenario.name.startswith("incidents"):
            name = f"e-value: {scenario.name.replace('incidents, none', 'incidents, prior not')}"
            curves.append(report.curve(name, firsts.passed, scale.minutes * PER_MINUTE))
    return lines, curves


def _errors(name: str, firsts: Firsts, judged: bool, note: str) -> list[Line]:
    goal = "<= 1" if judged else None

    def line(kind: str, first: First, level: str, alpha: float) -> Line:
        against = Against(level, alpha)
        return Line(f"{kind}, {name}", part(first), "of runs", against, goal, note=note)

    return [
        line("false pass", firsts.passed, "alpha_pass", ALPHA_PASS),
        line("false fail", firsts.failed, "alpha_fail", ALPHA_FAIL),
    ]


def _power(scale: Scale) -> Iterator[Line]:
    firsts, _ = study.by_request(GOOD, scale.power_runs, scale.requests)
    for share in (0.5, 0.9):
        yield Line(
            f"requests to a pass of {GOOD:.1%} in {share:.0%} of runs".replace("%", " %"),
            needed(firsts.passed, share, scale.requests),
            "requests",
            Against("binomial test for one look", fixed_sample_size(GOOD, share)),
            note="the test's size is chosen before, and it may be looked at once",
        )


def _detector(scale: Scale, judged: bool) -> Iterator[Line]:
    found = detection.measure(scale.detector_runs)
    yield Line(
        "detector: mean steps to a false alarm",
        found.false_mean,
        "steps",
        Against("declared run length", detection.RUN_LENGTH),
        ">= 1" if judged else None,
        note="at the bound, where false alarms are most frequent",
    )
    yield Line(
        f"detector: median steps to see {detection.FALLEN:.0%}".replace("%", " %"),
        found.delay_median,
        "steps",
        Against("expected", found.delay_expected),
        note="100 requests a step, a month to a false alarm",
    )
