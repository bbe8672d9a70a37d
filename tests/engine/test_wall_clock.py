"""Hours of the wall that never come, that come twice, and zones that nobody knows."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchid.engine.wall_clock import UnknownZone, read_wall, wall_at, zone_words

BERLIN = "Europe/Berlin"


def wall(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute)  # noqa: DTZ001 - a wall has no offset


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_plain_hour_is_one_instant() -> None:
    found = read_wall(wall(2026, 12, 1, 9, 0), BERLIN)
    assert found.instants == (utc("2026-12-01T08:00"),)
    assert found.change is None
    assert found.earliest == found.latest == utc("2026-12-01T08:00")


def test_an_hour_that_is_skipped_has_no_instant_and_names_the_jump() -> None:
    found = read_wall(wall(2026, 3, 29, 2, 30), BERLIN)
    assert found.instants == ()
    assert found.change == utc("2026-03-29T01:00")
    assert found.earliest == found.latest == utc("2026-03-29T01:00")


def test_an_hour_that_comes_twice_has_both_instants() -> None:
    found = read_wall(wall(2026, 10, 25, 2, 30), BERLIN)
    assert found.instants == (utc("2026-10-25T00:30"), utc("2026-10-25T01:30"))
    assert found.change == utc("2026-10-25T01:00")
    words = [zone_words(at, BERLIN) for at in found.instants]
    assert words == ["CEST, UTC+02:00", "CET, UTC+01:00"]


def test_a_jump_of_half_an_hour_is_one_too() -> None:
    found = read_wall(wall(2026, 10, 4, 2, 15), "Australia/Lord_Howe")
    assert found.instants == ()
    assert found.change == utc("2026-10-03T15:30")


@pytest.mark.parametrize("name", ["Europe/Atlantis", "../etc/passwd", "Europe"])
def test_a_zone_that_nobody_knows_is_named(name: str) -> None:
    with pytest.raises(UnknownZone, match=re.escape(name)):
        read_wall(wall(2026, 1, 1), name)


@given(
    some.datetimes(wall(1990, 1, 1), wall(2037, 1, 1)),
    some.sampled_from([BERLIN, "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]),
)
def test_every_instant_is_read_back_from_what_its_wall_shows(at: datetime, zone: str) -> None:
    instant = at.replace(microsecond=0, tzinfo=UTC)
    shown = wall_at(instant, zone).replace(tzinfo=None)
    found = read_wall(shown, zone)
    assert instant in found.instants
    assert all(abs(other - instant) <= timedelta(hours=2) for other in found.instants)
