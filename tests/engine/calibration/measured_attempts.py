"""Attempts drawn from a demand model whose factors are known."""

from dataclasses import dataclass, field

import numpy as np

from orchid.engine.calibration.samples import AttemptSample

WEIGHT, MS_PER_TEU = 0.12, 0.5
FACTORS = {"compact": 0.3, "full": 1.0, "premium": 3.0}
FIXED_MS = {"compact": 2.0, "full": 5.0, "premium": 10.0}
UNBALANCED = {"compact": 0.6, "full": 0.35, "premium": 0.05}


@dataclass(frozen=True)
class World:
    """How attempts come about: `gross` of them take a tenth or ten times what they should."""

    noise: float = 0.05
    gross: float = 0.1
    fixed_ms: dict[str, float] = field(default_factory=lambda: FIXED_MS)

    def attempts(self, n: int, seed: int) -> list[AttemptSample]:
        dice = np.random.default_rng(seed)
        routes = dice.choice(list(UNBALANCED), n, p=list(UNBALANCED.values()))
        return [self.attempt(str(route), dice) for route in routes]

    def attempt(self, route: str, dice: np.random.Generator) -> AttemptSample:
        tokens = int(np.clip(dice.lognormal(6.5, 1), 1, 8000))
        output = int(np.clip(dice.lognormal(4.8, 0.8), 1, 1000))
        cached = tokens // 2 if dice.random() < 0.3 else 0
        work = WEIGHT * (tokens - cached) + output
        ms = self.fixed_ms[route] + MS_PER_TEU * FACTORS[route] * work
        ms *= float(np.exp(self.noise * dice.normal()))
        if dice.random() < self.gross:
            ms *= float(dice.choice([0.1, 10.0]))
        return AttemptSample(route, tokens, cached, output, ms, max_output_tokens=output)
