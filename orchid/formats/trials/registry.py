"""Every format of a trial: its name, how it is told from the others, and its reader."""

from orchid.formats.recognise import Format, Head, recognised
from orchid.formats.trials import (
    aiperf_records,
    batching_tables,
    console_tables,
    engine_samples,
    inference_perf,
    model_analyzer,
    perf_analyzer_export,
    perf_analyzer_table,
    simulated,
    summaries,
    vllm_requests,
)
from orchid.formats.trials.shape import Trial

FORMATS: tuple[Format[Trial], ...] = (
    Format(
        "perf_analyzer_export",
        "perf_analyzer profile export (JSON)",
        lambda head: head.holds("experiments"),
        perf_analyzer_export.read,
    ),
    Format(
        "inference_perf",
        "inference-perf report (JSON)",
        lambda head: head.holds("load_summary", "successes"),
        inference_perf.read,
    ),
    Format(
        "aiperf_records",
        "AIPerf profile_export.jsonl",
        lambda head: head.holds("metadata", "metrics"),
        aiperf_records.read,
    ),
    Format(
        "genai_perf",
        "GenAI-Perf or AIPerf aggregate (JSON)",
        lambda head: bool(
            head.keys & {"request_throughput", "request_latency", "benchmark_duration"}
        ),
        summaries.read,
    ),
    Format(
        "vllm_requests",
        "vLLM requests (JSONL)",
        lambda head: head.holds("queued_ts", "first_token_ts", "last_token_ts"),
        vllm_requests.read,
    ),
    Format(
        "perf_analyzer",
        "perf_analyzer report (CSV)",
        lambda head: head.has("inferences/second"),
        perf_analyzer_table.read,
    ),
    Format(
        "model_analyzer",
        "Model Analyzer table (CSV)",
        lambda head: head.has("model", "concurrency", "model config path"),
        model_analyzer.read,
    ),
    Format(
        "genai_perf_table",
        "GenAI-Perf or AIPerf table (CSV)",
        lambda head: head.has("metric") and bool(head.columns & {"avg", "value"}),
        console_tables.read,
    ),
    Format(
        "llmservingsim_requests",
        "LLMServingSim requests (CSV)",
        lambda head: head.has("arrival", "latency", "queuing_delay", "ttft"),
        simulated.read,
    ),
    Format(
        "engine_samples",
        "engine samples: vLLM time series, BurstGPT log, gateway (CSV)",
        lambda head: engine_samples.layout_of(head.first) is not None,
        engine_samples.read,
    ),
    Format(
        "triton_batching",
        "Triton batching tutorial (CSV)",
        lambda head: head.has("case", "concurrency", "throughput_infer_per_s"),
        batching_tables.read,
    ),
)


def read(data: bytes, name: str = "", wanted: str = "") -> tuple[str, Trial]:
    """(format, trial) of a file; raises UnreadableError for what is no known trial."""
    found: Format[Trial] = recognised(FORMATS, data, name, wanted)
    return found.name, found.read(data, name)


def knows(head: Head) -> bool:
    return any(one.is_it(head) for one in FORMATS)
