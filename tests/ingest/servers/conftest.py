from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from ingest.models import TritonServer
from ingest.services import servers
from policies.models import Product
from tests.ingest.servers.double import Triton, over_grpc, over_http


@pytest.fixture(autouse=True)
def _patience(patience: None) -> None:
    """A check that gets no answer in time counts nothing; who tests that says how long is long."""


@pytest.fixture
def triton() -> Triton:
    return Triton()


@pytest.fixture
def polled(triton: Triton, product: Product) -> Iterator[TritonServer]:
    """A server asked over HTTP, its metrics too."""
    with over_http(triton) as http:
        wish = {"http_url": http, "metrics_url": f"{http}/metrics"}
        yield servers.register(SYSTEM_ACTOR, product, "six", wish)


@pytest.fixture(params=["http", "grpc"])
def either(request: Any, triton: Triton, product: Product) -> Iterator[TritonServer]:
    """A server that is asked by one of the two clients, in turn."""
    with ExitStack() as stack:
        through = {"http": over_http, "grpc": over_grpc}[request.param]
        address = stack.enter_context(through(triton))
        wish = {f"{request.param}_url": address}
        yield servers.register(SYSTEM_ACTOR, product, "six", wish)
