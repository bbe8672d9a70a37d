"""A bare fan-out in Django: LISTEN, a queue for each client, and a number to all of them.

No credential, no bundle, no database but the notification: what a stream costs by itself here.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from typing import Any

import psycopg

from benchmarks.releases import stage

CHANNEL = "bench_bare"
HERE = "benchmarks.releases.peers.bare"


def fanout(clients: int, rounds: int) -> list[list[float]]:
    """Milliseconds from before the notification until each client has read it, round by round."""
    with (
        stage.web(f"{HERE}:application", BENCH_BARE="1") as web,
        stage.helpers(f"{HERE}_clients", [{"port": web.port, "clients": clients}]) as (readers,),
        psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection,
    ):
        readers.heard()
        return [_notified(connection, readers, number) for number in range(rounds)]


def _notified(connection: Any, readers: stage.Helper, number: int) -> list[float]:
    begin = time.monotonic_ns()
    connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(number)])
    return [(moment - begin) / 1e6 for moment in readers.heard()["read_ns"]]


def served() -> Any:
    """The Django application; of a process that serves nothing else."""
    from django.conf import settings

    settings.configure(ROOT_URLCONF=HERE, ALLOWED_HOSTS=["*"], SECRET_KEY="bench")  # noqa: S106
    from django.core.asgi import get_asgi_application

    return get_asgi_application()


queues: set[asyncio.Queue[str]] = set()
listeners: list[asyncio.Task[None]] = []
listening = asyncio.Event()


async def stream(_: Any) -> Any:
    from django.http import StreamingHttpResponse

    if not listeners:
        listeners.append(asyncio.create_task(_listen()))
    await listening.wait()  # who was greeted misses nothing that is notified afterwards
    return StreamingHttpResponse(_events(), content_type="text/event-stream")


async def _events() -> AsyncIterator[str]:
    mine: asyncio.Queue[str] = asyncio.Queue(64)
    queues.add(mine)
    try:
        yield ": hello\n\n"
        while True:
            yield f"data: {json.dumps(await mine.get())}\n\n"
    finally:
        queues.discard(mine)


async def _listen() -> None:
    address = os.environ["DATABASE_URL"]
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        listening.set()
        async for hint in connection.notifies():
            for one in queues:
                one.put_nowait(hint.payload)


if os.environ.get("BENCH_BARE"):
    from django.urls import path

    application = served()
    urlpatterns = [path("stream", stream)]
