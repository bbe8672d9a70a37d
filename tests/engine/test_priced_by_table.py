"""An attempt without a price of its own is priced by its tokens, or not at all."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from orchid.engine import columns, outcome
from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.wire.records import AttemptRecord, RequestRecord

RATES = Price(
    input_usd_per_million=Decimal("2.50"),
    cached_input_usd_per_million=Decimal("1.25"),
    output_usd_per_million=Decimal("10"),
)


@pytest.fixture
def policy(demo: tuple[LoadedDocument, LoadedDocument]) -> PolicyDocument:
    return demo[0].document.model_copy(update={"prices": {"upstream": RATES}})


def tried(**fields: Any) -> AttemptRecord:
    return AttemptRecord(attempt_id="a", **{"route": "upstream", **fields})


def request(*attempts: AttemptRecord, **fields: Any) -> RequestRecord:
    given: dict[str, Any] = {
        "input_tokens": 2006,
        "cached_input_tokens": 1920,
        "output_tokens": 300,
        "input_convention": "includes_cached",
        **fields,
    }
    return RequestRecord(
        request_id="r",
        product="orchid-demo",
        arrived_at=datetime(2026, 1, 1, tzinfo=UTC),
        outcome="completed",
        class_="short_assistant",
        attempts=attempts,
        **given,
    )


def priced(record: RequestRecord, policy: PolicyDocument) -> Decimal | None:
    """None where its price is unknown; counted alike by itself and in columns."""
    unknown = "unpriced" in outcome.populations(record, policy)
    assert columns.counts(columns.from_records([record]), policy)["unpriced"] == int(unknown)
    return None if unknown else outcome.priced_usd(record, policy)


def test_cached_tokens_are_charged_by_their_own_price(policy: PolicyDocument) -> None:
    assert priced(request(tried()), policy) == Decimal("0.005615")


def test_an_engine_that_leaves_cached_tokens_out_is_charged_alike(policy: PolicyDocument) -> None:
    told = request(tried(), input_tokens=86, input_convention="excludes_cached")
    assert priced(told, policy) == Decimal("0.005615")


def test_a_stated_price_is_the_price(policy: PolicyDocument) -> None:
    assert priced(request(tried(cost_usd=Decimal("0.25"))), policy) == Decimal("0.25")
    assert priced(request(tried(cost_usd=Decimal(0))), policy) == 0


def test_a_route_that_the_table_gives_away_costs_nothing(policy: PolicyDocument) -> None:
    free = Price(input_usd_per_million=Decimal(0), output_usd_per_million=Decimal(0))
    assert priced(request(tried()), policy.model_copy(update={"prices": {"upstream": free}})) == 0


@pytest.mark.parametrize(
    "fields",
    [{"input_tokens": None}, {"output_tokens": None}, {"input_tokens": 5}],
    ids=["no_input", "no_output", "more_cached_than_read"],
)
def test_what_told_too_little_has_no_price(policy: PolicyDocument, fields: dict[str, Any]) -> None:
    assert priced(request(tried(), **fields), policy) is None


def test_a_route_that_is_in_no_table_has_no_price(policy: PolicyDocument) -> None:
    assert priced(request(tried(route="elsewhere")), policy) is None


def test_a_call_to_a_service_outside_is_in_no_table(policy: PolicyDocument) -> None:
    assert priced(request(tried(external_calls=1)), policy) is None


def test_an_earlier_attempt_is_charged_for_its_own_output(policy: PolicyDocument) -> None:
    failed = tried(status="failed", useful_tokens=100)
    assert (
        priced(request(failed, tried(), cached_input_tokens=None), policy)
        == (2 * 2006 * Decimal("2.50") + 400 * Decimal(10)) / 1_000_000
    )


def test_what_an_earlier_attempt_found_in_a_cache_is_not_guessed(policy: PolicyDocument) -> None:
    assert priced(request(tried(status="failed", useful_tokens=100), tried()), policy) is None


def test_own_devices_cost_what_the_ledger_says(policy: PolicyDocument) -> None:
    assert priced(request(tried(route="full")), policy) == 0
