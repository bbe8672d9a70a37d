"""What is exposed as a whole is recognised by hash within its stratum."""

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.units import kept, stratum_name, unit_hash, unit_name


def test_a_unit_is_the_session_where_given_else_the_request_or_the_tenant() -> None:
    assert unit_name("session", "s1", "r1", "t1") == "s1"
    assert unit_name("session", None, "r1", "t1") == "r1"
    assert unit_name("request", "s1", "r1", "t1") == "r1"
    assert unit_name("tenant", "s1", "r1", "t1") == "t1"


def test_one_session_in_two_strata_is_two_units() -> None:
    dims = {"input_bucket": "0-512", "task": "assistant"}
    short = stratum_name(("input_bucket", "route"), dims)
    long = stratum_name(("input_bucket", "route"), {**dims, "input_bucket": "513+"})
    assert (short, long) == ("input_bucket=0-512", "input_bucket=513+")
    assert unit_hash(short, "chat", "s1") != unit_hash(long, "chat", "s1")
    assert unit_hash(short, "chat", "s1") == unit_hash(short, "chat", "s1")


@given(st.text(), st.text(), st.text())
def test_a_hash_is_a_whole_number_that_postgresql_holds(one: str, two: str, three: str) -> None:
    assert 0 <= unit_hash(one, two, three) < 2**63


def test_the_bound_is_halved_until_few_enough_are_below_it() -> None:
    hashes = list(range(1024))
    assert kept(hashes, 2_000, 1024) == 1024
    assert kept(hashes, 300, 1024) == 256
    assert kept([], 300, 1024) == 1024
