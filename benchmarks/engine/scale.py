"""How much is measured: enough for a judgement, or just enough to see that it runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts of one run. A smoke run judges no speed: its lines carry no goals."""

    questions: int  # that every peer must answer as we do, before it is timed
    rounds: int
    round_s: float  # what one round of a contender takes, about
    decisions_kept_flat: int
    records: int
    judged: bool

    def goal(self, text: str) -> str | None:
        return text if self.judged else None


FULL = Scale(
    questions=5_000,
    rounds=11,
    round_s=0.5,
    decisions_kept_flat=10_000_000,
    records=1_000_000,
    judged=True,
)
SMOKE = Scale(
    questions=300,
    rounds=2,
    round_s=0.02,
    decisions_kept_flat=10_000,
    records=1_000,
    judged=False,
)
