"""When nothing is published, until when, and what a change of clocks does to it."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from orchid.engine.document.freeze import Freeze
from orchid.engine.freezes import free_from, frozen_at

WEEKEND = Freeze.model_validate(
    {"name": "weekend", "from": "fri 16:00", "until": "mon 08:00", "zone": "Europe/Berlin"}
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "until"),
    [
        ("2026-12-04T14:59", None),  # Friday 15:59 in Berlin
        ("2026-12-04T15:00", "2026-12-07T07:00"),
        ("2026-12-06T12:00", "2026-12-07T07:00"),
        ("2026-12-07T06:59", "2026-12-07T07:00"),
        ("2026-12-07T07:00", None),
        ("2026-07-03T14:00", "2026-07-06T06:00"),  # in summer an hour earlier by UTC
    ],
)
def test_a_weekly_freeze_holds_by_its_own_wall_clock(at: str, until: str | None) -> None:
    found = frozen_at([WEEKEND], utc(at))
    assert (found.until if found else None) == (utc(until) if until else None)


def test_a_freeze_of_one_time_ends_for_good() -> None:
    freeze = Freeze.model_validate(
        {"name": "year end", "from": "2026-12-18T18:00", "until": "2027-01-04T08:00"}
    )
    assert frozen_at([freeze], utc("2026-12-18T17:59")) is None
    found = frozen_at([freeze], utc("2026-12-31T23:59"))
    assert found is not None
    assert (found.since, found.until) == (utc("2026-12-18T18:00"), utc("2027-01-04T08:00"))
    assert frozen_at([freeze], utc("2027-01-04T08:00")) is None


def test_an_hour_that_comes_twice_makes_a_freeze_longer() -> None:
    night = Freeze.model_validate(
        {"name": "night", "from": "sun 02:30", "until": "sun 02:45", "zone": "Europe/Berlin"}
    )
    found = frozen_at([night], utc("2026-10-25T01:00"))
    assert found is not None
    assert (found.since, found.until) == (utc("2026-10-25T00:30"), utc("2026-10-25T01:45"))


def test_an_end_that_never_comes_is_the_jump_over_it() -> None:
    night = Freeze.model_validate(
        {"name": "night", "from": "sat 22:00", "until": "sun 02:30", "zone": "Europe/Berlin"}
    )
    found = frozen_at([night], utc("2026-03-29T00:30"))
    assert found is not None
    assert found.until == utc("2026-03-29T01:00")


def test_freezes_that_meet_are_waited_for_together() -> None:
    monday = Freeze.model_validate(
        {"name": "stocktaking", "from": "mon 07:30", "until": "mon 12:00", "zone": "Europe/Berlin"}
    )
    at = utc("2026-12-06T12:00")
    assert free_from([WEEKEND, monday], at) == utc("2026-12-07T11:00")
    assert free_from([], at) == at


def test_freezes_without_a_gap_still_get_an_answer() -> None:
    week = Freeze.model_validate({"name": "a", "from": "mon 00:00", "until": "sun 00:00"})
    rest = Freeze.model_validate({"name": "b", "from": "sun 00:00", "until": "mon 00:00"})
    assert free_from([week, rest], utc("2026-12-06T12:00")) > utc("2027-06-01T00:00")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"from": "fri 16:00", "until": "2026-12-18T18:00"}, "both as a date"),
        ({"from": "fri 16:00", "until": "fri 16:00"}, "until after from"),
        ({"from": "2026-12-18T18:00", "until": "2026-12-18T17:00"}, "until after from"),
        ({"from": "2026-02-30T18:00", "until": "2026-03-01T17:00"}, "the calendar has"),
        ({"from": "2026-12-18T18:00", "until": "9999-12-31T23:59"}, "a year from 1970 to 2999"),
        ({"from": "0001-01-01T00:00", "until": "2026-12-18T18:00"}, "a year from 1970 to 2999"),
        ({"from": "friday 16:00", "until": "mon 08:00"}, "a day and time"),
        ({"from": "2026-12-18T18:00+01:00", "until": "2026-12-19T17:00"}, "a day and time"),
    ],
)
def test_a_freeze_that_says_nothing_clear_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Freeze.model_validate({"name": "x", **given})
