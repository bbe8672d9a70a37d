"""One check of a server that answers from recordings."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ingest.models import ServerChange, TritonServer
from ingest.services import servers
from policies.models import Product
from tests.ingest.servers.checking import checked, codes, finding
from tests.ingest.servers.double import MODELS, RECORDED, RUN1, Triton, read

pytestmark = pytest.mark.django_db


def test_a_sound_server_is_ready_and_tells_all_of_itself_to_either_client(
    either: TritonServer,
) -> None:
    found = checked(either)
    assert (found.state, found.about, found.findings) == ("ready", "triton 2.51.0", [])
    assert sorted(found.seen_models) == [f"{model}:1" for model in MODELS]
    assert found.trace_settings["trace_rate"] == "1"
    assert found.trace_settings["trace_level"] == ["TIMESTAMPS"]
    assert found.last_good_at == found.checked_at
    full = found.seen_models["full:1"]
    assert full["shapes"].startswith("MAX_TOKENS:INT32[-1, 1], TEXT:BYTES[-1, 1] -> N_IN")
    assert found.seen_models["chain:1"]["config"]["steps"] == ["compact", "premium"]


def test_a_server_that_nobody_runs_is_unreachable_and_asked_less_and_less_often(
    polled: TritonServer, triton: Triton
) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(http_url="http://127.0.0.1:9")
    pauses = []
    for _ in range(5):
        found = checked(polled)
        assert found.checked_at
        pauses.append((found.due_at - found.checked_at).total_seconds())
    assert found.state == "unreachable"
    assert pauses == [10, 20, 40, 60, 60]
    assert found.last_good_at is None
    (change,) = ServerChange.objects.filter(server=found)
    assert change.why == "nobody listens at its address"


def test_an_unreachable_server_over_grpc_says_so_too(either: TritonServer) -> None:
    TritonServer.objects.filter(pk=either.pk).update(
        http_url="http://127.0.0.1:9", grpc_url="grpc://127.0.0.1:9"
    )
    assert checked(either).state == "unreachable"


def test_a_server_that_never_answers_costs_no_more_than_its_time(
    polled: TritonServer, triton: Triton, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.services.servers.clients.ANSWER_S", 0.2)
    triton.takes_s = 1.0
    found = checked(polled)
    assert found.state == "unreachable"
    assert ServerChange.objects.get(server=found).why == "no answer within 0.2 s"


def test_a_slow_answer_makes_a_server_slow(
    polled: TritonServer, triton: Triton, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.services.servers.judging.SLOW_MS", 0.0)
    assert checked(polled).state == "slow"


def test_a_server_that_says_so_is_not_ready(polled: TritonServer, triton: Triton) -> None:
    triton.ready = False
    assert checked(polled).state == "not_ready"


def test_a_part_that_is_not_told_costs_only_itself(polled: TritonServer, triton: Triton) -> None:
    triton.statistics = {"model_stats": [{"name": 7}]}
    triton.configs["full"] = []
    found = checked(polled)
    assert found.state == "ready"
    assert codes(found) == {"not_told"}
    texts = " ".join(one["text"] for one in found.findings)
    assert "statistics: not a Triton statistics answer" in texts
    assert "configuration of full" in texts
    assert "compact:1" in found.seen_models


def test_a_check_that_comes_too_late_writes_nothing(polled: TritonServer) -> None:
    now = timezone.now() + timedelta(seconds=1)
    assert servers.poll(polled.pk, now)
    assert not servers.poll(polled.pk, now)
    # The lease of a killed worker ends by itself.
    TritonServer.objects.filter(pk=polled.pk).update(
        lease_until=now + timedelta(seconds=30), due_at=now
    )
    assert not servers.poll(polled.pk, now)
    assert servers.due_servers(now) == []
    assert servers.due_servers(now + timedelta(seconds=31)) == [polled.pk]
    assert servers.poll(polled.pk, now + timedelta(seconds=31))


def test_a_check_whose_server_was_changed_meanwhile_is_dropped(
    polled: TritonServer, triton: Triton, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingest.services.servers import polling

    looked = polling._looked

    def changed_meanwhile(server: TritonServer, now: object) -> object:
        check = looked(server, now)  # type: ignore[arg-type]
        TritonServer.objects.filter(pk=server.pk).update(checks=99)
        return check

    monkeypatch.setattr(polling, "_looked", changed_meanwhile)
    assert servers.poll(polled.pk, timezone.now() + timedelta(seconds=1))
    polled.refresh_from_db()
    assert polled.state == "unknown"
    assert polled.checked_at is None


def test_ready_while_every_inference_fails_is_lying(polled: TritonServer, triton: Triton) -> None:
    folder = RUN1.parent / "edge"
    triton.statistics = read(folder / "statistics-unhealthy-backend.http.json")
    triton.metrics = (folder / "metrics-unhealthy-backend.txt").read_bytes()
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    found = checked(polled)
    assert found.state == "lying"
    failing = {one["model"]: one["found"] for one in found.findings}
    # Rejections are no lie: the scrape tells them apart, and only the backend's own count.
    assert failing == {
        "chain:1": "10 failures",
        "compact:1": "30 failures",
        "full:1": "17 failures",
        "full_stream:1": "8 failures",
        "premium:1": "24 failures",
        "router_bls:1": "7 failures",
    }


def test_a_model_that_answers_again_is_believed_again(polled: TritonServer, triton: Triton) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    checked(polled)
    triton.ended("full", failed=3)
    found = checked(polled)
    assert (found.state, finding(found, "every_inference_fails")["model"]) == ("lying", "full:1")
    assert checked(polled).state == "lying"  # idle now, and nothing has shown that it works
    triton.ended("full", success=1)
    assert checked(polled).state == "ready"
    triton.ended("full", failed=2)
    assert checked(polled).state == "ready"


def test_a_dead_backend_is_found_out_before_any_traffic(
    either: TritonServer, triton: Triton
) -> None:
    triton.failing["full"] = "Stub process 'full_0_0' is not healthy."
    found = checked(either)
    assert found.state == "lying"
    told = finding(found, "warm_up_failed")
    assert told["model"] == "full:1"
    assert "Stub process" in told["text"]


def test_each_model_is_tried_once_a_run_and_again_while_it_fails(
    polled: TritonServer, triton: Triton
) -> None:
    triton.failing["full"] = "broken"
    checked(polled)
    assert sorted(triton.inferences) == ["chain", "compact", "full", "premium", "router_bls"]
    checked(polled)
    assert triton.inferences[5:] == ["full"]
    del triton.failing["full"]
    assert checked(polled).state == "ready"
    checked(polled)
    assert triton.inferences[6:] == ["full"]


def test_what_can_not_be_tried_is_said_and_what_costs_money_is_not_tried(
    polled: TritonServer, triton: Triton
) -> None:
    triton.configs["full"] |= {"backend": "vllm"}
    triton.configs["compact"] |= {"sequence_batching": {"max_sequence_idle_microseconds": 1}}
    found = checked(polled)
    reasons = {m: p["text"] for m, p in found.probes.items() if p["outcome"] == "left_out"}
    assert reasons == {
        "full_stream:1": "it answers with a stream",
        "full:1": "an answer of a language model costs money; allow it for this server",
        "compact:1": "it keeps state from request to request",
    }
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="all")
    checked(polled)
    assert "full" in triton.inferences
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    assert checked(polled).probes == {}


def test_trace_settings_are_brought_about_and_read_back(
    either: TritonServer, triton: Triton
) -> None:
    TritonServer.objects.filter(pk=either.pk).update(trace_rate=5)
    triton.trace["trace_level"] = ["TIMESTAMPS", "TENSORS"]
    found = checked(either)
    assert found.trace_settings["trace_rate"] == "5"
    assert found.trace_settings["trace_level"] == ["TIMESTAMPS"]
    assert found.findings == []
    checked(either)
    assert len(triton.trace_updates) == 1


def test_a_setting_that_is_taken_and_ignored_is_found_out(
    polled: TritonServer, triton: Triton
) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(trace_rate=5)
    triton.heeds_trace = False
    told = finding(checked(polled), "trace_ignored")
    assert told["found"] == "rate 1, level ['TIMESTAMPS']"


def test_without_a_wish_the_servers_own_trace_settings_stay_and_tensors_are_named(
    polled: TritonServer, triton: Triton
) -> None:
    triton.trace["trace_level"] = ["TENSORS"]
    found = checked(polled)
    assert codes(found) == {"trace_holds_tensors"}
    assert triton.trace_updates == []


def test_the_recorded_statistics_become_increases(
    polled: TritonServer, triton: Triton, product: Product
) -> None:
    from ingest.selectors.servers import counted

    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    checked(polled)
    triton.statistics = read(RECORDED / "statistics-after.http.json")
    triton.metrics = (RECORDED / "metrics-after.txt").read_bytes()
    found = counted(checked(polled))
    premium = next(one for one in found.figures if one.model == "premium:1")
    assert (premium.answered, premium.failed, premium.executions) == (60, 22, 47)
    # 15 of the calls of compact, and as many of premium, are the ensemble's own steps.
    answered = {one.name: one.answered for one in found.figures}
    assert found.requests == sum(answered.values()) - 2 * answered["chain"]
