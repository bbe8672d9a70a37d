"""Recorded traffic: stored once in few bytes, replayed as it was observed."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from controlplane.errors import Conflict
from ingest.models import ArrivalTrace, Batch
from ingest.selectors import arrivals, traffic_windows
from orchid.formats.arrivals import registry
from tests.ingest.ingest_cast import SLUG, Sender, count_waiting

pytestmark = pytest.mark.django_db

#: Late senders: three at once, then 20 and 40 ms, at a configured 50 a second.
LATE = b"".join(
    b'{"timestamp": %d, "input_length": 10, "output_length": 5}\n' % at for at in (0, 0, 0, 20, 40)
)


@pytest.fixture
def engineer(client: Client, ana: Any, product: Any) -> Client:
    client.force_login(ana)
    return client


def deliver(ci: Sender, body: bytes, *words: str, **headers: str) -> ArrivalTrace:
    query = "&".join(("kind=arrivals", "source=lab", *words))
    headers.setdefault("Batch-Id", f"trace-{Batch.objects.count()}")
    answer = ci.post(f"/api/v1/ingest/files?{query}", body, **headers)
    assert answer.status_code == 202, answer.content
    count_waiting()
    newest = ArrivalTrace.objects.order_by("-pk").first()
    assert newest is not None, Batch.objects.order_by("-pk")[0].reason
    return newest


def test_late_senders_are_replayed_as_they_arrived_and_the_burst_shows(
    ci: Sender, engineer: Client
) -> None:
    trace = deliver(ci, LATE, "title=late")
    assert [one.at_ns for one in arrivals(trace.pk)] == [0, 0, 0, 20_000_000, 40_000_000]
    assert max(trace.rates["counts"]) == 3
    assert trace.statistics["rate_per_s"] == 100
    assert trace.statistics["zero_gaps"] == 2
    page = engineer.get(f"/products/{SLUG}/arrivals/{trace.pk}/").content.decode()
    assert "Peak in one second" in page
    assert 'data-plot="traffic"' in page


def test_the_warm_up_cut_is_recorded_with_the_result(ci: Sender, engineer: Client) -> None:
    trace = deliver(ci, LATE, "warm_up_s=0.02")
    assert (trace.rows, trace.warm_up_s) == (5, 0.02)
    assert [one.at_ns for one in arrivals(trace.pk)] == [20_000_000, 40_000_000]
    assert trace.statistics["input"]["count"] == 2
    page = engineer.get(f"/products/{SLUG}/arrivals/{trace.pk}/").content.decode()
    assert "Without the warm-up: the first 0.02 s." in page


def test_a_warm_up_that_leaves_nothing_is_set_aside(ci: Sender) -> None:
    query = "kind=arrivals&source=lab&warm_up_s=60"
    ci.post(f"/api/v1/ingest/files?{query}", LATE, **{"Batch-Id": "x"})
    count_waiting()
    batch = Batch.objects.get()
    assert (batch.status, batch.reason) == ("set_aside", "Nothing is left after the warm-up.")


def test_a_whole_file_comes_back_in_order_and_is_one_trace(ci: Sender, data: Path) -> None:
    body = (data / "traffic/azure_llm_2023_conv_first_half.csv.gz").read_bytes()
    trace = deliver(ci, body, **{"Content-Encoding": "gzip"})
    deliver(ci, body, "source=again", **{"Content-Encoding": "gzip"})
    assert ArrivalTrace.objects.count() == 1
    found = list(arrivals(trace.pk))
    assert len(found) == 9683
    assert found[0].at_ns == 1_700_158_546_680_590_000
    assert found == sorted(found, key=lambda one: one.at_ns)
    (row,) = ci.client.get("/api/v1/ingest/arrivals").json()["results"]
    assert (row["format"], row["holds"], row["rows"]) == ("azure", "arrivals", 9683)
    one = ci.client.get(f"/api/v1/ingest/arrivals/{row['id']}").json()
    assert one["statistics"]["rate_per_s"] == pytest.approx(5.5535, abs=1e-4)
    assert one["statistics"]["peak_in_1s"] == 15
    assert "content" not in one


def test_a_model_of_traffic_has_windows_and_no_arrivals(
    ci: Sender, engineer: Client, data: Path
) -> None:
    for part in ("trace.csv", "dataset.json"):
        name = f"traffic/servegen_language_m_large_chunk_104_{part}.gz"
        trace = deliver(ci, (data / name).read_bytes(), **{"Content-Encoding": "gzip"})
        assert engineer.get(f"/products/{SLUG}/arrivals/{trace.pk}/").status_code == 200
        with pytest.raises(Conflict):
            arrivals(trace.pk)
        assert len(traffic_windows(trace.pk)) in (2016, 56)


def test_lengths_alone_have_no_picture_and_say_so(ci: Sender, engineer: Client, data: Path) -> None:
    body = (data / "traffic/vidur_arxiv_lengths_first_half.csv.gz").read_bytes()
    trace = deliver(ci, body, **{"Content-Encoding": "gzip"})
    page = engineer.get(f"/products/{SLUG}/arrivals/{trace.pk}/").content.decode()
    assert "Lengths without arrival times" in page
    assert 'data-plot="traffic"' not in page
    assert "2,717" in page


def test_a_trace_of_another_kind_than_it_says_is_set_aside(ci: Sender, data: Path) -> None:
    body = (data / "trials/perf/perf_analyzer_inception_graphdef.csv").read_bytes()
    ci.post("/api/v1/ingest/files?kind=arrivals&source=lab", body, **{"Batch-Id": "x"})
    count_waiting()
    assert Batch.objects.get().status == "set_aside"
    assert "Azure LLM inference trace" in Batch.objects.get().reason


@pytest.mark.parametrize("name", [one.name for one in registry.FORMATS])
def test_hostile_bytes_of_a_named_format_are_set_aside_and_never_retried(
    ci: Sender, name: str
) -> None:
    for number, body in enumerate((b"\x00" * 99, b"{" * 99_999, b'{"0": {"a": 1}}', b"1,2,3,,4,5")):
        query = f"kind=arrivals&source=lab&format={name}"
        ci.post(f"/api/v1/ingest/files?{query}", body, **{"Batch-Id": f"x{number}"})
    count_waiting()
    assert {batch.status for batch in Batch.objects.all()} <= {"set_aside", "done"}
