"""An auditor computes percentiles and shares from single requests, and finds what gates read."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from django.core.management import CommandError, call_command

from ingest.selectors import counted
from orchid.cli.audit import audit
from orchid.engine.histograms import entries_of, percentile_of
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

HOUR = timedelta(hours=1)


@pytest.fixture
def column(tmp_path: Path) -> Path:
    return tmp_path / "completions.npy"


def exported(
    product: Product, digest: str, arrived_at: datetime, column: Path, **changes: Any
) -> None:
    window = {"start": arrived_at - HOUR, "end": arrived_at + HOUR}
    call_command(
        "export_completions",
        product.slug,
        digest,
        publication=1,
        out=str(column),
        **window | changes,
    )


def audited(column: Path, *options: str) -> Any:
    done = CliRunner().invoke(audit, [str(column), "--json", *options], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.output)


def test_the_single_requests_say_what_the_rollups_say(
    edge: Sender,
    record: RecordMaker,
    product: Product,
    digest: str,
    arrived_at: datetime,
    column: Path,
) -> None:
    fast = [record(completion_ms=1200.0 + n / 7) for n in range(180)]
    slow = [record(completion_ms=4000.0) for _ in range(20)]
    lost = [record(outcome="timed_out", completion_ms=None) for _ in range(3)]
    refused = [record(outcome="rejected", attempts=[], completion_ms=None)]
    edge.records(*fast, *slow, *lost, *refused)
    count_waiting()
    exported(product, digest, arrived_at, column)
    found = audited(column, "--within", "1500", "--within", "1210")
    assert (found["requests"], found["ended_whole"], found["ms"]) == (203, 200, 4000.0)
    assert found["method"] == "nearest rank, exact"
    window = (arrived_at - HOUR, arrived_at + HOUR)
    read = counted(product, digest, 1, "incumbent", *window)
    bound = read.columns.bounds.index("completion<=1500")
    assert found["within"][0] == {
        "bound_ms": 1500.0,
        "within": int(read.columns.within[:, bound].sum()),
        "share": pytest.approx(180 / 203),
    }
    assert found["within"][1]["within"] == 71
    held = entries_of(read.columns.histogram)
    shown = percentile_of(held.bucket, held.count, 0.95)
    assert found["ms"] <= shown <= 1.01 * found["ms"]


def test_another_cohort_or_hour_is_left_out(
    edge: Sender,
    record: RecordMaker,
    product: Product,
    digest: str,
    arrived_at: datetime,
    column: Path,
) -> None:
    edge.records(record(), record(cohort="candidate"), record(publication=2))
    count_waiting()
    exported(product, digest, arrived_at, column)
    assert audited(column)["requests"] == 1
    with pytest.raises(CommandError, match="No request"):
        exported(product, digest, arrived_at, column, end=arrived_at)


def test_what_never_ended_has_no_number_and_the_table_says_so(column: Path) -> None:
    np.save(column, np.array([10.0, np.inf]))
    assert audited(column)["ms"] is None
    shown = CliRunner().invoke(audit, [str(column)]).output
    assert "of 2 requests" in shown
    assert "inf" in shown


@pytest.mark.parametrize(
    ("content", "words"),
    [(np.array(["a"]), "not one column"), (np.array([np.nan]), "no number"), (None, "no NumPy")],
)
def test_a_file_that_is_no_column_is_refused_in_words(
    column: Path, content: np.ndarray | None, words: str
) -> None:
    if content is None:
        column.write_text("10\n20\n")
    else:
        np.save(column, content)
    done = CliRunner().invoke(audit, [str(column)])
    assert done.exit_code != 0
    assert words in done.output
