"""Times in which nothing is published by the ordinary way, as a document writes them."""

import re
from datetime import datetime, time
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import Name, Section, Text
from orchid.engine.wall_clock import YEARS

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
TIME_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9]"
DATE_PATTERN = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
MOMENT_PATTERN = rf"^({DATE_PATTERN}T|({'|'.join(DAYS)}) ){TIME_PATTERN}$"


def _moment(value: object) -> object:
    """A date must be one that the calendar has; the pattern alone takes 30 February."""
    if not isinstance(value, str) or not re.fullmatch(MOMENT_PATTERN, value):
        raise PydanticCustomError("moment", 'a day and time such as "fri 16:00" or a date and time')
    if value[3] != " ":
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            raise PydanticCustomError("moment", "a date that the calendar has") from None
        if found.year not in YEARS:
            raise PydanticCustomError("moment", f"a year from {YEARS[0]} to {YEARS[-1]}")
    return value


Moment = Annotated[str, StringConstraints(pattern=MOMENT_PATTERN), BeforeValidator(_moment)]


class Freeze(Section):
    """A time in which nothing is published by the ordinary way: once, or in every week.

    Rollbacks and emergency publications go out in it as ever.
    """

    name: Text
    """What it is called where it keeps something waiting."""
    from_: Moment = Field(alias="from")
    """Its first minute on the wall: `2026-12-18T18:00` for once, `fri 16:00` for every week."""
    until: Moment
    """The first minute after it, in the same form."""
    zone: Name = "UTC"
    """The IANA name of the time zone whose wall clock is meant."""

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if self.is_weekly != (self.until[3] == " "):
            raise PydanticCustomError("freeze", "from and until both as a date, or both as a day")
        if self.from_ == self.until or (not self.is_weekly and self.from_ > self.until):
            raise PydanticCustomError("freeze", "until after from")
        return self

    @property
    def is_weekly(self) -> bool:
        return self.from_[3] == " "


def weekly(moment: str) -> tuple[int, time]:
    """The day of the week (Monday is 0) and the time of `fri 16:00`."""
    day, at = moment.split(" ")
    return DAYS.index(day), time.fromisoformat(at)
