"""Carry a Triton run's finished trace files to the control plane, each once."""

from collections.abc import Iterator
from pathlib import Path

import httpx

from orchid.cli.triton.state import ServerState


class UploadError(Exception):
    """The control plane did not take a file; it stays and is sent next time."""


def finished(folder: Path) -> Iterator[Path]:
    """Complete trace files, in the order they were written."""
    files = folder.glob("trace.json.*")
    for path in sorted(files, key=lambda path: int(path.suffix.removeprefix("."))):
        if _closed(path):
            yield path


async def upload(api: httpx.AsyncClient, run: ServerState) -> int:
    """Send what a run has written; returns how many files went. Raises UploadError.

    A file is deleted once the control plane holds it durably: a file that exists is one to send,
    also after a restart, and hours of traffic don't fill the disk. The batch id is made of the
    run and the file's name, so a second sending (we died in between) changes nothing.
    """
    if run.trace_dir is None:
        return 0
    count = 0
    for path in finished(Path(run.trace_dir)):
        await _send(api, run, path.name, path.read_bytes())
        path.unlink()
        count += 1
    return count


async def _send(api: httpx.AsyncClient, run: ServerState, name: str, content: bytes) -> None:
    about: dict[str, str | int] = {
        "kind": "triton_trace",
        "source": f"triton-{run.pool}",
        "server_run": run.run_id,
        "engine_kind": run.kind,
        "anchor_monotonic_ns": run.anchor["monotonic_ns"],
        "anchor_unix_ns": run.anchor["unix_ns"],
    }
    try:
        answer = await api.post(
            "/api/v1/ingest/files",
            params=about,
            content=content,
            headers={"Batch-Id": f"{run.run_id}-{name}", "Content-Type": "application/json"},
        )
    except httpx.HTTPError as problem:
        raise UploadError(f"{name}: {problem or type(problem).__name__}") from None
    if answer.status_code not in (200, 202):
        raise UploadError(f"{name}: {answer.status_code} {answer.text[:200]}")


def _closed(path: Path) -> bool:
    """Whether the file's array is closed, which Triton writes last."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 8))
        return file.read().rstrip().endswith(b"]")
