"""The open-loop driver: each request starts at its own moment, whatever became of the others."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from orchid.cli.demo.arrivals import DemoRequest
from orchid.cli.demo.backends import Backend, BackendError, StandIn, TimedOutError, Triton
from orchid.cli.demo.edgeclient import Edge, EdgeError, Refusal
from orchid.cli.demo.tally import Tally
from orchid.cli.demo.tracefiles import UploadError, upload
from orchid.cli.triton.state import ready, runs

REPORT_EVERY_S = 5.0


class Driver:
    """One run of driven traffic. Without `api` traces stay where the servers wrote them."""

    def __init__(
        self, edge: Edge, api: httpx.AsyncClient | None, var: Path, say: Callable[[str], None]
    ):
        self.edge, self.api, self.var, self.say = edge, api, var, say
        self.tally = Tally()
        self.stop = asyncio.Event()
        self._run = secrets.token_hex(4)  # makes request ids fresh from run to run
        self._backends: dict[str, Backend] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def drive(self, requests: Iterator[DemoRequest], seconds: float | None) -> float:
        """Send until `seconds` are over or `stop` is set, then wait for what is under way.

        Returns for how many seconds it sent.
        """
        self._start_s, self._start_unix_ns = time.monotonic(), time.time_ns()
        reporting = asyncio.create_task(self._report())
        await self._send(requests, seconds)
        sent_for_s = time.monotonic() - self._start_s
        await asyncio.gather(*self._tasks)
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)
        await self._carry_traces()
        for backend in self._backends.values():
            await backend.close()
        return sent_for_s

    async def _send(self, requests: Iterator[DemoRequest], seconds: float | None) -> None:
        for request in requests:
            if seconds is not None and request.at_s >= seconds:
                return
            wait_s = self._start_s + request.at_s - time.monotonic()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), max(wait_s, 0.0))
            if self.stop.is_set():
                return
            task = asyncio.create_task(self._one(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _one(self, request: DemoRequest) -> None:
        """One request from admission to settlement; a failing edge is counted, not raised."""
        self.tally.started(self._elapsed_ms(request))
        arrived_ns = self._start_unix_ns + int(request.at_s * 1e9)
        try:
            decision = await self.edge.admit(f"{self._run}-{request.number}", request, arrived_ns)
        except EdgeError as problem:
            self.tally.unanswered()
            self.tally.problem(str(problem))
            return
        if isinstance(decision, Refusal):
            self.tally.refused(decision.reason)
            return
        self.tally.admitted(decision)
        status, answer = await self._execute(request, decision)
        completion_ms = self._elapsed_ms(request)
        self.tally.ended(status, completion_ms)
        try:
            await self.edge.settle(
                decision["attempt_id"], status, completion_ms=completion_ms, **answer
            )
        except EdgeError as problem:
            self.tally.problem(str(problem))

    async def _execute(
        self, request: DemoRequest, decision: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Status of the attempt and what is known of its answer."""
        cap = decision.get("max_output_tokens") or request.max_output_tokens
        left_s = datetime.fromisoformat(decision["deadline_at"]).timestamp() - time.time()
        lengths = (request.input_tokens, request.answer_tokens, cap)
        try:
            if left_s <= 0:
                raise TimedOutError(decision["attempt_id"])
            backend = self._backend(decision["endpoints"])
            n_out = await backend.infer(decision["model"], decision["attempt_id"], lengths, left_s)
        except TimedOutError:
            return "timed_out", {}
        except BackendError as problem:
            self.tally.problem(str(problem))
            return "failed", {}
        return _status(decision, request, n_out), {
            "output_tokens": n_out,
            # The toy's whole answer is a count: it is well formed when it keeps to the cap.
            "schema_valid": 0 <= n_out <= cap,
            "policy_valid": 0 <= n_out <= cap,
        }

    def _backend(self, endpoints: dict[str, str | None]) -> Backend:
        address = endpoints.get("grpc") or endpoints.get("http")
        if address is None:
            raise BackendError("the pool that was decided for is not ready")
        if address not in self._backends:
            self._backends[address] = Triton(address) if endpoints.get("grpc") else StandIn(address)
        return self._backends[address]

    def _elapsed_ms(self, request: DemoRequest) -> float:
        """Milliseconds since the request's intended arrival."""
        return (time.monotonic() - self._start_s - request.at_s) * 1e3

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(REPORT_EVERY_S)
            await self._carry_traces()
            self.say(self.tally.line(time.monotonic() - self._start_s))

    async def _carry_traces(self) -> None:
        """Have the servers write what they hold and send it; what fails now is sent next time."""
        if self.api is None:
            return
        try:
            for server in ready(self.var):
                if backend := self._backends.get(server.grpc or server.http):
                    await backend.flush_traces()
            for run in runs(self.var):
                self.tally.trace_files += await upload(self.api, run)
        except (BackendError, UploadError) as problem:
            self.tally.problem(str(problem))


def _status(decision: dict[str, Any], request: DemoRequest, n_out: int) -> str:
    if n_out >= request.answer_tokens:
        return "completed"
    return "bounded" if decision["action"] == "bound" else "truncated"
