import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ingest.models import Batch, EngineAttempt
from tests.ingest.ingest_cast import SLUG, RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db

PAGES = ("sources", "batches", "attempts", "requests")


@pytest.fixture
def engineer(client: Client, ana: Any, product: Any) -> Client:
    client.force_login(ana)
    return client


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_page_says_what_brings_something(engineer: Client, page: str) -> None:
    answer = engineer.get(f"/products/{SLUG}/{page}/")
    assert answer.status_code == 200
    assert b'class="empty"' in answer.content


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_for_people_with_a_role_in_the_product(
    client: Client, product: Any, page: str, django_user_model: Any
) -> None:
    assert client.get(f"/products/{SLUG}/{page}/").status_code == 302
    client.force_login(django_user_model.objects.create(username="stranger"))
    assert client.get(f"/products/{SLUG}/{page}/").status_code == 404


def test_sources_say_what_is_counted_and_that_a_trace_has_no_anchor(
    engineer: Client, edge: Sender, ci: Sender, record: RecordMaker, recordings: Path
) -> None:
    edge.records(record(), b"{")
    ci.file(recordings / "run1/trace/trace.json.7", "kind=triton_trace&source=six&server_run=r1")
    count_waiting()
    page = engineer.get(f"/products/{SLUG}/sources/").content.decode()
    assert "edge-1" in page
    assert "six (r1)" in page
    assert "no anchor: durations only" in page


def test_a_batch_shows_its_refused_lines(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record(), b"{", record(prompt="x"))
    pk = Batch.objects.get().pk
    assert b"Stored, not yet counted" in engineer.get(f"/products/{SLUG}/batches/{pk}/").content
    count_waiting()
    page = engineer.get(f"/products/{SLUG}/batches/{pk}/").content.decode()
    assert "line 2" in page
    assert "text_not_allowed" in page


def test_a_file_is_brought_in_by_the_form_and_the_same_file_is_the_same_batch(
    engineer: Client, recordings: Path
) -> None:
    for _ in range(2):
        with (recordings / "run1/trace/trace.json.7").open("rb") as file:
            form = {"file": file, "kind": "triton_trace", "source": "six", "server_run": "r1"}
            answer = engineer.post(f"/products/{SLUG}/sources/upload/", form)
        assert answer.status_code == 302
    count_waiting()
    assert Batch.objects.count() == 1
    assert EngineAttempt.objects.count() == 3
    page = engineer.get(answer.headers["Location"]).content
    assert b"This file was here before" in page


def test_a_file_too_large_for_a_browser_is_refused_with_the_command_that_takes_it(
    engineer: Client, monkeypatch: pytest.MonkeyPatch, recordings: Path
) -> None:
    monkeypatch.setattr("ingest.forms.files.MAX_FILE", 100)
    with (recordings / "run1/trace/trace.json.7").open("rb") as file:
        form = {"file": file, "kind": "triton_trace", "source": "s"}
        answer = engineer.post(f"/products/{SLUG}/sources/upload/", form)
    assert answer.status_code == 400
    assert b"orchid ingest --product orchid-demo trace.json.7" in answer.content


def test_spans_of_a_file_are_stored_and_those_that_are_none_are_explained(
    engineer: Client, recordings: Path
) -> None:
    def brought(name: str, body: bytes) -> Any:
        form = {"file": SimpleUploadedFile(name, body), "kind": "otlp", "source": "six"}
        return engineer.post(f"/products/{SLUG}/sources/upload/", form, follow=True)

    body = (recordings / "run2/otlp/0000.otlp.json").read_bytes()
    assert b"spans are new, 0 were refused" in brought("0000.otlp.json", body).content
    assert b"This file was here before" in brought("0000.otlp.json", body).content
    wrong = brought("notes.json", b"{")
    assert wrong.status_code == 400
    assert b"This is no body of OTLP" in wrong.content


def test_half_an_anchor_is_explained_on_the_form(engineer: Client, recordings: Path) -> None:
    with (recordings / "run1/trace/trace.json.7").open("rb") as file:
        form = {"file": file, "kind": "triton_trace", "source": "s", "anchor_unix_ns": "5"}
        answer = engineer.post(f"/products/{SLUG}/sources/upload/", form)
    assert answer.status_code == 400
    assert b"both of its clocks" in answer.content
    assert not Batch.objects.exists()


def test_an_auditor_sees_no_form_and_may_not_send(
    client: Client, eve: Any, product: Any, recordings: Path
) -> None:
    client.force_login(eve)
    assert b"Bring a file" not in client.get(f"/products/{SLUG}/sources/").content
    assert client.post(f"/products/{SLUG}/sources/upload/", {}).status_code == 403


def test_a_set_aside_batch_has_a_button_that_tries_it_again(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    Batch.objects.update(status="set_aside", reason="Gave up after 5 tries.")
    pk = Batch.objects.get().pk
    assert b"Try it again" in engineer.get(f"/products/{SLUG}/batches/{pk}/").content
    engineer.post(f"/products/{SLUG}/batches/{pk}/retry/")
    assert Batch.objects.get().status == "received"


def test_attempts_show_outcomes_and_durations_without_a_time_of_day(
    engineer: Client, ci: Sender, recordings: Path
) -> None:
    ci.file(recordings / "run1/trace/trace.json.0", "kind=triton_trace&server_run=r1")
    ci.file(recordings / "run1/client-log.jsonl", "kind=client_log")
    count_waiting()
    page = engineer.get(f"/products/{SLUG}/attempts/").content.decode()
    assert "durations only" in page
    assert "engine: completed" in page
    assert "Queue p95" in page
    partial = engineer.get(f"/products/{SLUG}/attempts/", headers={"HX-Request": "true"})
    assert b"<html" not in partial.content


def test_counters_of_a_server_are_reached_from_its_source(
    engineer: Client, ci: Sender, recordings: Path
) -> None:
    ci.file(recordings / "run1/statistics-before.http.json", "kind=statistics&source=six")
    ci.file(recordings / "run1/statistics-after.grpc.json", "kind=statistics&source=six")
    count_waiting()
    sources = engineer.get(f"/products/{SLUG}/sources/").content.decode()
    (address,) = re.findall(r'href="([^"]+/figures/)"', sources)
    page = engineer.get(address).content.decode()
    assert "premium:1" in page
    assert "385.460" in page


def test_a_hundred_requests_of_one_moment_page_without_repeats(
    engineer: Client, edge: Sender, record: RecordMaker, arrived_at: datetime
) -> None:
    edge.records(*(record(request_id=f"r-{number:03d}") for number in range(100)))
    later = (arrived_at + timedelta(seconds=1)).isoformat()
    edge.records(record(request_id="r-last", arrived_at=later))
    count_waiting()
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = engineer.get(f"/products/{SLUG}/requests/?cursor={cursor}").context["requests"]
        seen += [row.request_id for row in page.rows]
        cursor = page.next_cursor
    assert cursor == ""
    assert len(seen) == len(set(seen)) == 101
    assert seen[0] == "r-last"


def test_pages_of_the_machine_lists_agree_with_the_rows(
    edge: Sender, ci: Sender, record: RecordMaker, recordings: Path
) -> None:
    edge.records(record())
    ci.file(recordings / "run1/trace/trace.json.0", "kind=triton_trace&server_run=r1")
    count_waiting()
    sources = ci.client.get("/api/v1/ingest/sources").json()["results"]
    assert {row["kind"]: row["inserted"] for row in sources} == {"edge": 1, "triton_trace": 63}
    attempts = ci.client.get("/api/v1/ingest/attempts").json()
    assert len(attempts["results"]) == 50
    more = ci.client.get(f"/api/v1/ingest/attempts?cursor={attempts['next_cursor']}").json()
    assert len(more["results"]) == 13
    assert len(ci.client.get("/api/v1/ingest/batches").json()["results"]) == 2


def test_requests_are_listed_for_machines_as_their_edge_reported_them(
    edge: Sender, record: RecordMaker, digest: str
) -> None:
    edge.records(record(outcome="timed_out", completion_ms=None))
    count_waiting()
    (row,) = edge.client.get("/api/v1/ingest/requests").json()["results"]
    assert (row["digest"], row["publication"], row["outcome"]) == (digest, 1, "timed_out")
    assert row["completion_ms"] is None
    assert row["teu"] == "320.000000"
