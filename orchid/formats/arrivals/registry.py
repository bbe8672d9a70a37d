"""Every format of recorded traffic: its name, how it is told from the others, and its reader."""

from orchid.formats.arrivals import (
    azure,
    blis,
    burstgpt,
    gentd26,
    lengths,
    llmservingsim,
    mooncake,
    servegen,
    vllm_requests,
)
from orchid.formats.arrivals.shape import Trace
from orchid.formats.recognise import Format, Head, recognised

FORMATS: tuple[Format[Trace], ...] = (
    Format(
        "azure",
        "Azure LLM inference trace (CSV)",
        lambda head: head.has("timestamp", "contexttokens", "generatedtokens"),
        azure.read,
    ),
    Format(
        "mooncake",
        "Mooncake or Dynamo trace (JSONL)",
        lambda head: head.holds("input_length", "output_length"),
        mooncake.read,
    ),
    Format(
        "burstgpt",
        "BurstGPT (CSV)",
        lambda head: head.has("timestamp", "request tokens", "response tokens"),
        burstgpt.read,
    ),
    Format(
        "blis",
        "BLIS TraceV2 (CSV, with or without its header)",
        lambda head: head.contains(b"request_id,", b"arrival_time_us"),
        blis.read,
    ),
    Format(
        "servegen_rates",
        "ServeGen rates (CSV without a header)",
        lambda head: servegen.looks_like_rates(head.first),
        servegen.read_rates,
    ),
    Format(
        "servegen_lengths",
        "ServeGen lengths (JSON)",
        lambda head: bool(head.keys) and all(key.isdigit() for key in head.keys),
        servegen.read_lengths,
    ),
    Format(
        "gentd26",
        "GenTD26 image requests (CSV)",
        lambda head: head.has("gmt_create", "predict_status", "exec_time_seconds"),
        gentd26.read,
    ),
    Format(
        "vidur_lengths",
        "Vidur lengths (CSV)",
        lambda head: head.has("num_prefill_tokens", "num_decode_tokens"),
        lengths.read,
    ),
    Format(
        "llmservingsim",
        "LLMServingSim workload (JSONL)",
        lambda head: head.holds("input_toks", "output_toks", "arrival_time_ns"),
        llmservingsim.read,
    ),
    Format(
        "vllm_requests",
        "vLLM requests (JSONL)",
        lambda head: head.holds("input_toks", "output_toks", "arrival_time"),
        vllm_requests.read,
    ),
)


def read(data: bytes, name: str = "", wanted: str = "") -> tuple[str, Trace]:
    """(format, trace) of a file; raises UnreadableError for what is no known traffic."""
    found: Format[Trace] = recognised(FORMATS, data, name, wanted)
    return found.name, found.read(data, name)


def knows(head: Head) -> bool:
    return any(one.is_it(head) for one in FORMATS)
