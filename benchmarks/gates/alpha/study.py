"""The whole simulation: what is drawn, how often it is judged wrongly, how long it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.gates.alpha import peeking
from benchmarks.gates.alpha.peeking import NEVER, REQUIRED, First, Firsts
from benchmarks.gates.alpha.traffic import PER_MINUTE, Bad, Draw, incidents, uneven
from orchid.engine.verdict import design_effect

SEED = 20260302
#: Runs that are drawn, and for which a prior is declared, at a time.
CHUNK = 500
WEEK_MINUTES = 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is drawn."""

    runs: int
    requests: int
    """Of a run that is looked at after every request."""
    minutes: int
    """Of a run that is looked at after every minute."""
    power_runs: int
    detector_runs: int


FULL = Scale(runs=10_000, requests=2_000, minutes=300, power_runs=2_000, detector_runs=1_000)
SMOKE = Scale(runs=50, requests=300, minutes=20, power_runs=50, detector_runs=20)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of traffic; `declared` tells whether a week's past gives the prior, or it is 1."""

    name: str
    draw: Draw
    declared: bool


#: Three minutes in a hundred, three in a row, in which four of five requests fail.
INCIDENTS = Bad(0.03, 3, 0.2)

SCENARIOS = (
    Scenario("uneven minutes", uneven, True),
    Scenario("bad minutes", incidents(Bad(0.1, 2, 0.8)), True),
    Scenario("incidents", incidents(INCIDENTS), True),
    Scenario("incidents, none declared", incidents(INCIDENTS), False),
)


def at_the_bound(scenario: Scenario, scale: Scale) -> Firsts:
    """First passes and fails where the share is exactly the one that is due, minute by minute."""

    def chunk(generator: np.random.Generator, runs: int) -> Firsts:
        prior = declared_prior(scenario.draw, generator) if scenario.declared else 1.0
        good = scenario.draw(generator, runs, scale.minutes, REQUIRED)
        return peeking.every_minute(good, prior)

    # What is only shown needs fewer runs.
    return _joined(scale.runs if scenario.declared else scale.power_runs, chunk)


def declared_prior(draw: Draw, generator: np.random.Generator) -> float:
    """The design effect that one week of the same traffic shows, on its unfavourable side."""
    past = draw(generator, 1, WEEK_MINUTES, REQUIRED)
    sizes = np.full(past.shape, PER_MINUTE)
    found = design_effect.estimate_all(past, sizes, 1.0, design_effect.PAST)
    return float(found[0])


def by_request(share: float, runs: int, requests: int) -> tuple[Firsts, First]:
    """Independent requests looked at one by one: our verdicts, and the test made for one look."""
    fixed: list[First] = []

    def chunk(generator: np.random.Generator, size: int) -> Firsts:
        good = generator.random((size, requests)) < share
        fixed.append(peeking.fixed_sample(good))
        return peeking.every_request(good, prior=1.0)

    return _joined(runs, chunk), np.concatenate(fixed)


def _joined(runs: int, chunk: Callable[[np.random.Generator, int], Firsts]) -> Firsts:
    """Every chunk from a generator of its own, so that any of them can be drawn again alone."""
    seeds = np.random.SeedSequence(SEED).spawn(-(-runs // CHUNK))
    parts = [
        chunk(np.random.default_rng(seed), size)
        for seed, size in zip(seeds, _sizes(runs), strict=True)
    ]
    passed, failed = ([getattr(part, name) for part in parts] for name in Firsts.__slots__)
    return Firsts(np.concatenate(passed), np.concatenate(failed))


def _sizes(runs: int) -> Iterator[int]:
    for begun in range(0, runs, CHUNK):
        yield min(CHUNK, runs - begun)


def part(first: First) -> float:
    """The part of the runs in which it ever happened."""
    return float(np.mean(first != NEVER))


def needed(first: First, runs: float, most: int) -> float:
    """The requests by which so large a part of the runs had passed; `most` were looked at."""
    return float(min(most, np.quantile(first, runs, method="inverted_cdf")))
