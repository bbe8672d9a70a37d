"""A cascade's threshold, on which models were really right and wrong."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from orchid.engine.binomial import clopper_pearson, lower_bound, upper_bound
from orchid.engine.threshold import operating_at, threshold_for

DATA = Path(__file__).parents[1] / "data/routing"


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / f"{name}.csv").read_text().splitlines()))


MMLU = rows("mmlu")
SMALL = np.array([int(row["mixtral_8x7b_correct"]) for row in MMLU])
LARGE = np.array([int(row["gpt4_1106_correct"]) for row in MMLU])
SUBJECT = np.array([row["subject"] for row in MMLU])


def scored(known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A classifier by subject: the small model's share of right answers where it is known."""
    score = np.zeros(len(SMALL))
    for subject in np.unique(SUBJECT):
        mine = subject == SUBJECT
        right = SMALL[mine & known]
        score[mine] = (right.sum() + 1) / (len(right) + 2)
    return score


@pytest.mark.parametrize(("target", "least_found"), [(0.25, 30), (0.30, 40)])
def test_a_threshold_keeps_its_bound_on_answers_that_it_has_not_seen(
    target: float, least_found: int
) -> None:
    broken = found = 0
    for seed in range(40):
        part = np.random.default_rng(seed).permutation(len(SMALL)) % 3
        score, chosen, fresh = scored(part == 0), part == 1, part == 2
        kept = threshold_for(score[chosen], SMALL[chosen], target)
        if kept.threshold is None:
            continue
        found += 1
        assert kept.upper <= target
        accepted = fresh & (score >= kept.threshold)
        wrong = int((SMALL[accepted] == 0).sum())
        broken += lower_bound(wrong, int(accepted.sum()), 0.05) > target
    assert found >= least_found
    assert broken <= 4  # two of 40 are expected at most


def test_what_the_threshold_would_have_cost_and_kept() -> None:
    part = np.arange(len(SMALL)) % 3
    score, chosen, fresh = scored(part == 0), part == 1, part == 2
    kept = threshold_for(score[chosen], SMALL[chosen], 0.3)
    assert kept.threshold is not None
    does = operating_at(kept.threshold, score[fresh], SMALL[fresh], LARGE[fresh], 0.1)
    assert does.break_even == pytest.approx(0.9)
    assert does.cost == pytest.approx(0.1 + does.escalation)
    assert does.saves
    assert does.small_accuracy < does.accuracy < does.large_accuracy
    everything = operating_at(0.0, score[fresh], SMALL[fresh], LARGE[fresh], 0.1)
    assert everything.accuracy == everything.small_accuracy
    assert everything.escalation == 0


def test_a_score_that_knows_nothing_gets_no_threshold() -> None:
    """Length of the answer says little of 659 sums, of which the small model solves 64 %."""
    sums = rows("gsm8k")
    score = [-float(row["mixtral_response_chars"]) for row in sums]
    right = [int(row["mixtral_8x7b_correct"]) for row in sums]
    kept = threshold_for(score, right, 0.1)
    assert kept.threshold is None
    assert kept.accepts == 0
    assert kept.upper > 0.1


def test_a_threshold_from_few_answers_is_refused_although_all_are_right() -> None:
    assert threshold_for([0.9] * 20, [1] * 20, 0.1).threshold is None
    assert threshold_for([0.9] * 200, [1] * 200, 0.1).threshold == 0.9


@pytest.mark.parametrize(
    ("scores", "correct", "said"),
    [
        ([], [], "no scored answer"),
        ([0.1], [1, 0], "one verdict for each score"),
        ([float("nan")], [1], "finite"),
        ([0.5], [2], "0 .wrong. or 1 .right."),
    ],
)
def test_unusable_scores_are_refused_in_words(
    scores: list[float], correct: list[int], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        threshold_for(scores, correct, 0.1)


def test_exact_bounds_of_a_share_against_the_published_ones() -> None:
    low, high = clopper_pearson(10, 100)
    assert (round(low, 4), round(high, 4)) == (0.0490, 0.1762)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert upper_bound(0, 59, 0.05) < 0.05 < upper_bound(0, 58, 0.05)  # 59 of 59 for 95 %
