"""No body is larger than the bound, whether its length was said or not."""

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from controlplane.bodies import BoundedBodies

LIMIT = 1000


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads the whole body, as Django does, and answers with its size."""
    try:
        body = await Request(scope, receive).body()
    except ClientDisconnect:
        return
    await PlainTextResponse(str(len(body)))(scope, receive, send)


async def streamed(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 100):
        yield b"x" * 100


@pytest.mark.parametrize(("size", "status"), [(0, 200), (1000, 200), (1100, 413), (100_000, 413)])
async def test_a_body_over_the_bound_is_refused(size: int, status: int) -> None:
    transport = httpx.ASGITransport(BoundedBodies(application, LIMIT))
    async with httpx.AsyncClient(transport=transport, base_url="http://orchid") as client:
        declared = await client.post("/", content=b"x" * size)
        undeclared = await client.post("/", content=streamed(size))
    assert [declared.status_code, undeclared.status_code] == [status, status]


@pytest.mark.parametrize(
    ("path", "accept", "media"),
    [
        ("/products/orchid-demo/sources/upload/", "text/html,*/*;q=0.8", "text/html"),
        ("/products/orchid-demo/sources/upload/", "*/*", "application/problem+json"),
        ("/api/v1/ingest/files", "text/html", "application/problem+json"),
    ],
)
async def test_a_browser_gets_a_page_and_a_program_a_problem_with_the_command_that_takes_it(
    path: str, accept: str, media: str
) -> None:
    transport = httpx.ASGITransport(BoundedBodies(application, LIMIT))
    async with httpx.AsyncClient(transport=transport, base_url="http://orchid") as client:
        answer = await client.post(path, content=b"x" * 1100, headers={"Accept": accept})
    assert answer.status_code == 413
    assert answer.headers["Content-Type"].startswith(media)
    assert "orchid ingest FILE" in answer.text
