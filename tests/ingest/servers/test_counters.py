"""What counters tell and hide: models that count nothing, steps, cut scrapes, limits."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from ingest import selectors
from ingest.models import CounterSample, CounterSeries, Source, TritonServer
from ingest.selectors.figures import requests_from_outside, source_histograms
from ingest.selectors.hidden import side_by_side
from ingest.selectors.servers import counted
from ingest.services import counters, servers
from orchid.formats.engine_metrics import EngineFigure
from policies.models import Product
from tests.ingest.ingest_cast import Sender, count_waiting
from tests.ingest.servers.checking import checked
from tests.ingest.servers.double import RUN1, Triton, over_http, read

pytestmark = pytest.mark.django_db

STEPS = ("preprocessing", "tensorrt_llm", "postprocessing")


def entry(name: str, success: int) -> dict[str, Any]:
    stats = {"success": {"count": success, "ns": success * 1_000_000}}
    counts = {"inference_count": success, "execution_count": success}
    return {"name": name, "version": "1", "inference_stats": stats, **counts}


@pytest.fixture
def pipeline(triton: Triton) -> Triton:
    """An ensemble of three, of which the one that does the work counts nothing."""
    step = {"model_version": -1, "input_map": {}, "output_map": {}}
    names = ("ensemble", *STEPS)
    triton.index = [{"name": name, "version": "1", "state": "READY"} for name in names]
    triton.configs = {name: {"name": name, "backend": "python"} for name in STEPS}
    triton.configs["ensemble"] = {
        "name": "ensemble",
        "platform": "ensemble",
        "ensemble_scheduling": {"step": [{"model_name": one, **step} for one in STEPS]},
    }
    triton.metadata = {name: {"name": name, "inputs": [], "outputs": []} for name in names}
    triton.statistics = {"model_stats": [entry(name, 0) for name in names]}
    return triton


def test_counters_that_stay_0_are_no_data_and_59_requests_are_59(
    polled: TritonServer, pipeline: Triton
) -> None:
    checked(polled)
    told = [entry(name, 0 if name == "tensorrt_llm" else 59) for name in ("ensemble", *STEPS)]
    pipeline.statistics = {"model_stats": told}
    found = counted(checked(polled))
    assert found.requests == 59
    silent = next(one for one in found.figures if one.name == "tensorrt_llm")
    assert silent.silent
    # No request, so no mean: not 0/0, and not 0.
    assert (silent.queue_ms, silent.compute_ms) == (None, None)
    assert not any(one.silent for one in found.figures if one.name != "tensorrt_llm")


def test_calls_of_a_step_from_outside_count_beside_those_of_its_ensemble() -> None:
    def one(name: str, answered: int) -> selectors.EngineFigures:
        return selectors.EngineFigures(f"{name}:1", answered, 0, answered, None, None, 0)

    figures = [one("chain", 10), one("compact", 25), one("full", 10)]
    assert requests_from_outside(figures, {"chain": ("compact", "full")}) == 25
    assert requests_from_outside(figures, {}) == 45


def test_a_metrics_address_alone_is_enough_for_vllm(
    product: Product, triton: Triton, data: Path
) -> None:
    triton.metrics = (data / "metrics/metrics_vllm_qwen_coder.prom").read_bytes()
    with over_http(triton) as url:
        wish = {"metrics_url": f"{url}/metrics"}
        server = servers.register(SYSTEM_ACTOR, product, "coder", wish)
        found = checked(server)
        assert (found.state, found.kind) == ("ready", "vllm")
        triton.metrics = triton.metrics.replace(
            b'finished_reason="stop",model_name="Qwen/Qwen2.5-Coder-1.5B-Instruct"} 4.0',
            b'finished_reason="stop",model_name="Qwen/Qwen2.5-Coder-1.5B-Instruct"} 94.0',
        )
        found = checked(server)
    (one,) = selectors.engine_counts(product)
    assert one.ended == {"stop": 90}
    assert one.model == "Qwen/Qwen2.5-Coder-1.5B-Instruct"
    (tokens,) = source_histograms(found.source)
    assert tokens.is_cut
    off = CounterSeries.objects.get(name="vllm:gpu_prefix_cache_hit_rate")
    assert off.value is None
    assert checked(server).state == "unreachable"


def test_two_spellings_of_one_statistics_answer_grow_by_nothing(
    ci: Sender, recordings: Path, product: Product
) -> None:
    for name in ("statistics-before.grpc.json", "statistics-before.http.json"):
        path = RUN1 / name if "grpc" in name else recordings / "run1" / name
        ci.file(path, "kind=statistics&source=six")
    count_waiting()
    figures = selectors.engine_figures(product, Source.objects.get(kind="statistics").pk)
    assert {(one.answered, one.failed, one.silent) for one in figures} == {(0, 0, True)}


def test_metrics_before_in_the_middle_and_after_add_up(
    ci: Sender, recordings: Path, product: Product
) -> None:
    for path in (
        recordings / "run1/metrics-before.txt",
        RUN1 / "metrics-mid.txt",
        recordings / "run1/metrics-after.txt",
    ):
        ci.file(path, "kind=metrics&source=six")
    count_waiting()
    figures = selectors.engine_figures(product, Source.objects.get().pk)
    premium = next(one for one in figures if one.name == "premium")
    assert (premium.answered, premium.failed, premium.executions) == (60, 22, 47)
    assert premium.reasons == {"REJECTED": 22, "CANCELED": 0, "BACKEND": 0, "OTHER": 0}


def test_growth_since_a_moment_begins_where_the_series_stood_then(product: Product) -> None:
    source = Source.objects.create(product=product, kind="metrics", name="s")
    begun = timezone.now() - timedelta(hours=2)
    for minute, value in enumerate((10.0, 30.0, 70.0)):
        told = [EngineFigure("m:1", "success_count", "", "", "counter", value)]
        counters.record(source, told, begun + timedelta(minutes=30 * minute))
    since = begun + timedelta(minutes=45)
    (one,) = selectors.engine_figures(product, source.pk, since)
    assert one.answered == 40
    assert selectors.engine_figures(product, source.pk)[0].answered == 60


def test_series_beyond_the_limit_are_left_out_and_counted(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "MOST_SERIES", 3)
    source = Source.objects.create(product=product, kind="metrics", name="s")
    told = [EngineFigure(f"m{n}:1", "success_count", "", "", "counter", 1.0) for n in range(5)]
    recorded = counters.record(source, told, timezone.now())
    assert (recorded.figures, recorded.left_out) == (3, 2)
    assert CounterSeries.objects.count() == 3


def test_a_value_that_did_not_change_is_not_stored_again_and_old_ones_go(product: Product) -> None:
    source = Source.objects.create(product=product, kind="metrics", name="s")
    begun = timezone.now() - counters.KEPT - timedelta(days=1)
    for hour, value in enumerate((1.0, 1.0, 1.0, 2.0)):
        told = [EngineFigure("m:1", "success_count", "", "", "counter", value)]
        counters.record(source, told, begun + timedelta(hours=hour))
    assert CounterSample.objects.count() == 2
    assert counters.forget_old_samples(timezone.now()) == 2
    assert CounterSeries.objects.get().value == 2.0


def test_an_overtaken_delivery_is_put_where_it_belongs(product: Product) -> None:
    source = Source.objects.create(product=product, kind="metrics", name="s")
    begun = timezone.now()
    for minute, value in ((0, 10.0), (2, 5.0), (1, 60.0)):
        told = [EngineFigure("m:1", "success_count", "", "", "counter", value)]
        counters.record(source, told, begun + timedelta(minutes=minute))
    (one,) = selectors.engine_figures(product, source.pk)
    assert (one.answered, one.resets) == (50 + 5, 1)


def test_what_a_server_hides_is_named_by_what_its_clients_saw(
    ci: Sender, recordings: Path, product: Product
) -> None:
    for name in ("before", "after"):
        ci.file(recordings / f"run1/statistics-{name}.http.json", "kind=statistics&source=six")
    ci.file(recordings / "run1/client-log.jsonl", "kind=client_log")
    count_waiting()
    figures = selectors.engine_figures(product, Source.objects.get(kind="statistics").pk)
    found = {one.model: one for one in side_by_side(product, figures)}
    told = {(one.model, each.failure): each for one in found.values() for each in one.hidden}
    # Its server counts every error of the model as answered, and a full queue nowhere.
    assert told["full", "model_error"].calls == 6
    assert "as a success" in told["full", "model_error"].why
    assert told["premium", "queue_full"].calls == 4
    assert "moves no counter" in told["premium", "queue_full"].why
    premium = found["premium"]
    refused = told["premium", "queue_timeout"].calls
    assert (premium.failed, refused) == (22, 22)


def test_a_client_of_a_dead_backend_saw_what_its_trace_does_not_show(
    ci: Sender, product: Product
) -> None:
    folder = RUN1.parent / "edge"
    log = folder / "client-log-unhealthy-backend.jsonl"
    ci.file(log, "kind=client_log")
    ci.file(folder / "trace-unhealthy-backend.json", "kind=triton_trace&server_run=r")
    told = read(folder / "statistics-unhealthy-backend.http.json")
    for model in told["model_stats"]:
        model["inference_stats"]["fail"]["count"] = 0
    before = json.dumps(told).encode()
    ci.post("/api/v1/ingest/files?kind=statistics", before, **{"Batch-Id": "before"})
    ci.file(folder / "statistics-unhealthy-backend.http.json", "kind=statistics")
    count_waiting()
    figures = selectors.engine_figures(product, Source.objects.get(kind="statistics").pk)
    found = {one.model: one for one in side_by_side(product, figures)}
    assert {one.client_answered for one in found.values()} == {0}
    assert {one.answered for one in found.values()} == {0}
    assert all(one.failed > 0 for one in found.values())
