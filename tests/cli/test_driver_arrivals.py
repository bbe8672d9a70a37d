"""What the demo's clients intend follows from the recorded slice, the rate and the seed alone."""

from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest

from orchid.cli.demo.arrivals import DemoRequest, requests
from orchid.formats.arrivals import azure
from orchid.formats.arrivals.shape import Arrival

SECOND_NS = 1_000_000_000


def rows(*at_s: float) -> list[Arrival]:
    return [Arrival(int(at * SECOND_NS), 100, 20) for at in at_s]


def take(count: int, slice_: list[Arrival], rate: float = 1.0, seed: int = 1) -> list[DemoRequest]:
    return list(islice(requests(slice_, rate, seed), count))


def segment(request: DemoRequest) -> str:
    return f"{request.class_.rpartition('_')[2]}-{request.tenant_class}"


def test_gaps_keep_their_proportions_and_make_the_rate() -> None:
    first, second, third, fourth, again = take(5, rows(10, 11, 13, 16), rate=2.0)
    gaps = [second.at_s - first.at_s, third.at_s - second.at_s, fourth.at_s - third.at_s]
    assert gaps[1] / gaps[0] == pytest.approx(2)
    assert gaps[2] / gaps[0] == pytest.approx(3)
    assert again.at_s == pytest.approx(4 / 2.0)


def test_the_slice_repeats_with_fresh_numbers_and_its_own_lengths() -> None:
    slice_ = [Arrival(0, 10, 1), Arrival(SECOND_NS, 20, 2)]
    offered = take(6, slice_)
    assert [request.number for request in offered] == [0, 1, 2, 3, 4, 5]
    assert [request.input_tokens for request in offered] == [10, 20] * 3
    assert all(a.at_s < b.at_s for a, b in pairwise(offered))


def test_the_same_seed_offers_the_same_and_another_seed_another_mix() -> None:
    slice_ = rows(0, 1, 2)
    assert take(50, slice_, seed=7) == take(50, slice_, seed=7)
    assert take(50, slice_, seed=7) != take(50, slice_, seed=8)


def test_the_three_gated_segments_are_about_equal(examples: Path) -> None:
    slice_ = azure.read((examples / "traces/azure-conversation-1000.csv").read_bytes()).arrivals
    offered = take(3000, list(slice_), rate=25)
    shares = Counter(segment(request) for request in offered)
    assert set(shares) == {"assistant-standard", "assistant-premium", "extraction-standard"}
    assert all(900 < count < 1100 for count in shares.values())


def test_a_client_asks_for_a_cap_that_holds_its_answer(examples: Path) -> None:
    slice_ = azure.read((examples / "traces/azure-conversation-1000.csv").read_bytes()).arrivals
    offered = take(1000, list(slice_))
    assert all(request.answer_tokens <= request.max_output_tokens <= 1024 for request in offered)


def test_long_prompts_are_long_assistants_unless_they_are_extraction() -> None:
    slice_ = [Arrival(0, 3000, 5), Arrival(SECOND_NS, 2048, 5)]
    classes = {(r.input_tokens, r.class_) for r in take(200, slice_)}
    assert classes == {
        (3000, "long_assistant"),
        (3000, "structured_extraction"),
        (2048, "short_assistant"),
        (2048, "structured_extraction"),
    }
