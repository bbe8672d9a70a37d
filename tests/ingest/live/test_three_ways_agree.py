"""Files, spans and counters of real servers agree, and what Triton hides is said.

Whatever a model computed is in all three. What differs, differs by what Triton is known to hide.
"""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from ingest.models import ClientCall, EngineAttempt, TritonServer
from ingest.selectors.servers import Counted, counted
from ingest.services import servers
from ingest.services.servers.clients import WARM_UP_ID
from orchid.cli.triton.state import ServerState
from policies.models import Product
from tests.ingest.ingest_cast import SLUG, Sender, count_waiting, derive_waiting, token
from tests.ingest.live.conftest import running
from tests.ingest.live.drive import ALL, BURST, CANCELLED, DEADLINES, driven
from tests.ingest.servers.checking import checked

pytestmark = [pytest.mark.triton, pytest.mark.django_db(transaction=True)]

PLAIN = ("compact", "full", "premium", "guarded")
#: Of premium, each run's own 20, the router's 5, and those whose client leaves.
PREMIUM = 20 + 5 + DEADLINES + CANCELLED
PATIENT_CHECKS = 100


def register(product: Product, state: ServerState, protocol: str) -> TritonServer:
    wish = {
        "http_url": f"http://{state.http}",
        "grpc_url": f"grpc://{state.grpc}",
        "metrics_url": f"http://{state.metrics}/metrics",
        "protocol": protocol,
    }
    return servers.register(SYSTEM_ACTOR, product, f"live-{protocol}", wish)


def polled(product: Product, state: ServerState, protocol: str, ci: Sender) -> Counted:
    """What the poller counted while the requests went through; their client's log is brought."""
    server = register(product, state, protocol)
    found = checked(server)
    assert found.about == "triton 2.51.0"
    for _ in range(5):  # the first inference of a model may take longer than a check has
        if "unanswered" not in outcomes(found):
            break
        found = checked(server)
    assert outcomes(found) == {"answered", "left_out"}
    # A check counts first and tries then, so the next one has the tries in its counts.
    before = ended_calls(checked(server), "premium")
    log = driven(state.grpc or "", protocol)
    assert len(log.splitlines()) == ALL == 300
    ci.post("/api/v1/ingest/files?kind=client_log", log, **{"Batch-Id": f"log-{protocol}"})
    server = checked(TritonServer.objects.get(pk=server.pk))
    # A model sees that its client left a moment later, and is counted a moment after that.
    for _ in range(PATIENT_CHECKS):
        server = checked(server)
        if ended_calls(server, "premium") - before >= PREMIUM:
            break
    # A busy machine may make it slow, and nothing may make it worse.
    assert server.state in ("ready", "slow"), server.findings
    return counted(server)


def ended_calls(server: TritonServer, model: str) -> int:
    """The calls of a model that its server has counted as over, answered or not."""
    return sum(one.answered + one.failed for one in counted(server).figures if one.name == model)


def outcomes(server: TritonServer) -> set[str]:
    """How the inferences of zeros ended."""
    return {str(probe["outcome"]) for probe in server.probes.values()}


def failures(run: str) -> dict[str, Counter[str]]:
    """By model, how the calls of one run ended for their client; no failure is an empty word."""
    calls = ClientCall.objects.filter(request_id__startswith=f"{run}-")
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for model, failure in calls.values_list("model", "failure"):
        found[model][failure] += 1
    return found


def agree(attempts: list[EngineAttempt], found: Counted, run: str) -> None:
    """Every rule by which the tellings of one run of requests hang together."""
    answered = {one.name: one.answered for one in found.figures}
    failed = {one.name: one.failed for one in found.figures}
    calls, model_of = failures(run), {one.key: one.model for one in attempts}
    computed = Counter(one.model for one in attempts if one.compute_ms is not None)
    roots = [one for one in attempts if not one.parent_key]
    probes = Counter(one.model for one in roots if one.attempt_id == WARM_UP_ID)
    called = Counter(model_of[one.parent_key] for one in attempts if one.parent_key)

    # Of each plain model, what traces show as computed is what the server counts as answered.
    assert {model: computed[model] for model in PLAIN} == {m: answered[m] for m in PLAIN}
    # An ensemble has two steps each time, a router one or two calls.
    assert called["chain"] == 2 * answered["chain"] == 2 * (20 + probes["chain"])
    assert called["router"] == 20 + 5 + probes["router"]
    assert answered["stream"] == calls["stream"][""] == 15
    # Each request once: what came from outside, and what the router asked for by itself.
    whole = [one for one in roots if one.compute_ms is not None or one.model == "chain"]
    assert found.requests == len(whole) + called["router"]
    # An error that a model returned is an answer to Triton, in all of its tellings.
    ours = Counter(one.model for one in whole if one.attempt_id.startswith(f"{run}-"))
    assert calls["full"] == {"": 60, "model_error": 10}
    assert ours["full"] == 70
    # A request that was refused at the full queue is counted nowhere.
    guarded = calls["guarded"]
    assert guarded["queue_full"] > 0
    counted_calls = answered["guarded"] + failed["guarded"] - probes["guarded"]
    assert counted_calls == BURST - guarded["queue_full"]
    assert failed["guarded"] == guarded["queue_timeout"]
    # Whoever left while it was computed has been answered, as the server counts.
    assert calls["premium"]["deadline"] + calls["premium"]["cancelled"] == DEADLINES + CANCELLED
    assert ours["premium"] + failed["premium"] == 20 + DEADLINES + CANCELLED


@pytest.mark.usefixtures("patience")
def test_files_spans_and_counters_tell_the_same(
    product: Product, ana: User, live_server: LiveServer, tmp_path: Path, client: Client
) -> None:
    ci = Sender(token("ci", ana))
    spans = ("--otlp", f"{live_server.url}/v1/traces")
    with (
        running(tmp_path / "files") as writing,
        running(tmp_path / "spans", *spans, token=token("otel", ana)) as sending,
    ):
        of_files = polled(product, writing, "http", ci)
        of_spans = polled(product, sending, "grpc", ci)
        server = TritonServer.objects.get(name="live-http")
        servers.flush_traces(SYSTEM_ACTOR, server)
        bring(ci, writing)
    # A server that stops sends the spans that it still holds.
    derive_waiting()
    agree(list(EngineAttempt.objects.filter(source__kind="triton_trace")), of_files, "http")
    agree(list(EngineAttempt.objects.filter(source__kind="otlp")), of_spans, "grpc")
    # What does not depend on who was first is equal for both servers.
    for one, other in zip(of_files.figures, of_spans.figures, strict=True):
        if one.name in ("chain", "compact", "full", "router", "stream"):
            assert (one.name, one.answered) == (other.name, other.answered)
    the_page_says_what_is_hidden(client, ana, of_files)


def bring(ci: Sender, state: ServerState) -> None:
    """Every trace file of a server, as an operator brings them."""
    files = sorted(Path(state.trace_dir or "").glob("trace.json.*"))
    assert len(files) > 3
    for file in files:
        query = f"kind=triton_trace&source=live&server_run={state.run_id}"
        assert ci.file(file, query).status_code == 202
    count_waiting()


def the_page_says_what_is_hidden(client: Client, ana: User, found: Counted) -> None:
    client.force_login(ana)
    page = client.get(f"/products/{SLUG}/servers/live-http/").content.decode()
    # A client's log does not say which server it called, so that both runs stand there.
    assert "20 model error" in page
    assert "counts an error that the model returned" in page
    refused = failures("http")["guarded"]["queue_full"]
    refused += failures("grpc")["guarded"]["queue_full"]
    assert f"{refused} queue full" in page
    assert "moves no counter" in page
