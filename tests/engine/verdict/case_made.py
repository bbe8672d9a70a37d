"""A case of the demo's policy, made from a few rows of counts."""

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from orchid.engine.document.canonical import canonical_bytes, manifest_digest
from orchid.engine.document.load import load_document
from orchid.engine.document.parse import parse
from orchid.engine.histogram import bucket_of
from orchid.engine.rollup import Figure
from orchid.engine.verdict.case import Case, Costs, Facts, Part, Subject, Watched
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Item

EXAMPLES = Path(__file__).parents[3] / "examples" / "orchid-demo"
OPENED = datetime(2026, 3, 2, 9, tzinfo=UTC)
STEP = timedelta(seconds=60)
END = OPENED + 10 * STEP
SEGMENTS = ("a", "b")


def given() -> dict[str, Any]:
    """The demo's first generation with one-minute steps and two gated segments."""
    document: dict[str, Any] = copy.deepcopy(
        parse((EXAMPLES / "generation-1.yaml").read_bytes(), "yaml")
    )
    document["segments"]["dimensions"] = [
        "task",
        "language",
        "tenant_class",
        "input_bucket",
        "risk",
    ]
    document["rollout"]["on_breach"] = "rollback"
    document["gates"] |= {
        "step_s": 60,
        "completion_p95_ms": {"max": 1500, "window": "15m", "minimum_sample": 200},
        "cost_per_success_usd": {"max": "1", "window": "15m", "minimum_successes": 200},
        "attainment": {"min": 0.96, "window": "15m", "minimum_sample": 200},
        "segments": [
            {"name": name.upper(), "where": {"risk": name}, "minimum_sample": 200}
            for name in SEGMENTS
        ],
    }
    return document


POLICY = load_document(given()).document
GIVEN = canonical_bytes(POLICY).decode()
MANIFEST = manifest_digest(POLICY.models["full"])


@dataclass
class Row:
    """What one step counted of one segment; all good and in time unless said."""

    step_at: datetime = OPENED
    dims: dict[str, str] = field(default_factory=lambda: {"risk": "a", "tenant_class": "standard"})
    route: str = "full"
    manifest: str = MANIFEST
    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0


def row(minute: int, segment: str, requests: int, good: int | None = None) -> Row:
    """`good` of so many requests succeed in time; the others take four seconds and fail."""
    fine = requests if good is None else good
    histogram = {bucket_of(400.0): fine, bucket_of(4000.0): requests - fine}
    return Row(
        OPENED + minute * STEP,
        {"risk": segment, "tenant_class": "standard"},
        counters={
            "offered": requests,
            "eligible": requests,
            "admitted": requests,
            "completed": requests,
            "latency_counted": requests,
            "technical_success": fine,
        },
        histogram={bucket: count for bucket, count in histogram.items() if count},
        within={"completion<=1500": fine},
        judged={"completion<=1500": requests},
        teu=Decimal(requests),
        records=requests,
    )


EVIDENCE = Item(
    digest="sha256:" + "0" * 64,
    kind="frozen_suite",
    suite="tasks",
    suite_version="1",
    route="full",
    manifest=MANIFEST,
    where={},
    n=20_000,
    mean=0.93,
    spread=0.1,
    violations=0,
    measured_at=OPENED - timedelta(days=1),
    push=1,
)
SUBJECT = Subject("demo", "sha256:d", 2, "candidate", 1.0, OPENED, hold_until=END)
FACTS = Facts(heard=True, last_request_at=END, quiet="ok", closed=False)


def counted(
    rows: Iterable[Row], *, by_step: bool = False, start: datetime = OPENED, end: datetime = END
) -> Counted:
    return Counted.of_rows(rows, start, end, STEP, by_step=by_step)


def case_of(rows: Sequence[Row], **changes: Any) -> Case:
    """The case of a stage of ten minutes in which these rows were counted."""
    whole = counted(rows)
    made = Case(
        subject=SUBJECT,
        given=GIVEN,
        end=END,
        parts=(Part(OPENED, (), whole),),
        costs=Costs(OPENED, END, whole),
        evidence=(EVIDENCE,),
        facts=FACTS,
        watched=Watched(OPENED, counted=counted(rows, by_step=True)),
    )
    return replace(made, **changes)


def everywhere(requests: int, good: int | None = None) -> list[Row]:
    """The same in every minute and segment."""
    return [row(minute, name, requests, good) for minute in range(10) for name in SEGMENTS]


def results(judged: Any) -> dict[tuple[str, str], Any]:
    return {(one.metric, one.segment): one for one in judged.results}


def body(judged: Any) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(judged.as_json())
    return said
