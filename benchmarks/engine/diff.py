"""The decision diff over a recording, read from its file as `orchid policy diff --on` reads it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.engine.documents import REFERENCE
from benchmarks.engine.records import write_ndjson
from benchmarks.engine.scale import Scale
from benchmarks.line import Against, Line
from benchmarks.rounds import seconds
from orchid.cli.policy.diff_on import decided_on
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument

LIMIT_S, OF_RECORDS = 60.0, 1_000_000


def lines(scale: Scale) -> Iterator[Line]:
    """One round: it takes a minute, and a mean over a million requests is steady by itself."""
    before, after = load_document(REFERENCE.read_bytes()).document, _proposed()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "records.ndjson"
        write_ndjson(file, scale.records, before, seed=3)
        found = []
        took = seconds(
            lambda: found.append(decided_on(file, before, after, mode="traffic", slots=None))
        )()
    (diff,) = found
    limit = Against("limit", LIMIT_S * scale.records / OF_RECORDS)
    note = f"{diff.changed:,} of {diff.n:,} changed"
    yield Line(
        f"decision diff of {scale.records:,} records",
        took,
        "s",
        limit,
        scale.goal("<= 1"),
        note=note,
    )


def _proposed() -> PolicyDocument:
    """The reference with a fallback for long answers too, and tighter queue and tenant limits."""
    given: dict[str, Any] = yaml.safe_load(REFERENCE.read_text())
    longer = {"task": "long_assistant", "tenant_class": "standard"}
    given["fallback"].append({"from": "full", "to": "compact", "where": longer, "prefer": True})
    given["admission"]["max_queued_teu"] = 20_000
    given["admission"]["live_tokens"]["per_tenant"] = 40_000
    return load_document(given).document
