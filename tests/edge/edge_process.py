"""The edge as it is really started: a process of its own, which a test may kill."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from tests.edge.edge_site import Site


@asynccontextmanager
async def process(
    site: Site,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, httpx.AsyncClient]]:
    """The edge as it is really started, ready to decide."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = site.settings
    where = ["--url", given.url, "--token", given.token, "--port", str(port)]
    folders = ["--state", str(given.state_dir), "--pools", str(given.pools_dir)]
    edge = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from orchid.edge.main import run; run()",
        *["--product", given.product, "--name", given.name, *where, *folders],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        try:
            await _ready(client)
            yield edge, client
        finally:
            if edge.returncode is None:
                edge.kill()
            await edge.wait()


async def _ready(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                if (await client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
