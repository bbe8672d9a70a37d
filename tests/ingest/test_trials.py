"""Results of load generators: stored once, with what they can support, on pages and by API."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEvent
from ingest.models import Batch, Trial
from ingest.selectors import support_of
from tests.ingest.ingest_cast import SLUG, Sender, count_waiting

pytestmark = pytest.mark.django_db

PAGE = f"/products/{SLUG}/trials/"
INCEPTION = "trials/perf/perf_analyzer_inception_graphdef.csv"
VLLM = "trials/measured/vllm_rtx4090_llama_3_1_8b_requests.jsonl.gz"
STAGE = "trials/perf/inference_perf_vllm/stage_0"
EVERYTHING = {
    "loop": "open",
    "residency": "both",
    "cache_state": "both",
    **dict.fromkeys(
        ("mix", "lengths", "manifest", "batch", "padding", "queue_dwell", "cancelled_work",
         "late_work", "preemption", "policy_checks", "full_cost"),
        "as in the report",
    ),
}  # fmt: skip


@pytest.fixture
def engineer(client: Client, ana: Any, product: Any) -> Client:
    client.force_login(ana)
    return client


def deliver(ci: Sender, path: Path, **query: str) -> Trial:
    words = "&".join(f"{name}={value}" for name, value in {"source": "lab", **query}.items())
    coding = {"Content-Encoding": "gzip"} if path.suffix == ".gz" else {}
    answer = ci.file(path, f"kind=trial&{words}", **coding)
    assert answer.status_code == 202, answer.content
    count_waiting()
    newest = Trial.objects.order_by("-pk").first()
    assert newest is not None
    return newest


def test_a_report_of_perf_analyzer_is_recognised_and_kept_as_it_tells_it(
    ci: Sender, data: Path
) -> None:
    deliver(ci, data / INCEPTION, title="inception")
    (row,) = ci.client.get("/api/v1/ingest/trials").json()["results"]
    assert (row["title"], row["tool"], row["format"], row["size"]) == (
        "inception",
        "perf_analyzer",
        "perf_analyzer",
        4,
    )
    one = ci.client.get(f"/api/v1/ingest/trials/{row['id']}").json()
    latency = one["points"][0]["metrics"]["request_latency"]
    assert latency["statistics"]["p95"] == 19753
    assert (latency["unit"], latency["clock"]) == ("us", "client")
    assert one["points"][0]["ours"] == {}
    assert one["supports_advance"] is False
    assert one["reasons"][0].startswith("Closed loop")
    assert {"manifest", "full_cost", "cache_state"} <= set(one["missing"])


def test_the_same_content_is_one_trial_whoever_brings_it_again(ci: Sender, data: Path) -> None:
    deliver(ci, data / INCEPTION)
    deliver(ci, data / INCEPTION, source="other", mix="pictures")
    trial = Trial.objects.get()
    assert trial.declared == {"mix": "pictures"}
    assert Batch.objects.order_by("-pk")[0].counts["duplicates"] == 1


def test_an_open_cold_and_warm_trial_that_declares_everything_supports_an_advance(
    ci: Sender, data: Path
) -> None:
    trial = deliver(ci, data / VLLM, **EVERYTHING)
    assert support_of(trial).reasons == ()
    assert support_of(trial).supports
    assert trial.told["queue_dwell"] != trial.declared["queue_dwell"]


def test_a_declaration_never_overrules_the_file(ci: Sender, data: Path, engineer: Client) -> None:
    trial = deliver(ci, data / INCEPTION, **EVERYTHING)
    assert support_of(trial).reasons[0].startswith("Closed loop")
    assert b"the file is believed" in engineer.get(f"{PAGE}{trial.pk}/").content


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("format=excel", "bad_format"),
        ("loop=half", "bad_declaration"),
        ("mix=" + "a" * 201, "bad_declaration"),
        ("warm_up_s=nan", "bad_declaration"),
        ("warm_up_s=-1", "bad_declaration"),
    ],
)
def test_a_wrong_declaration_is_refused_at_once(
    ci: Sender, data: Path, query: str, code: str
) -> None:
    answer = ci.file(data / INCEPTION, f"kind=trial&source=lab&{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not Batch.objects.exists()


def test_a_file_of_no_known_format_is_set_aside_with_what_is_known(ci: Sender) -> None:
    ci.post("/api/v1/ingest/files?kind=trial&source=lab", b"a,b\n1,2\n", **{"Batch-Id": "x"})
    count_waiting()
    batch = Batch.objects.get()
    assert batch.status == "set_aside"
    assert "inference-perf report" in batch.reason
    assert not Trial.objects.exists()


def test_a_bad_row_is_named_by_line_and_leaves_the_trial_torn(ci: Sender, data: Path) -> None:
    body = (data / INCEPTION).read_bytes().replace(b"3,84.2", b"3,NaN")
    ci.post("/api/v1/ingest/files?kind=trial&source=lab", body, **{"Batch-Id": "x"})
    count_waiting()
    (rejected,) = Batch.objects.get().rejected
    assert (rejected["line"], rejected["code"]) == (3, "unreadable")
    assert rejected["message"].startswith("Inferences/Second is NaN")
    trial = Trial.objects.get()
    assert len(trial.points) == 3
    assert not trial.whole


def test_a_trial_page_shows_method_clock_what_is_missing_and_why_not(
    engineer: Client, ci: Sender, data: Path
) -> None:
    trial = deliver(ci, data / VLLM, title="4090")
    page = engineer.get(f"{PAGE}{trial.pk}/").content.decode()
    for text in (
        "Can it support an advance?",
        "✕ No",
        "inverted CDF (nearest rank)",
        "engine, monotonic",
        "– missing",
        "Full cost",
        'data-plot="trial-latency"',
    ):
        assert text in page, text
    assert "83,275" in page
    assert "83,413" not in page  # the published figure lies between two order statistics


def test_files_of_one_run_stand_side_by_side_and_disagree(
    engineer: Client, ci: Sender, data: Path
) -> None:
    for kind in ("lifecycle", "prometheus"):
        name = f"{STAGE}_{kind}_metrics.json"
        trial = deliver(ci, data / name, server_run="kubecon", title=Path(name).name)
    page = engineer.get(f"{PAGE}{trial.pk}/").content.decode()
    assert "The same run as each file tells it" in page
    assert "inference-perf, client" in page
    assert "inference-perf, server, scraped by Prometheus" in page
    assert "0.480 s" in page
    assert "3.025 s" in page


def test_a_file_alone_has_nothing_beside_it(engineer: Client, ci: Sender, data: Path) -> None:
    for kind in ("lifecycle", "prometheus"):
        trial = deliver(ci, data / f"{STAGE}_{kind}_metrics.json")
    page = engineer.get(f"{PAGE}{trial.pk}/").content.decode()
    assert "The same run as each file tells it" not in page


def test_a_person_brings_a_gzipped_result_with_its_facts(engineer: Client, data: Path) -> None:
    body = gzip.compress((data / INCEPTION).read_bytes())
    fields = {"kind": "trial", "source": "lab", "mix": "pictures", "residency": "warm"}
    file = SimpleUploadedFile("inception.csv.gz", body)
    assert engineer.post(f"{PAGE}upload/", {**fields, "file": file}).status_code == 302
    count_waiting()
    trial = Trial.objects.get()
    assert trial.title == "inception.csv.gz"
    assert trial.declared == {"mix": "pictures", "residency": "warm"}
    assert b"inception.csv.gz" in engineer.get(PAGE).content


def test_a_missing_file_or_wrong_answer_is_said_in_the_form(engineer: Client) -> None:
    answer = engineer.post(f"{PAGE}upload/", {"kind": "trial", "source": "lab", "loop": "half"})
    assert answer.status_code == 400
    assert b"This field is required" in answer.content


def test_facts_can_be_declared_later_and_are_audited(
    engineer: Client, ci: Sender, data: Path
) -> None:
    trial = deliver(ci, data / VLLM, mix="chat")
    given = {"manifest": "sha256:abc", "loop": "open"}
    assert engineer.post(f"{PAGE}{trial.pk}/declare/", given).status_code == 302
    trial.refresh_from_db()
    assert trial.declared == {"mix": "chat", "manifest": "sha256:abc", "loop": "open"}
    assert AuditEvent.objects.get(action="trial.declared").data == given


def test_who_may_only_look_declares_nothing(
    client: Client, eve: Any, ci: Sender, data: Path
) -> None:
    trial = deliver(ci, data / VLLM)
    client.force_login(eve)
    page = client.get(f"{PAGE}{trial.pk}/")
    assert page.status_code == 200
    assert b"Declare what is missing" not in page.content
    assert client.post(f"{PAGE}{trial.pk}/declare/", {"mix": "x"}).status_code == 403
    trial.refresh_from_db()
    assert trial.declared == {}


def test_a_trial_of_another_product_is_not_found(engineer: Client) -> None:
    assert engineer.get(f"{PAGE}999999/").status_code == 404
    assert engineer.get(f"/products/{SLUG}/arrivals/999999/").status_code == 404


def test_free_text_of_answers_is_stored_nowhere(ci: Sender) -> None:
    request = {"timestamp": 5, "response_timestamps": [9], "response_outputs": [{"t": "secret"}]}
    experiment = {"experiment": {"mode": "concurrency", "value": 1}, "requests": [request]}
    body = json.dumps({"experiments": [experiment]}).encode()
    ci.post("/api/v1/ingest/files?kind=trial&source=lab", body, **{"Batch-Id": "x"})
    count_waiting()
    trial = Trial.objects.get()
    assert "secret" not in json.dumps([trial.points, trial.notes, trial.told])
    assert Batch.objects.get().body is None
