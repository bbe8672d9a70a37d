"""The simulation of error chances: traffic of known quality, looks that miss nothing, a picture."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks.gates.alpha import peeking, report, study
from benchmarks.gates.alpha.peeking import NEVER, REQUIRED
from benchmarks.gates.alpha.picture import Axes, Curve, draw
from benchmarks.gates.alpha.study import INCIDENTS, SCENARIOS
from benchmarks.gates.alpha.traffic import PER_MINUTE, incidents
from benchmarks.line import Against, Line
from orchid.engine.verdict import shares
from orchid.engine.verdict.design_effect import estimate
from orchid.engine.verdict.result import Levels, Verdict
from orchid.engine.verdict.shares import Counts


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_every_kind_of_traffic_has_exactly_the_share_that_is_due(scenario: study.Scenario) -> None:
    good = scenario.draw(np.random.default_rng(1), 400, 500, REQUIRED)
    assert good.mean() / PER_MINUTE == pytest.approx(REQUIRED, abs=0.002)


def test_incidents_last_for_minutes() -> None:
    good = incidents(INCIDENTS)(np.random.default_rng(2), 50, 2_000, REQUIRED)
    bad = good < 60
    assert bad.mean() == pytest.approx(INCIDENTS.part, rel=0.15)
    assert (bad[:, 1:] & bad[:, :-1]).sum() / bad[:, :-1].sum() == pytest.approx(2 / 3, abs=0.05)


def test_a_run_passes_when_a_gate_would() -> None:
    """Runs that could not cross are left out for speed; none of those left out would have."""
    good = incidents(INCIDENTS)(np.random.default_rng(3), 20, 30, REQUIRED)
    found = peeking.every_minute(good, 2.0)
    levels = Levels(peeking.ALPHA_PASS, peeking.ALPHA_FAIL)
    for row, passed, failed in zip(good.tolist(), found.passed, found.failed, strict=True):
        verdicts = [
            shares.weigh(
                Counts(sum(row[:n]), n * PER_MINUTE, 1, estimate([(k, 100) for k in row[:n]], 2.0)),
                REQUIRED,
                levels,
            ).verdict
            for n in range(2, 31)
        ]
        assert passed == _first(verdicts, Verdict.PASS)
        assert failed == _first(verdicts, Verdict.FAIL)


def _first(verdicts: list[Verdict], wanted: Verdict) -> int:
    return (verdicts.index(wanted) + 2) * PER_MINUTE if wanted in verdicts else NEVER


def test_a_test_for_one_look_keeps_its_chance_at_one_look() -> None:
    good = np.random.default_rng(4).random((4_000, 300)) < REQUIRED
    assert study.part(peeking.fixed_sample(good, least=300)) <= 0.06
    assert study.part(peeking.fixed_sample(good, least=200)) > 0.06


def test_the_picture_is_whole() -> None:
    curves = [Curve("one: of two", [(50.0, 0.0), (400.0, 0.2)]), Curve("a < b: c", [(50.0, 0.1)])]
    root = ET.fromstring(draw(curves, 0.05, Axes(50, 400, 0.3), "Wrong passes"))
    words = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert {"a < b", "declared: 5 %", "100"} <= set(words)


def test_the_table_says_what_was_kept() -> None:
    kept = Line("false pass, coins", 0.04, "of runs", Against("alpha_pass", 0.05), "<= 1")
    broken = Line("false fail, coins", 0.02, "of runs", Against("alpha_fail", 0.01), "<= 1")
    shown = report.table([kept, broken])
    assert "| false pass, coins | 4.00 % | alpha_pass: 5.00 % | kept |" in shown
    assert "**not kept**" in shown
