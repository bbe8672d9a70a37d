"""What calls cost, from the spans of their tellers to the answer of the API."""

from decimal import Decimal
from typing import Any

import pytest
import yaml

from accounts.guard import SYSTEM_ACTOR
from ingest.models import EngineAttempt, EngineRoute
from ingest.selectors.call_cost import call_cost
from ingest.selectors.routes import newest_document
from orchid.formats.otlp.attributes import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from policies.models import Product
from policies.services import create_product
from tests.formats.otlp_bodies import body, named_pairs, wire_span
from tests.ingest.conftest import ROOT
from tests.ingest.ingest_cast import SLUG, Sender, derive_waiting

pytestmark = pytest.mark.django_db

TODAY = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")


def _price(given: str, made: str, **more: str) -> dict[str, str]:
    extra = {f"{name}_usd_per_million": value for name, value in more.items()}
    return {"input_usd_per_million": given, "output_usd_per_million": made, **extra}


@pytest.fixture
def product(db: None) -> Product:
    """The demo's product, with two models bought from outside and one that costs nothing."""
    document = yaml.safe_load((ROOT / "examples/orchid-demo/generation-1.yaml").read_bytes())
    document["prices"] = {
        "full": _price("2.50", "10", cached_input="1.25"),
        "compact": _price("3", "15", cache_write="3.75"),
    }
    return create_product(
        SYSTEM_ACTOR, SLUG, "Orchid demo", document=yaml.safe_dump(document).encode()
    )


def _told(otel: Sender, *calls: dict[str, Any], model: str = "full") -> list[dict[str, Any]]:
    spans = [
        wire_span(number, attributes=named_pairs({"gen_ai.response.model": model} | call))
        for number, call in enumerate(calls, 1)
    ]
    answer = otel.post("/v1/traces", body(*spans), media="application/json")
    assert answer.json() == {}
    derive_waiting()
    answer = otel.client.get("/api/v1/ingest/attempts")
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_cached_tokens_are_charged_once_however_they_are_spelt(otel: Sender) -> None:
    spellings = [(a, b, c) for a in INPUT_TOKENS for b in CACHED_TOKENS for c in OUTPUT_TOKENS]
    calls = [{a: 2006, b: 1920, c: 300} for a, b, c in spellings][::8]
    found = _told(otel, *calls)
    assert len(found) == len(calls) > 15
    for one in found:
        assert (one["cost_usd"], one["cost_unknown"]) == ("0.005615", "")
        assert one["input_convention"] == "includes_cached"
        assert (one["input_tokens"], one["cached_input_tokens"]) == (2006, 1920)


def test_input_without_what_was_written_to_the_cache(otel: Sender) -> None:
    given, made = TODAY
    written = "gen_ai.usage.cache_creation.input_tokens"
    (one,) = _told(
        otel, {given: 3, written: 12_304, CACHED_TOKENS[0]: 0, made: 550}, model="compact"
    )
    assert one["cost_usd"] == "0.054399"
    assert (one["input_convention"], one["cache_write_tokens"]) == ("excludes_cached", 12_304)


def test_a_declared_convention_decides(otel: Sender) -> None:
    given, made = TODAY
    counts = {given: 2006, CACHED_TOKENS[0]: 1920, made: 300}
    (one,) = _told(otel, counts | {"orchid.input_convention": "excludes_cached"})
    assert (one["cost_usd"], one["input_convention"]) == ("0.010415", "excludes_cached")


def test_a_model_without_a_price_has_no_cost_and_says_why(otel: Sender) -> None:
    given, made = TODAY
    priced = {given: 100, made: 10}
    (one,) = _told(otel, priced, model="somebody-elses")
    assert (one["cost_usd"], one["cost_unknown"]) == (None, "no_price")


def test_a_price_of_nothing_is_nothing(otel: Sender, product: Product) -> None:
    given, made = TODAY
    document = yaml.safe_load((ROOT / "examples/orchid-demo/generation-1.yaml").read_bytes())
    document |= {"prices": {"full": _price("0", "0")}, "product": "orchid-free"}
    create_product(SYSTEM_ACTOR, "orchid-free", "Free", document=yaml.safe_dump(document).encode())
    _told(otel, {given: 100, made: 10})
    free = newest_document(Product.objects.get(slug="orchid-free"))
    cost = call_cost(EngineAttempt.objects.get(), free, "full")
    assert (cost.usd, cost.reason) == (Decimal(0), "")


def test_a_call_that_tells_no_output_has_no_cost(otel: Sender) -> None:
    (one,) = _told(otel, {TODAY[0]: 100})
    assert (one["cost_usd"], one["cost_unknown"]) == (None, "no_tokens")
    assert one["output_tokens"] is None


def test_a_mapped_model_has_its_routes_price(otel: Sender, product: Product) -> None:
    EngineRoute.objects.create(product=product, model="gpt-somewhere", route="full")
    given, made = TODAY
    (one,) = _told(otel, {given: 1000, made: 100}, model="gpt-somewhere")
    assert one["cost_usd"] == "0.0035"
    assert one["system"] == "gen_ai"
