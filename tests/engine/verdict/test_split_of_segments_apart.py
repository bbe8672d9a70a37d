"""A split with segments apart: each part is held against its own fraction."""

from datetime import UTC, datetime, timedelta

import pytest

from orchid.engine.verdict.case import Apart, Exposed, Facts, Stratum, Subject
from orchid.engine.verdict.validity import Check, State, check_all

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
PREMIUM = Apart({"tenant_class": ("premium",)}, 0.5)


def split(premium: int, standard: int, *apart: Apart) -> Check:
    """Of 2,000 units each; the rest is split at 10 %."""
    subject = Subject("p", "sha256:d", 4, "candidate", 0.1, AT)
    strata = (
        Stratum("task=chat|tenant_class=premium", premium, 2000 - premium),
        Stratum("task=chat|tenant_class=standard", standard, 2000 - standard),
    )
    facts = Facts(True, AT, "ok", False)
    end = AT + timedelta(minutes=5)
    checks = check_all(subject, facts, end, Exposed("sessions", strata), apart)
    return next(check for check in checks if check.name == "split")


def test_each_part_holds_to_its_own_fraction() -> None:
    found = split(1000, 200, PREMIUM)
    assert found.state is State.OK
    assert "1,000 of 2,000 in the canary where about 1,000 are due at 50 %" in found.message
    assert "200 of 2,000 in the canary where about 200 are due at 10 %" in found.message


@pytest.mark.parametrize(("premium", "standard"), [(200, 200), (1000, 600), (600, 600)])
def test_a_part_that_is_off_its_own_fraction_breaks_the_evidence(
    premium: int, standard: int
) -> None:
    assert split(premium, standard, PREMIUM).state is State.BROKEN


def test_without_segments_apart_all_hold_to_one_fraction() -> None:
    assert split(200, 200).state is State.OK
    assert split(1000, 200).state is State.BROKEN
