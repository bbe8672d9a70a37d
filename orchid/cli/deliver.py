"""`orchid ingest`: files to the control plane's inbox, each once, and what became of them."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from orchid.cli.change import product_option
from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, progress, show, table

KINDS = ("triton_trace", "client_log", "statistics", "metrics", "otlp", "requests")
# How each kind's files are usually named; --kind decides where a name says nothing.
NAMES = {
    "*.otlp.json": "otlp",
    "*.otlp.pb": "otlp",
    "trace.json*": "triton_trace",
    "*client*log*.jsonl": "client_log",
    "*statistics*.json": "statistics",
    "*metrics*.txt": "metrics",
    "*.ndjson": "requests",
}
LOOK_AGAIN_S, PATIENCE_S = 0.3, 120.0


@dataclass(frozen=True)
class Origin:
    """What the files say nothing about: which server, which run, which moment its clock began."""

    product: str | None
    server_run: str | None
    source: str | None
    engine_kind: str | None
    anchor_monotonic_ns: int | None
    anchor_unix_ns: int | None


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@product_option
@click.option("--kind", type=click.Choice(KINDS), help="Default: by the file's name.")
@click.option("--server-run", help="Name of the server's run; joins its files to one another.")
@click.option("--source", help="Name of the source on the Sources page.")
@click.option("--engine-kind", type=click.Choice(["triton", "stand-in"]))
@click.option("--anchor-monotonic-ns", type=int, help="The server's clock at one moment ...")
@click.option("--anchor-unix-ns", type=int, help="... and the wall clock at that moment.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Until all is counted.")
@json_option
@click.pass_context
def ingest(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    kind: str | None,
    wait: bool,
    as_json: bool,
    **origin: Any,
) -> None:
    """Deliver FILES. The same file again changes nothing. Exit code 1 when one was set aside.

    Request records are what verdicts rest on, so they need the token of an edge.
    """
    api, where = Api(), Origin(**origin)
    kinds = [kind or kind_of(file) for file in files]
    pairs = progress(list(zip(files, kinds, strict=True)), "Delivering")
    delivered = [deliver(api, file, each, where) for file, each in pairs]
    results = counted(api, delivered, where) if wait else delivered
    show(results, lambda: results_text(results), as_json=as_json)
    ctx.exit(int(any(result["status"] == "set_aside" for result in results)))


def kind_of(file: Path) -> str:
    for pattern, kind in NAMES.items():
        if file.match(pattern):
            return kind
    raise click.UsageError(
        f"The name {file.name} does not say what it is. Name its kind: --kind {'|'.join(KINDS)}"
    )


def deliver(api: Api, file: Path, kind: str, origin: Origin) -> Json:
    """Send one file under an id made of its content, so that sending it twice is one delivery."""
    content = file.read_bytes()
    batch_id = hashlib.sha256(f"{kind}\n{origin.server_run}\n".encode() + content).hexdigest()[:40]
    headers = {"Batch-Id": batch_id, "Content-Type": media_of(file, kind)}
    if kind == "otlp":
        rejected = api.deliver("/v1/traces", content, headers, product=origin.product)
        return {"file": str(file), "kind": kind, "status": "done", "counts": rejected}
    if kind == "requests":
        answer = api.deliver("/api/v1/ingest/requests", content, headers, product=origin.product)
    else:
        query = {**vars(origin), "kind": kind}
        answer = api.deliver("/api/v1/ingest/files", content, headers, **query)
    return {"file": str(file), **answer}


def media_of(file: Path, kind: str) -> str:
    if kind == "otlp":
        return "application/x-protobuf" if file.suffix == ".pb" else "application/json"
    return "application/x-ndjson" if kind == "requests" else "application/octet-stream"


def counted(api: Api, delivered: list[Json], origin: Origin) -> list[Json]:
    """Wait until a worker has turned each batch into rows."""
    deadline = time.monotonic() + PATIENCE_S
    batches = progress(delivered, "Counting")
    return [until_done(api, batch, origin, deadline) for batch in batches]


def until_done(api: Api, batch: Json, origin: Origin, deadline: float) -> Json:
    while batch["status"] == "received":
        if time.monotonic() > deadline:
            raise click.ClickException(
                f"{batch['file']} is stored but was not counted within {PATIENCE_S:.0f} s."
                " Is a worker running? It will be counted when one does."
            )
        time.sleep(LOOK_AGAIN_S)
        at = f"/api/v1/ingest/batches/{batch['batch_id']}"
        batch = {"file": batch["file"], **api.get(at, product=origin.product)}
    return batch


def results_text(results: list[Json]) -> str:
    rows = [
        (one["file"], one["kind"], one["status"], counts_text(one.get("counts") or {}))
        for one in results
    ]
    refused = [f"  {one['file']}: {line}" for one in results for line in refusals(one)]
    return "\n".join([table(("file", "kind", "status", "counts"), rows), *refused])


def counts_text(counts: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in counts.items() if value)


def refusals(result: Json) -> list[str]:
    """The refused lines, and why a whole file was set aside."""
    lines = [f"{_place(one)}: {one['message']}" for one in result.get("rejected") or []]
    return lines + ([result["reason"]] if result.get("reason") else [])


def _place(refused: Json) -> str:
    """A line where the format has lines, else the byte at which a lost fragment begins."""
    return f"line {refused['line']}" if "line" in refused else f"byte {refused['offset']}"
