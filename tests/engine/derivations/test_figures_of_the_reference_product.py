"""Every worked figure of the reference product, to the last digit, as its packet gives it."""

import json
from typing import Any

import pytest

from orchid.engine.packet import verify

#: Figure, and its value with its unit.
FIGURES = {
    # Demand
    "factor of compact": "0.45",
    "factor of full": "1.0",
    "factor of premium": "1.8",
    "weight of an input token": "0.25",
    "classification model": "compact",
    "classification input": "256 tokens",
    "classification output cap": "16 tokens",
    "classification arrivals": "220 requests/s",
    "classification TEU a request": "36 TEU",
    "classification TEU a second": "7920 TEU/s",
    "short_assistant model": "full",
    "short_assistant input": "900 tokens",
    "short_assistant output cap": "120 tokens",
    "short_assistant arrivals": "90 requests/s",
    "short_assistant TEU a request": "345 TEU",
    "short_assistant TEU a second": "31050 TEU/s",
    "long_assistant model": "full",
    "long_assistant input": "6000 tokens",
    "long_assistant output cap": "500 tokens",
    "long_assistant arrivals": "12 requests/s",
    "long_assistant TEU a request": "2000 TEU",
    "long_assistant TEU a second": "24000 TEU/s",
    "document_generation model": "premium",
    "document_generation input": "12000 tokens",
    "document_generation output cap": "900 tokens",
    "document_generation arrivals": "3 requests/s",
    "document_generation TEU a request": "7020 TEU",
    "document_generation TEU a second": "21060 TEU/s",
    "requests of all classes": "325 requests/s",
    "TEU of all classes": "84030 TEU/s",
    "classification share of requests": "67.7 %",
    "classification share of TEU": "9.4 %",
    "document_generation share of requests": "0.92 %",
    "document_generation share of TEU": "25.1 %",
    "a request at equal prices": "0.31 %",
    # Fleet
    "devices": "28",
    "raw rate of a device": "5000 TEU/s",
    "safe factor": "0.70",
    "safe rate of a device": "3500 TEU/s",
    "safe rate of the fleet": "98000 TEU/s",
    "steady load": "85.7 %",
    "steady headroom": "14.3 %",
    "steady headroom, three digits": "14.255 %",
    "capacity without a group": "84000 TEU/s",
    "deficit without a group": "30 TEU/s",
    "spike of 1.4": "117642 TEU/s",
    "the fleet carries the spike": "no",
    "launch, short assistant": "49680 TEU/s",
    "launch, added": "18630 TEU/s",
    "launch, all classes": "102660 TEU/s",
    "the fleet carries the launch": "no",
    "launch with loss of a group, capacity": "84000 TEU/s",
    "launch with loss of a group, deficit": "18660 TEU/s",
    # Money
    "price of a device": "4.80 $/h",
    "devices an hour": "134.40 $/h",
    "overhead an hour": "39.60 $/h",
    "ledger an hour": "174.00 $/h",
    "selected, successes an hour": "1151280 successes/h",
    "selected, cost per success": "0.000151136 $",
    "selected, policy card": "0.00015113 $",
    "selected, reserve on the card": "0.00000887 $",
    "selected, exact reserve": "0.000008863873 $",
    "selected, attainment": "98.4 %",
    "bill 17 % over the approved price": "0.0001872 $",
    # Memory
    "device memory": "80 GiB",
    "full weights": "26.08 GiB",
    "pool for live tokens": "34 GiB",
    "residency lines": "80 GiB",
    "residency closes": "yes",
    "with a second full version": "106.08 GiB",
    "a second full version fits": "no",
    "cache a token of full": "131072 B",
    "live tokens of the pool": "278528 tokens",
    "usable live tokens": "236748 tokens",
    # Declared points
    "static batch 8, successes": "287.0 successes/s",
    "static batch 8, p95": "2260 ms",
    "static batch 8, utility": "0.914",
    "static batch 8, cost per success": "0.000184 $",
    "static batch 8, failed gates": "completion_p95_ms, cost_per_success_usd, attainment",
    "dynamic batch 8, successes": "315.4 successes/s",
    "dynamic batch 8, p95": "1480 ms",
    "dynamic batch 8, utility": "0.912",
    "dynamic batch 8, cost per success": "0.000162 $",
    "dynamic batch 8, failed gates": "cost_per_success_usd",
    "continuous, deadline-aware, successes": "319.8 successes/s",
    "continuous, deadline-aware, p95": "1310 ms",
    "continuous, deadline-aware, utility": "0.902",
    "continuous, deadline-aware, cost per success": "0.00015113 $",
    "continuous, deadline-aware, failed gates": "none",
    "static batch 8, attainment": "88.3 %",
    "dynamic batch 8, p95 room": "20 ms",
    "dynamic batch 8, narrow gates": "completion_p95_ms, utility, attainment",
    "selected, tail reserve": "190 ms",
    "selected, by fallback": "18 %",
    "selected, early terminated": "7 %",
    "selected, utility against full only": "0.012",
    "selected, utility against dynamic batch 8": "0.010",
    "batch 16, p95": "1880 ms",
    "batch 16, microbenchmark": "11 %",
    "batch 16, padding": "3.7 x",
    "batch 16, deadline misses": "8.3 %",
    "batch 16, failed gates": "completion_p95_ms, attainment",
    "static batch 8 on its own ledger": "0.000184 $",
    "dynamic batch 8 on its own ledger": "0.0001617 $",
    "static batch 8 on the product's ledger": "0.00016841 $",
    "dynamic batch 8 on the product's ledger": "0.00015324 $",
    "highest utility": "premium only",
    "fastest": "aggressive fallback",
    "cheapest": "aggressive fallback",
    "premium only, failed gates": "cost_per_success_usd",
    "full only, failed gates": "completion_p95_ms, cost_per_success_usd",
    "aggressive fallback, failed gates": "utility",
    "dominated points": "static batch 8",
    # Degraded trials
    "1.4x spike, p95": "1440 ms",
    "1.4x spike, cost per success": "0.000158 $",
    "1.4x spike, utility": "0.897",
    "1.4x spike, attainment": "96.8 %",
    "1.4x spike, failed gates": "none",
    "candidate rollout, p95": "1340 ms",
    "candidate rollout, cost per success": "0.000153 $",
    "candidate rollout, utility": "0.898",
    "candidate rollout, attainment": "98.2 %",
    "candidate rollout, failed gates": "none",
    "loss of a group, p95": "1460 ms",
    "loss of a group, cost per success": "0.000159 $",
    "loss of a group, utility": "0.896",
    "loss of a group, attainment": "96.3 %",
    "loss of a group, failed gates": "none",
    "long-request domination, p95": "1410 ms",
    "long-request domination, cost per success": "0.000156 $",
    "long-request domination, utility": "0.899",
    "long-request domination, attainment": "97.1 %",
    "long-request domination, failed gates": "none",
    # Diagnosis: the cheap route that is expensive
    "accelerator time": "-40 %",
    "cost per admitted": "-18 %",
    "cost per success": "6 %",
    "p95 before": "1420 ms",
    "p95 after": "1180 ms",
    "p95 leaves out failures": "yes",
    "schema failures before": "0.1 %",
    "schema failures after": "3.4 %",
    "retries of a failure": "1",
    "fewer successes per admitted": "22.6 %",
    "explained by failures and retries, at most": "6.4 %",
    "unexplained": "17.4 %",
    "cause": "task=structured_extraction",
    "proposed": "no fallback where task is structured_extraction",
    # Model arithmetic
    "tokens at 3.17 characters": "1262 tokens",
    "tokens at 3.94 characters": "1015 tokens",
    "more tokens at 3.17": "24 %",
    "cache a token, OPT-13B": "819200 B",
    "cache a token, Llama 3 8B": "131072 B",
    "cache a token with 32 KV heads": "524288 B",
    "ten conversations of 8,192 tokens": "10 GiB",
    "tokens in 12e9 bytes": "14648 tokens",
    "full sequences in 12e9 bytes": "7 sequences",
    "blocks for 100 tokens": "7 blocks",
    "slots for 100 tokens": "112 slots",
    "unused slots for 100 tokens": "12 slots",
    "idle part of a reservation": "95.1 %",
    "decode floor at 16 bit": "7.85 ms",
    "decode floor at 8 bit": "3.92 ms",
    "decode floor at 4 bit": "1.96 ms",
    "400 tokens at the 16 bit floor": "3.1 s",
    "first token of a 9,000-token prompt": "900 ms",
    "first token with 6,000 cached": "300 ms",
    "400 tokens of 25 ms": "10875 ms",
    "400 tokens of 25 ms, cached": "10275 ms",
    "fixed batch, useful slots": "290 slots",
    "fixed batch, slots": "800 slots",
    "fixed batch, use": "36.25 %",
    "speculation, tokens a pass": "3.36 tokens",
    "speculation at draft cost 0.05": "2.80 x",
    "speculation at draft cost 0.2": "1.87 x",
    "speculation, operations": "1.55 x",
    "prefix cache, ten uses": "12900 input tokens",
    "prefix cache, saved": "78.5 %",
    "prefix cache, cheaper from use": "2 uses",
    "prefix cache, two uses of one token": "1.35 input tokens",
    "cascade at a quarter escalated": "0.35 of large only",
    "cascade breaks even at": "0.9 escalation",
    # Support assistant
    "large only, uncached": "7300 large-model input tokens",
    "large only, prefix-cached": "2590 large-model input tokens",
    "cascade, uncached": "2555 large-model input tokens",
    "cascade, prefix-cached": "906.5 large-model input tokens",
    "perfect classifier, uncached": "2372.5 large-model input tokens",
    "perfect classifier, prefix-cached": "841.75 large-model input tokens",
    "arrivals a minute": "23.1 requests/min",
    "large calls a minute under the cascade": "5.8 requests/min",
}


@pytest.fixture(scope="module")
def derived(packet: bytes) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in json.loads(packet)["derivations"]}


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_comes_out_exactly(derived: dict[str, dict[str, Any]], name: str) -> None:
    figure = derived[name]
    assert f"{figure['value']} {figure['unit']}".strip() == FIGURES[name]


def test_no_figure_is_without_its_known_value(derived: dict[str, dict[str, Any]]) -> None:
    assert list(derived) == list(FIGURES)


def test_the_packet_holds(packet: bytes) -> None:
    found = verify(packet)
    assert (found.holds, found.faults) == (True, ())


def test_declared_points_are_quoted_and_what_follows_is_computed(
    derived: dict[str, dict[str, Any]],
) -> None:
    assert derived["static batch 8, p95"]["kind"] == "declared"
    assert derived["devices"]["kind"] == "declared"
    assert derived["static batch 8, failed gates"]["kind"] == "derived"
    assert derived["selected, exact reserve"]["kind"] == "derived"


def test_a_figure_names_what_it_was_computed_from(derived: dict[str, dict[str, Any]]) -> None:
    assert derived["selected, exact reserve"]["inputs"] == {
        "ledger_usd_per_h": "174",
        "successes_per_s": "319.8",
        "bound_usd": "0.00016",
    }
