"""One declared percentile method, named beside the figure; never over the maximum."""

import pytest

from tests.cli.conftest import Run

TENS = [str(number) for number in range(10, 101, 10)]


@pytest.mark.parametrize(
    ("values", "at", "found"),
    [
        (TENS, 50, "p50 is 50 by nearest rank (inverted CDF), of 10 values"),
        (["1.0", "2.0"], 95, "p95 is 2 by nearest rank (inverted CDF), of 2 values"),
        (["1.0"], 95, "p95 is 1 by nearest rank (inverted CDF), of 1 values"),
        (["10"] * 1_000 + ["2000"] * 10, 95, "p95 is 10 by nearest rank"),
    ],
)
def test_the_percentile_is_one_of_the_values(
    policy: Run, values: list[str], at: int, found: str
) -> None:
    code, out, _ = policy("arithmetic", "percentile", *values, "--at", at)
    assert code == 0
    assert out.startswith(found)


def test_nothing_has_no_percentile(policy: Run) -> None:
    assert policy("arithmetic", "percentile")[0] == 3
    assert policy("arithmetic", "percentile", "NaN")[0] == 3
