"""A stand-in for Triton where it can't run: the same toy models behind a subset of KServe v2.

It waits and shares slots as the real server does, first come first served, but writes no traces
and keeps no counters. Its state file says `stand-in`, so that nothing measured on it is taken for
Triton's.
"""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orchid.cli.triton.catalogue import Pool
from orchid.cli.triton.state import ServerState, new_run, published

VERSION = "orchid-stand-in 1"
CLIENT_CLOSED = 499
INPUTS = ("INPUT_TOKENS", "ANSWER_TOKENS", "MAX_TOKENS")


class Slots:
    """Executions at a time: a limit for each model's instances and one shared by the whole pool."""

    def __init__(self, pool: Pool):
        self.shared = asyncio.Semaphore(pool.slots)
        self.instances = {name: asyncio.Semaphore(count) for name, count in pool.instances.items()}

    @contextlib.asynccontextmanager
    async def taken(self, model: str) -> AsyncIterator[None]:
        async with self.instances[model], self.shared:
            yield


def application(pool: Pool) -> Starlette:
    """The HTTP application that serves a pool's models."""
    slots = Slots(pool)

    async def about(_: Request) -> Response:
        return JSONResponse({"name": "orchid-stand-in", "version": VERSION, "extensions": []})

    async def ready(_: Request) -> Response:
        return Response()

    async def model_ready(request: Request) -> Response:
        return Response(status_code=200 if request.path_params["model"] in pool.models else 400)

    async def infer(request: Request) -> Response:
        name = request.path_params["model"]
        if name not in pool.models:
            return JSONResponse({"error": f"Request for unknown model: '{name}' is not found"}, 404)
        try:
            asked = await request.json()
            lengths = _lengths(asked)
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            return JSONResponse({"error": f"expected one number each of {INPUTS}: {problem}"}, 400)
        n_out = min(lengths["ANSWER_TOKENS"], lengths["MAX_TOKENS"])
        service_s = pool.models[name].service_s(lengths["INPUT_TOKENS"], n_out)
        if not await _executed(request, slots, name, service_s):
            return Response(status_code=CLIENT_CLOSED)
        return JSONResponse(_answer(name, asked.get("id", ""), n_out))

    return Starlette(
        routes=[
            Route("/v2", about),
            Route("/v2/health/ready", ready),
            Route("/v2/health/live", ready),
            Route("/v2/models/{model}/ready", model_ready),
            Route("/v2/models/{model}/infer", infer, methods=["POST"]),
        ]
    )


def serve(pool: Pool, var: Path, port: int | None, ready: Callable[[ServerState], None]) -> int:
    """Run the stand-in until SIGTERM or SIGINT; returns the exit code."""
    for each in (signal.SIGTERM, signal.SIGINT):
        # uvicorn stops at the signal and then raises it once more: by default that would end us
        # before the state file is gone.
        signal.signal(each, lambda *_: None)
    with socket.create_server(("127.0.0.1", port or 0)) as listening:
        state = _state(pool, var, listening.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(
                application(pool),
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=2,
            )
        )
        with published(var, state):
            ready(state)
            server.run(sockets=[listening])
    return 0


def _state(pool: Pool, var: Path, port: int) -> ServerState:
    return ServerState(
        pool=pool.name,
        kind="stand-in",
        server_version=VERSION,
        run_id=new_run(var, pool.name)[0],
        pid=os.getpid(),
        slots=pool.slots,
        models=sorted(pool.models),
        http=f"127.0.0.1:{port}",
    )


async def _executed(request: Request, slots: Slots, model: str, service_s: float) -> bool:
    """Wait for a slot and hold it for the service time; False when the client left first."""

    async def execute() -> None:
        async with slots.taken(model):
            await asyncio.sleep(service_s)

    work, left = asyncio.create_task(execute()), asyncio.create_task(_gone(request))
    await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
    done = work.done()
    for task in (work, left):
        task.cancel()
    await asyncio.gather(work, left, return_exceptions=True)
    return done


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _lengths(asked: dict[str, Any]) -> dict[str, int]:
    given = {tensor["name"]: int(tensor["data"][0]) for tensor in asked["inputs"]}
    return {name: given[name] for name in INPUTS}


def _answer(model: str, request_id: str, n_out: int) -> dict[str, Any]:
    output = {"name": "OUTPUT_TOKENS", "datatype": "INT32", "shape": [1], "data": [n_out]}
    return {"id": request_id, "model_name": model, "model_version": "1", "outputs": [output]}
