"""A server against the generations that are served: missing, changed, set otherwise."""

from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from ingest.models import EngineRoute, Source, TritonServer
from ingest.selectors.servers import server_of
from ingest.services import servers
from ingest.services.servers.drift import drift, mode_of
from orchid.engine.document.load import load_document
from orchid.formats.triton_config import read_config
from policies.models import Product
from tests.ingest.servers.checking import checked, codes, finding, publish
from tests.ingest.servers.double import RUN1, Triton, read

pytestmark = pytest.mark.django_db


def test_a_server_that_holds_what_is_published_says_so(
    polled: TritonServer, product: Product, digest: str
) -> None:
    assert server_of(product, "six").manifest == "nothing"
    publish(polled, digest)
    assert server_of(product, "six").manifest == "unproven"
    checked(polled)
    assert server_of(product, "six").manifest == "held"


def test_a_missing_model_is_named_with_its_route(
    polled: TritonServer, triton: Triton, product: Product, digest: str
) -> None:
    publish(polled, digest)
    triton.index = [row for row in triton.index if row["name"] != "full"]
    found = checked(polled)
    told = finding(found, "missing_model")
    assert (found.state, told["model"]) == ("not_ready", "full")
    assert "the live generation's route full" in told["text"]
    assert server_of(product, "six").manifest == "broken"


def test_a_model_under_another_name_is_found_by_its_mapping(
    polled: TritonServer, triton: Triton, product: Product, digest: str
) -> None:
    publish(polled, digest)
    triton.index = [row for row in triton.index if row["name"] != "full"]
    EngineRoute.objects.create(product=product, source=None, model="premium", route="full")
    assert checked(polled).findings == []


def test_a_model_that_does_not_load_makes_the_server_not_ready(
    polled: TritonServer, triton: Triton, digest: str
) -> None:
    publish(polled, digest)
    triton.index[2] |= {"state": "UNAVAILABLE", "reason": "out of memory"}
    found = checked(polled)
    assert found.state == "not_ready"
    assert "out of memory" in finding(found, "model_not_ready")["text"]


def test_only_a_generation_of_its_own_pool_is_expected_of_a_server(
    polled: TritonServer, triton: Triton, product: Product, digest: str
) -> None:
    publish(polled, digest)
    Source.objects.update(
        expected_manifest={"live": digest, "candidate": None, "pools": {digest: "six"}}
    )
    servers.change(SYSTEM_ACTOR, polled, {"pool": "four"})
    triton.index = []
    assert checked(polled).findings == []
    servers.change(SYSTEM_ACTOR, polled, {"pool": "six"})
    assert codes(checked(polled)) == {"missing_model"}


def other_version(triton: Triton) -> None:
    triton.index[2]["version"] = "2"


def other_digest(triton: Triton) -> None:
    triton.configs["full"]["max_batch_size"] = 32


def other_shape(triton: Triton) -> None:
    triton.metadata["full"]["outputs"][0]["datatype"] = "FP32"


@pytest.mark.parametrize("change", [other_version, other_digest, other_shape])
def test_what_changed_since_a_generation_was_first_served_is_named_until_it_is_accepted(
    polled: TritonServer, triton: Triton, product: Product, digest: str, change: Any
) -> None:
    publish(polled, digest)
    assert checked(polled).findings == []
    change(triton)
    found = checked(polled)
    told = finding(found, change.__name__)
    assert told["model"] == "full"
    assert told["expected"] != told["found"]
    # The server answers all the same: it is ready, and not what was published.
    assert found.state == "ready"
    assert server_of(product, "six").manifest == "broken"
    servers.accept(SYSTEM_ACTOR, found)
    assert checked(polled).findings == []


def test_a_candidate_is_pinned_by_itself_and_the_live_ones_pins_stay(
    polled: TritonServer, triton: Triton, digest: str
) -> None:
    publish(polled, digest)
    before = checked(polled).pins
    other_digest(triton)
    found = checked(polled)
    assert found.pins == before


def test_nothing_can_be_accepted_where_nothing_is_published(polled: TritonServer) -> None:
    checked(polled)
    with pytest.raises(Conflict, match="No model"):
        servers.accept(SYSTEM_ACTOR, polled)


def document(data: dict[str, Any], **changes: Any) -> Any:
    for path, value in changes.items():
        at = data
        *parents, last = path.split("__")
        for part in parents:
            at = at.setdefault(part, {})
        at[last] = value
    return load_document(data).document


def told_of(document: Any, model: str = "full", **config: Any) -> set[str]:
    given = read(RUN1 / f"config-{model}.json") | config
    return {one.text for one in drift(document, model, read_config(given))}


@pytest.fixture
def given(product: Product) -> dict[str, Any]:
    revision = product.generations.get(number=1).revisions.get()
    return dict(revision.document)


def test_a_document_that_says_nothing_of_a_server_has_no_drift(given: dict[str, Any]) -> None:
    assert told_of(document(given)) == set()


def test_batching_that_the_document_contradicts_is_drift(given: dict[str, Any]) -> None:
    wanted = {"full": {"mode": "static", "max_batch": 8, "max_delay": "2ms"}}
    assert told_of(document(given, scheduling__routes=wanted)) == {
        "scheduling.routes.full.mode is static and its batching is dynamic.",
        "scheduling.routes.full.max_batch is 8 and max_batch_size is 4.",
        "scheduling.routes.full.max_delay is 2 ms and max_queue_delay_microseconds is 5000.",
    }


def test_a_document_that_agrees_with_its_server_has_no_drift(given: dict[str, Any]) -> None:
    wanted = {"full": {"mode": "dynamic", "max_batch": 4, "max_delay": "5ms"}}
    assert told_of(document(given, scheduling__routes=wanted)) == set()


def test_priorities_and_a_short_timeout_behind_an_edge_are_drift(given: dict[str, Any]) -> None:
    queue = {"age_bound": "1s", "weights": {"slack": 2}}
    assert told_of(document(given, admission__queue=queue)) == {
        "admission.queue.weights is a weighted order and priority_levels is 3 levels.",
        "admission.queue.age_bound is 1000 ms and default_timeout_microseconds is 400000.",
    }


def test_more_at_once_than_the_route_may_have_is_drift(given: dict[str, Any]) -> None:
    text = "models.full.max_sequences is 3 and instance_group x max_batch_size is 4."
    assert told_of(document(given, models__full__max_sequences=3)) == {text}


def test_a_shared_cache_and_a_missing_stream_are_drift(given: dict[str, Any]) -> None:
    found = told_of(
        document(given, models__full__streaming="incremental"), response_cache={"enable": True}
    )
    assert found == {
        "models.full.streaming is incremental and decoupled is false.",
        "models.full.cacheable is not given, so no answer is kept and response_cache is on.",
    }


@pytest.mark.parametrize(
    ("backend", "mode"),
    [("python", "dynamic"), ("tensorrtllm", "continuous"), ("vllm", "continuous")],
)
def test_a_backend_that_schedules_tokens_is_continuous(backend: str, mode: str) -> None:
    given = read(RUN1 / "config-full.json") | {"backend": backend}
    assert mode_of(read_config(given)) == mode


def test_a_candidates_own_trace_rate_holds_while_its_pool_serves_one(
    polled: TritonServer, triton: Triton, digest: str
) -> None:
    servers.change(SYSTEM_ACTOR, polled, {"trace_rate": 100, "candidate_trace_rate": 1})
    publish(polled, digest)
    assert checked(polled).trace_settings["trace_rate"] == "100"
    publish(polled, digest, candidate=digest)
    assert checked(polled).trace_settings["trace_rate"] == "1"
