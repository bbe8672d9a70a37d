"""What a real Triton wrote on another day: delivered once, as an operator delivers such files."""

import json
from collections.abc import Iterator
from pathlib import Path

from orchid.cli.client import Api, Json
from orchid.cli.ingest.counting import by_file, counted
from orchid.cli.ingest.delivering import deliver
from orchid.cli.ingest.names import kind_of
from orchid.cli.ingest.origin import Origin
from orchid.cli.output import progress

PRODUCT = "orchid-demo"


def seed(api: Api, recordings: Path) -> list[Json]:
    """Deliver every recording and wait until it is counted; what is there already stays."""
    results: list[Json] = []
    for run in sorted(path for path in recordings.iterdir() if path.is_dir()):
        origin = origin_of(run)
        files = progress(list(files_of(run)), f"Delivering {run.name}")
        parts = [one for file in files for one in deliver(api, file, kind_of(file), origin)]
        results += by_file(counted(api, parts, origin.product))
    return results


def files_of(run: Path) -> Iterator[Path]:
    """Its files in the order of the run, the client's own log last: it names what the others tell.

    A counter grows from what was sampled before the run to what was sampled after it.
    """
    files = [path for path in run.rglob("*") if path.is_file()]
    return iter(sorted(files, key=_order))


def _order(file: Path) -> tuple[bool, bool, Path]:
    return kind_of(file) == "client_log", "-before" not in file.name, file


def origin_of(run: Path) -> Origin:
    """The run, anchored by its client's log: one line has one moment on both clocks of the host."""
    with (run / "client-log.jsonl").open(encoding="utf-8") as log:
        call = json.loads(log.readline())
    return Origin(
        product=PRODUCT,
        server_run=f"recording-{run.name}",
        source=f"recording-{run.name}",
        engine_kind="triton",
        anchor_monotonic_ns=call["t_send_mono_ns"],
        anchor_unix_ns=call["t_send_unix_ns"],
    )
