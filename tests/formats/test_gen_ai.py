import json
from pathlib import Path
from typing import Any

import pytest

from orchid.engine.usage import Convention
from orchid.formats import otlp, vllm_spans
from orchid.formats.gen_ai import ModelCall, calls, usage_of
from orchid.formats.otlp.attributes import (
    CACHED_TOKENS,
    INPUT_TOKENS,
    KEPT_ATTRIBUTES,
    OUTPUT_TOKENS,
    WRITTEN_TOKENS,
)
from tests.formats.otlp_bodies import TRACE_ID, body, named_pairs, spans_of, wire_span


def _calls(*spans: dict[str, Any], resource: dict[str, Any] | None = None) -> list[ModelCall]:
    return calls(spans_of(otlp.read_json(body(*spans, resource=resource))))


def _span(number: int, parent: int | None = None, **attributes: Any) -> dict[str, Any]:
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    above = {} if parent is None else {"parentSpanId": wire_span(parent)["spanId"]}
    return wire_span(number, attributes=named_pairs(named), **above)


def _used(number: int, given: int, made: int, parent: int | None = None) -> dict[str, Any]:
    return _span(
        number, parent, gen_ai__usage__input_tokens=given, gen_ai__usage__output_tokens=made
    )


@pytest.mark.parametrize("given", INPUT_TOKENS)
@pytest.mark.parametrize("cached", CACHED_TOKENS)
@pytest.mark.parametrize("made", OUTPUT_TOKENS)
def test_every_spelling_of_the_counts_is_one(given: str, cached: str, made: str) -> None:
    pairs = named_pairs({given: 2006, cached: 1920, made: 300})
    (call,) = _calls(wire_span(attributes=pairs))
    assert (call.usage.input_tokens, call.usage.cached_input_tokens) == (2006, 1920)
    assert call.usage.output_tokens == 300
    assert call.usage.convention is Convention.INCLUDES_CACHED
    assert call.usage.plain_input_tokens == 86


@pytest.mark.parametrize("written", WRITTEN_TOKENS)
def test_tokens_written_to_a_cache_have_many_names_too(written: str) -> None:
    usage = usage_of({INPUT_TOKENS[0]: 3, written: 12_304, CACHED_TOKENS[0]: 0})
    assert usage.cache_write_tokens == 12_304
    assert usage.convention is Convention.EXCLUDES_CACHED


def test_every_name_that_is_read_is_kept() -> None:
    read = {*INPUT_TOKENS, *OUTPUT_TOKENS, *CACHED_TOKENS, *WRITTEN_TOKENS}
    assert read <= KEPT_ATTRIBUTES.keys()


def test_todays_name_goes_before_an_old_one() -> None:
    assert usage_of({"gen_ai.usage.prompt_tokens": 1, "gen_ai.usage.input_tokens": 2}) == usage_of(
        {"gen_ai.usage.input_tokens": 2}
    )


@pytest.mark.parametrize("wrong", [-1, 2**31, 1.5, True])
def test_what_is_no_count_is_unknown(wrong: Any) -> None:
    assert usage_of({"gen_ai.usage.input_tokens": wrong}).input_tokens is None


def test_a_resource_declares_the_convention_of_spans_that_say_nothing() -> None:
    resource = {"orchid.input_convention": "excludes_cached"}
    declared = {"orchid.input_convention": "includes_cached", INPUT_TOKENS[0]: 9}
    silent, speaking = _calls(
        _used(1, 9, 2), wire_span(2, attributes=named_pairs(declared)), resource=resource
    )
    assert silent.usage.convention is Convention.EXCLUDES_CACHED
    assert speaking.usage.convention is Convention.INCLUDES_CACHED


def test_a_parent_that_carries_its_childrens_usage_is_counted_nowhere() -> None:
    found = _calls(_used(1, 113, 11), _used(2, 56, 5, parent=1), _used(3, 57, 6, parent=1))
    counted = [call for call in found if not call.summary]
    assert len(counted) == 2
    assert sum(call.usage.input_tokens or 0 for call in counted) == 113
    assert sum(call.usage.output_tokens or 0 for call in counted) == 11


def test_a_span_between_parent_and_child_changes_nothing() -> None:
    between = _span(2, 1)
    found = _calls(_used(1, 56, 5), between, _used(3, 56, 5, parent=2))
    assert [call.summary for call in found] == [True, False]


def test_spans_that_are_each_others_parents_are_still_read() -> None:
    found = _calls(_used(1, 1, 1, parent=2), _used(2, 1, 1, parent=1), _used(3, 1, 1, parent=3))
    assert len(found) == 3


def test_vllm_tells_its_latencies_in_seconds(data: Path) -> None:
    recorded = json.loads((data / "otlp/vllm_0_29_llm_request.json").read_bytes())
    (span,) = recorded["resourceSpans"][0]["scopeSpans"][0]["spans"]
    # Whoever published it took the ids out, which a receiver can't do without.
    (read,) = spans_of(otlp.read_json(body(span | {"traceId": TRACE_ID, "spanId": "1" * 16})))
    told = vllm_spans.latencies(read)
    assert vllm_spans.is_request(read)
    assert read.end_ns - read.start_ns == 254_922_392
    assert told.request_ms == pytest.approx(253.59678268432617)
    assert told.first_token_ms == pytest.approx(115.54598808288574)
    assert told.queue_ms == pytest.approx(0.0545890070497989)
    assert told.model_ms == pytest.approx(57.814636995 + 138.304583000)
    (call,) = calls([read])
    assert (call.usage.input_tokens, call.usage.output_tokens) == (14, 8)
    assert call.attempt_id == "req-vllm-029-001"
