"""How a request reaches a model server: Triton by gRPC, the stand-in by HTTP. Both count tokens."""

from typing import Protocol

import httpx
import numpy
import tritonclient.grpc.aio as triton
from tritonclient.utils import InferenceServerException

INPUTS = ("INPUT_TOKENS", "ANSWER_TOKENS", "MAX_TOKENS")


class TimedOutError(Exception):
    """The time the request had is over; the server was told to stop."""


class BackendError(Exception):
    """The server answered with an error or not at all."""


class Backend(Protocol):
    """One model server. `lengths` are in the order of INPUTS; the answer is its output tokens."""

    async def infer(
        self, model: str, attempt_id: str, lengths: tuple[int, int, int], within_s: float
    ) -> int: ...

    async def flush_traces(self) -> None: ...

    async def close(self) -> None: ...


class Triton:
    """A real server. The attempt id travels as Triton's request id, which its traces carry."""

    def __init__(self, address: str):
        self._client = triton.InferenceServerClient(address)

    async def infer(
        self, model: str, attempt_id: str, lengths: tuple[int, int, int], within_s: float
    ) -> int:
        inputs = [triton.InferInput(name, [1], "INT32") for name in INPUTS]
        for tensor, length in zip(inputs, lengths, strict=True):
            tensor.set_data_from_numpy(numpy.array([length], dtype=numpy.int32))
        try:
            answer = await self._client.infer(
                model, inputs, request_id=attempt_id, client_timeout=within_s
            )
        except InferenceServerException as problem:
            if problem.status() == "StatusCode.DEADLINE_EXCEEDED":
                raise TimedOutError(attempt_id) from None
            raise BackendError(str(problem)) from None
        return int(answer.as_numpy("OUTPUT_TOKENS")[0])

    async def flush_traces(self) -> None:
        """Any update of the trace settings, even one that changes nothing, writes what is held."""
        try:
            await self._client.update_trace_settings(settings={"trace_rate": "1"})
        except InferenceServerException as problem:
            raise BackendError(str(problem)) from None

    async def close(self) -> None:
        await self._client.close()


class StandIn:
    """The built-in stand-in, over HTTP; leaving the connection is how a request is cancelled."""

    def __init__(self, address: str):
        self._client = httpx.AsyncClient(base_url=f"http://{address}")

    async def infer(
        self, model: str, attempt_id: str, lengths: tuple[int, int, int], within_s: float
    ) -> int:
        inputs = [
            {"name": name, "datatype": "INT32", "shape": [1], "data": [length]}
            for name, length in zip(INPUTS, lengths, strict=True)
        ]
        try:
            answer = await self._client.post(
                f"/v2/models/{model}/infer",
                json={"id": attempt_id, "inputs": inputs},
                timeout=within_s,
            )
            return int(answer.raise_for_status().json()["outputs"][0]["data"][0])
        except httpx.TimeoutException:
            raise TimedOutError(attempt_id) from None
        except httpx.HTTPError as problem:
            raise BackendError(str(problem) or type(problem).__name__) from None

    async def flush_traces(self) -> None:
        """It writes none."""

    async def close(self) -> None:
        await self._client.aclose()
