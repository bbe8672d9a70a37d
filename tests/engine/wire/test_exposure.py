"""Whom a candidate serves: growing takes more in and lets nobody go."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.wire.bundle import (
    Exposure,
    SegmentExposure,
    exposed,
    fraction_of,
    stratum_of,
)

FRACTIONS = st.floats(0, 1)
NAMES = st.text(max_size=12)
SPLIT = ("risk", "language")


def cohort(exposure: Exposure, dimensions: dict[str, str], unit: str) -> bool:
    """As an edge decides it."""
    stratum = stratum_of(exposure.strata, dimensions)
    return exposed(exposure.salt, stratum, unit, fraction_of(exposure, dimensions))


def split(fraction: float, *segments: SegmentExposure) -> Exposure:
    return Exposure(0, fraction, "salt", SPLIT, by_segment=segments or msgspec.UNSET)


def regulated(fraction: float) -> SegmentExposure:
    return SegmentExposure({"risk": ("regulated", "high")}, fraction)


@given(salt=NAMES, stratum=NAMES, unit=NAMES, parts=st.lists(FRACTIONS, min_size=2))
def test_growing_never_moves_a_unit_that_was_in(
    salt: str, stratum: str, unit: str, parts: list[float]
) -> None:
    seen = [exposed(salt, stratum, unit, part) for part in sorted(parts)]
    assert seen == sorted(seen)


@given(unit=NAMES, salt=NAMES, stratum=NAMES)
def test_nobody_is_exposed_at_nothing_and_everybody_at_the_whole(
    unit: str, salt: str, stratum: str
) -> None:
    assert not exposed(salt, stratum, unit, 0.0)
    assert exposed(salt, stratum, unit, 1.0)


@given(
    unit=NAMES,
    risk=st.sampled_from(["regulated", "high", "low"]),
    whole=st.tuples(FRACTIONS, FRACTIONS).map(sorted),
    own=st.tuples(FRACTIONS, FRACTIONS).map(sorted),
)
def test_a_segment_apart_grows_by_itself_and_moves_no_unit_either(
    unit: str, risk: str, whole: list[float], own: list[float]
) -> None:
    dimensions = {"risk": risk, "language": "de"}
    seen = [
        cohort(split(part, regulated(segment)), dimensions, unit)
        for part, segment in zip(whole, own, strict=True)
    ]
    assert seen == sorted(seen)
    alone = [cohort(split(part), dimensions, unit) for part in (own if risk != "low" else whole)]
    assert seen == alone


@given(st.integers(0, 2**32))
def test_each_stratum_gives_its_own_part(seed: int) -> None:
    """1,000 units at 30 %: six standard deviations are 87."""
    for language in ("de", "en", "-"):
        stratum = stratum_of(SPLIT, {"risk": "low", "language": language})
        taken = sum(exposed("salt", stratum, f"{seed}-{n}", 0.3) for n in range(1000))
        assert 213 <= taken <= 387


def test_strata_split_by_themselves_so_that_one_unit_of_two_is_two_draws() -> None:
    draws = [
        (exposed("s", "risk=low", str(n), 0.5), exposed("s", "risk=high", str(n), 0.5))
        for n in range(400)
    ]
    assert 120 <= sum(one == other for one, other in draws) <= 280


@pytest.mark.parametrize("segments", [(), (regulated(0.5),)])
def test_an_exposure_says_segments_only_where_some_move_apart(
    segments: tuple[SegmentExposure, ...],
) -> None:
    said = msgspec.json.encode(split(0.25, *segments))
    assert (b"by_segment" in said) is bool(segments)
    assert msgspec.json.decode(said, type=Exposure) == split(0.25, *segments)
