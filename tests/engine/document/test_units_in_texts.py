"""Shares and durations are written in one way in every text that a person reads."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchid.engine.document.values import duration_words, percent

ROOT = Path(__file__).parents[3]
ROOMS = ("orchid", "accounts", "policies", "ingest", "gates", "releases", "controlplane")
#: Python's own form of a share, `8.4%`, has no space before the sign.
BARE = re.compile(r":[+,]?\.\d%\}")


def sources() -> Iterator[Path]:
    for room in ROOMS:
        yield from (ROOT / room).rglob("*.py")


@pytest.mark.parametrize(
    ("share", "places", "said"), [(0.0841, 1, "8.4 %"), (0.95, 0, "95 %"), (-0.226, 1, "-22.6 %")]
)
def test_a_share_is_written_with_a_space(share: float, places: int, said: str) -> None:
    assert percent(share, places) == said


def test_a_change_carries_its_sign() -> None:
    assert percent(0.05, signed=True) == "+5 %"


def test_no_text_writes_a_share_in_another_way() -> None:
    assert [str(path) for path in sources() if BARE.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (250, "250 ms"),
        (20_000, "20 s"),
        (150_000, "150 s"),
        (900_000, "15 min"),
        (86_400_000, "1 d"),
    ],
)
def test_a_duration_is_written_with_a_space(milliseconds: int, said: str) -> None:
    assert duration_words(milliseconds) == said
