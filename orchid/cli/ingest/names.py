"""Which kind a file is, by its name, and how a kind travels."""

from pathlib import Path

import click

# How each kind's files are usually named, the first that fits; --kind decides where a name says
# nothing.
NAMES = {
    "*.otlp.json": "otlp",
    "*.otlp.pb": "otlp",
    "trace.json*": "triton_trace",
    "*client*log*.jsonl": "client_log",
    "*statistics*.json": "statistics",
    "*metrics*.txt": "metrics",
    "*rollup*.ndjson": "rollup",
    "*.ndjson": "requests",
    "*genai_perf*.json": "trial",
    "*profile_export*.json*": "trial",
    "*.profile.json": "trial",
    "*perf_analyzer*.csv": "trial",
    "*inference_perf*.json": "trial",
    "*azure*.csv": "arrivals",
    "*burstgpt*.csv": "arrivals",
    "*mooncake*.jsonl": "arrivals",
}
KINDS = (
    "triton_trace",
    "client_log",
    "statistics",
    "metrics",
    "otlp",
    "requests",
    "rollup",
    "trial",
    "arrivals",
)
#: Kinds of which each line is a record of its own.
OF_LINES = frozenset({"client_log", "requests", "rollup"})
_PATHS = {
    "otlp": "/v1/traces",
    "requests": "/api/v1/ingest/requests",
    "rollup": "/api/v1/ingest/rollups",
}


def path_of(kind: str) -> str:
    return _PATHS.get(kind, "/api/v1/ingest/files")


def kind_of(file: Path) -> str:
    """The kind that a name says; raises UsageError where it says none."""
    if found := kind_by_name(file):
        return found
    raise click.UsageError(
        f"The name {file.name} does not say what it is. Name its kind: --kind {'|'.join(KINDS)}"
    )


def kind_by_name(file: Path) -> str | None:
    return next((kind for pattern, kind in NAMES.items() if file.match(pattern)), None)


def media_of(file: Path, kind: str) -> str:
    if kind == "otlp":
        return "application/x-protobuf" if file.suffix == ".pb" else "application/json"
    return "application/x-ndjson" if kind in ("requests", "rollup") else "application/octet-stream"
