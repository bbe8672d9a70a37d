import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ingest import selectors
from ingest.models import Batch, ClientCall, EngineAttempt, Source
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db

MODELS = ("chain", "compact", "full", "full_stream", "premium", "router_bls")
SERIES = 'nv_inference_request_success{model="full",version="1"}'
RUN = "source=triton-six&server_run=run1&engine_kind=triton"


def _run1(ci: Sender, recordings: Path, query: str = RUN) -> None:
    for path in sorted((recordings / "run1/trace").iterdir()):
        assert ci.file(path, f"kind=triton_trace&{query}").status_code == 202
    ci.file(recordings / "run1/client-log.jsonl", "kind=client_log&source=driver")
    count_waiting()


def _seen(product: Product) -> list[selectors.AttemptSeen]:
    return selectors.joined(product, list(selectors.attempts(product)))


def _trace(*objects: dict[str, Any]) -> bytes:
    return json.dumps(list(objects), separators=(",", ":")).encode()


def _stamps(trace_id: int, start: int, *names: str) -> list[dict[str, Any]]:
    return [
        {"id": trace_id, "timestamps": [{"name": name, "ns": start + 1_000_000 * place}]}
        for place, name in enumerate(names)
    ]


def _bring(ci: Sender, body: bytes, batch_id: str, query: str = "server_run=a") -> dict[str, Any]:
    ci.post(f"/api/v1/ingest/files?kind=triton_trace&{query}", body, **{"Batch-Id": batch_id})
    count_waiting()
    return dict(Batch.objects.get(batch_id=batch_id).counts)


def test_a_recorded_run_is_read_and_joined_with_its_client(
    ci: Sender, recordings: Path, product: Product
) -> None:
    _run1(ci, recordings)
    seen = _seen(product)
    assert len(seen) == 461
    assert ClientCall.objects.count() == 340
    roots = [one for one in seen if not one.attempt.parent_key and one.joined]
    assert Counter(one.outcome for one in roots) == {
        "completed": 253,
        "failed": 12,
        "timed_out": 27,
        "rejected": 3,
        "cancelled": 5,
    }
    # What Triton counts as answered and the caller does not: errors of a model, a late cancel.
    hidden = Counter(one.outcome for one in roots if one.disagrees)
    assert hidden == {"failed": 12, "cancelled": 1}


def test_a_recorded_run_twice_is_the_same_run(
    ci: Sender, recordings: Path, product: Product
) -> None:
    _run1(ci, recordings)
    _run1(ci, recordings)
    assert (EngineAttempt.objects.count(), ClientCall.objects.count()) == (461, 340)
    again = Batch.objects.filter(kind="triton_trace").order_by("-pk").first()
    assert again is not None
    assert again.counts["inserted"] == 0


def test_without_an_anchor_an_attempt_has_durations_and_no_time_of_day(
    ci: Sender, recordings: Path, product: Product
) -> None:
    _run1(ci, recordings)
    seen = _seen(product)
    assert {one.started_at for one in seen} == {None}
    assert all(one.attempt.request_ms or one.outcome == "rejected" for one in seen)


def test_an_anchor_gives_wall_time(ci: Sender, recordings: Path, product: Product) -> None:
    call = json.loads((recordings / "run1/client-log.jsonl").read_bytes().splitlines()[1])
    anchor = (
        f"&anchor_monotonic_ns={call['t_send_mono_ns']}&anchor_unix_ns={call['t_send_unix_ns']}"
    )
    _run1(ci, recordings, RUN + anchor)
    (one,) = (s for s in _seen(product) if s.attempt.attempt_id == call["request_id"])
    assert one.started_at is not None
    assert one.call is not None
    assert 0 < (one.started_at - one.call.sent_at).total_seconds() < 0.1


def test_queue_and_compute_times_of_each_model(
    ci: Sender, recordings: Path, product: Product
) -> None:
    _run1(ci, recordings)
    times = {row.model: row for row in selectors.model_times(product)}
    assert times["chain"].compute_p50_ms is None
    assert sum(row.executions for row in times.values()) == 461
    assert (times["premium"].queue_p95_ms or 0) > (times["premium"].queue_p50_ms or 0) > 0


def test_a_restart_that_reuses_ids_gives_other_attempts(ci: Sender) -> None:
    names = ("REQUEST_START", "QUEUE_START", "REQUEST_END")
    for batch_id, start in (("a", 9 * 10**15), ("b", 5 * 10**12)):
        objects = [stamp for i in (1, 2, 3) for stamp in _stamps(i, start, *names)]
        assert _bring(ci, _trace(*objects), batch_id)["inserted"] == 3
    durations = EngineAttempt.objects.values_list("request_ms", flat=True)
    assert list(durations) == [2.0] * 6


def test_the_whole_file_after_a_torn_one_adds_only_what_is_new(ci: Sender) -> None:
    names = ("HTTP_RECV_START", "REQUEST_START", "QUEUE_START", "COMPUTE_START", "REQUEST_END")
    whole = _trace(*_stamps(1, 50, *names), *_stamps(2, 90, *names))
    torn = _bring(ci, whole[: whole.index(b"COMPUTE_START") + 4], "torn")
    assert (torn["inserted"], torn["partial"], torn["rejected"]) == (1, 1, 1)
    (piece,) = Batch.objects.get(batch_id="torn").rejected
    assert whole[piece["offset"] :].startswith(b'{"id":')
    full = _bring(ci, whole, "whole")
    assert (full["inserted"], full["completed_later"], full["duplicates"]) == (1, 1, 0)
    assert EngineAttempt.objects.get(key="1:50").queue_ms == 1.0
    assert _bring(ci, whole[:-40], "torn-later")["completed_later"] == 0
    assert EngineAttempt.objects.get(key="2:90").request_ms == 3.0


def test_a_parent_is_broken_down_only_with_its_children(ci: Sender) -> None:
    def compute(trace_id: int, start: int, stop: int, **header: Any) -> list[dict[str, Any]]:
        events = (("COMPUTE_START", start), ("COMPUTE_END", stop))
        stamps = [{"id": trace_id, "timestamps": [{"name": n, "ns": at}]} for n, at in events]
        return [{"id": trace_id, "model_name": "m", "model_version": 1, **header}, *stamps]

    parent = compute(1, 0, 2_054_650)
    _bring(ci, _trace(*parent), "alone")
    alone = EngineAttempt.objects.get()
    assert (alone.request_ms, alone.exclusive_ms) == (2.05465, None)
    _bring(ci, _trace(*parent, *compute(2, 100_000, 1_900_000, parent_id=1)), "family")
    both = EngineAttempt.objects.get(key="1:0")
    assert (both.request_ms, both.exclusive_ms) == (2.05465, 0.25465)


def test_an_attempt_joins_the_gateways_record_by_its_id(
    edge: Sender, ci: Sender, record: RecordMaker, product: Product
) -> None:
    edge.records(
        record(outcome="cancelled", attempts=[{"attempt_id": "a-1", "status": "cancelled"}])
    )
    header = {"id": 1, "model_name": "full", "model_version": 1, "request_id": "a-1"}
    names = ("REQUEST_START", "QUEUE_START", "COMPUTE_START", "INFER_RESPONSE_COMPLETE")
    _bring(ci, _trace(header, *_stamps(1, 10, *names)), "t")
    (one,) = _seen(product)
    assert (one.joined, one.outcome, one.engine_outcome) == ("gateway", "cancelled", "completed")
    assert one.disagrees


def test_increases_of_a_servers_figures_come_from_its_samples(
    ci: Sender, recordings: Path, product: Product
) -> None:
    for name in ("before", "after"):
        ci.file(recordings / f"run1/metrics-{name}.txt", "kind=metrics")
        ci.file(recordings / f"run1/statistics-{name}.http.json", "kind=statistics")
    count_waiting()
    scraped, asked = (
        {row.model: row for row in selectors.engine_figures(product, source.pk)}
        for source in Source.objects.order_by("kind")
    )
    assert set(scraped) == set(asked) == {f"{model}:1" for model in MODELS}
    for model, row in asked.items():
        # The scrape counts whole microseconds.
        assert scraped[model].queue_ms == pytest.approx(row.queue_ms, abs=2e-3)
        assert scraped[model].compute_ms == pytest.approx(row.compute_ms, abs=4e-3)
        assert (scraped[model].answered, scraped[model].failed) == (row.answered, row.failed)
    premium = asked["premium:1"]
    assert (premium.answered, premium.failed, premium.executions) == (60, 22, 47)
    assert premium.queue_ms == pytest.approx(385.46, abs=0.01)
    assert premium.resets == 0


def test_a_counter_that_starts_again_is_a_reset_and_not_a_loss(ci: Sender) -> None:
    for number, value in enumerate((100, 160, 5, 25)):
        text = f"# TYPE nv_inference_request_success counter\n{SERIES} {value}\n".encode()
        path = "/api/v1/ingest/files?kind=metrics"
        ci.post(path, text, **{"Batch-Id": f"scrape-{number}"})
        count_waiting()
    source = Source.objects.get()
    (row,) = selectors.engine_figures(source.product, source.pk)
    assert (row.answered, row.resets) == (85, 1)
    # Never computed, so there is no mean and not a mean of 0.
    assert (row.queue_ms, row.compute_ms) == (None, None)
