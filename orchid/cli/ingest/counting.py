"""What became of deliveries, told by file."""

import time
from collections import Counter
from collections.abc import Iterable

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import progress, table

LOOK_AGAIN_S, PATIENCE_S = 0.3, 120.0
#: A part in this state decides how its file ended; the worst one first.
_WORST = ("set_aside", "received", "done")


def counted(api: Api, delivered: list[Json], product: str | None) -> list[Json]:
    """Wait until a worker has turned each batch into rows. It may take long while it goes on."""
    batches = progress(delivered, "Counting")
    return [until_done(api, batch, product) for batch in batches]


def until_done(api: Api, batch: Json, product: str | None) -> Json:
    deadline = time.monotonic() + PATIENCE_S
    while batch["status"] == "received":
        # The first look comes at once: of many parts most are counted while the others are sent.
        batch = seen(api, batch, product)
        if batch["status"] == "received":
            _pause(batch, deadline)
    return batch


def _pause(batch: Json, deadline: float) -> None:
    if time.monotonic() > deadline:
        raise click.ClickException(
            f"{batch['file']} is stored but was not counted within {PATIENCE_S:.0f} s."
            " Is a worker running? It will be counted when one does."
        )
    time.sleep(LOOK_AGAIN_S)


def seen(api: Api, batch: Json, product: str | None) -> Json:
    """How far a delivery has come by now, with what the sender knows of it."""
    mine = {name: batch[name] for name in ("file", "kind", "offset", "lines")}
    return {**api.get(f"/api/v1/ingest/batches/{batch['batch_id']}", product=product), **mine}


def by_file(results: Iterable[Json]) -> list[Json]:
    """One result a file; counts are sums, and places are those in the file."""
    files: dict[str, list[Json]] = {}
    for result in results:
        files.setdefault(result["file"], []).append(result)
    return [_one_file(found) for found in files.values()]


def _one_file(found: list[Json]) -> Json:
    counts: Counter[str] = Counter()
    for one in found:
        counts.update({k: v for k, v in (one.get("counts") or {}).items() if isinstance(v, int)})
    if "partial" in counts:
        counts["partial"] = min(1, counts["partial"])
    rejected = [_placed(piece, one) for one in found for piece in one.get("rejected") or []]
    reasons = [one["reason"] for one in found if one.get("reason")]
    statuses = {one["status"] for one in found}
    return {
        "file": found[0]["file"],
        "kind": found[0]["kind"],
        "status": next(one for one in _WORST if one in statuses),
        "parts": len(found),
        "batch_ids": [one["batch_id"] for one in found if "batch_id" in one],
        "counts": dict(counts),
        "rejected": rejected,
        "reason": reasons[0] if reasons else "",
    }


def _placed(piece: Json, part: Json) -> Json:
    """A place in a part as a place in its file."""
    moved = {**piece}
    if "offset" in piece:
        moved["offset"] = piece["offset"] + part["offset"]
    if piece.get("line") is not None:
        moved["line"] = piece["line"] + part["lines"]
    return moved


def results_text(results: list[Json]) -> str:
    rows = [
        (one["file"], one["kind"], one["status"], counts_text(one["counts"])) for one in results
    ]
    refused = [f"  {one['file']}: {line}" for one in results for line in refusals(one)]
    return "\n".join([table(("file", "kind", "status", "counts"), rows), *refused])


def counts_text(counts: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in counts.items() if value)


def refusals(result: Json) -> list[str]:
    """The refused lines, and why a whole file was set aside."""
    lines = [f"{_place(one)}: {one['message']}" for one in result["rejected"]]
    return lines + ([result["reason"]] if result["reason"] else [])


def _place(refused: Json) -> str:
    """A line where the format has lines, else the byte at which a lost fragment begins."""
    if refused.get("line") is not None:
        return f"line {refused['line']}"
    return f"byte {refused['offset']}" if "offset" in refused else "the file"
