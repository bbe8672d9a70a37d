"""One check of a server that answers from recordings, by both of Triton's clients."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from ingest.models import TritonServer
from ingest.services import servers
from policies.models import Product
from tests.ingest.servers.double import MODELS, Triton, over_grpc, over_http

pytestmark = pytest.mark.django_db


@pytest.fixture
def triton() -> Triton:
    return Triton()


@pytest.fixture(params=["http", "grpc"])
def polled(request: Any, triton: Triton, product: Product) -> Iterator[TritonServer]:
    with ExitStack() as stack:
        http = stack.enter_context(over_http(triton))
        wish = {"metrics_url": f"{http}/metrics"}
        if request.param == "http":
            wish["http_url"] = http
        else:
            wish["grpc_url"] = stack.enter_context(over_grpc(triton))
        yield servers.register(SYSTEM_ACTOR, product, "six", wish)


def checked(server: TritonServer, at: datetime | None = None) -> TritonServer:
    """The server after a check; each is a minute after the one before."""
    now = at or (server.checked_at or timezone.now()) + timedelta(seconds=61)
    TritonServer.objects.filter(pk=server.pk).update(due_at=now)
    assert servers.poll(server.pk, now)
    return TritonServer.objects.select_related("source", "product").get(pk=server.pk)


def codes(server: TritonServer) -> list[str]:
    return [finding["code"] for finding in server.findings]


def test_a_sound_server_is_ready_and_tells_all_of_itself(polled: TritonServer) -> None:
    found = checked(polled)
    assert (found.state, found.about, found.findings) == ("ready", "triton 2.51.0", [])
    assert sorted(found.seen_models) == [f"{model}:1" for model in MODELS]
    assert found.trace_settings["trace_rate"] == "1"
    assert found.last_good_at == found.checked_at
