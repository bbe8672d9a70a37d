"""Three hundred requests to a real Triton, and the log that their client keeps of them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import numpy
import tritonclient.grpc.aio as triton
from tritonclient.utils import InferenceServerException

INPUTS = ("INPUT_TOKENS", "ANSWER_TOKENS", "MAX_TOKENS")
LONG = 60_000  # tokens: a minute of premium's time, so that its client leaves first
#: Requests of each kind that go one after the other, a few at a time.
STEADY = (
    ("compact", (10, 5, 8), 110),
    ("full", (20, 10, 16), 60),
    ("premium", (5, 3, 8), 20),
    ("chain", (10, 4, 8), 20),
    ("router", (10, 4, 8), 15),
    ("router", (1_200, 4, 8), 5),
    ("stream", (1, 3, 9), 15),
    ("full", (5, -1, 8), 10),
)
#: Sent at once to a model with one instance and four places in its queue.
BURST, DEADLINES, CANCELLED = 35, 5, 5
ALL = sum(count for _, _, count in STEADY) + BURST + DEADLINES + CANCELLED


@dataclass(frozen=True)
class Asked:
    """One request, and what its client does beside waiting."""

    request_id: str
    model: str
    lengths: tuple[int, int, int]
    deadline_s: float | None = None
    leaves_after_s: float | None = None
    queue_timeout_us: int | None = None


class Driver:
    def __init__(self, address: str, run: str) -> None:
        self.client = triton.InferenceServerClient(address)
        self.run, self.log = run, list[str]()

    async def drive(self) -> None:
        limit = asyncio.Semaphore(6)

        async def within(asked: Asked) -> None:
            async with limit:
                await self.one(asked)

        await asyncio.gather(*(within(one) for one in self.steady()))
        # The first ones take the places; of the others some wait too long and some find no place.
        await asyncio.gather(*(self.one(one) for one in self.burst()))
        await asyncio.gather(*(self.one(one) for one in self.leaving()))
        await self.client.close()

    def steady(self) -> list[Asked]:
        return [
            Asked(f"{self.run}-{part}-{number}", model, lengths)
            for part, (model, lengths, count) in enumerate(STEADY)
            for number in range(count)
        ]

    def burst(self) -> list[Asked]:
        return [
            Asked(
                f"{self.run}-burst-{number}",
                "guarded",
                (1, 1_000, 1_000),
                queue_timeout_us=1_000 if number == 2 else None,
            )
            for number in range(BURST)
        ]

    def leaving(self) -> list[Asked]:
        lengths = (1, LONG, LONG)
        late = [
            Asked(f"{self.run}-late-{number}", "premium", lengths, deadline_s=0.5)
            for number in range(DEADLINES)
        ]
        gone = [
            Asked(f"{self.run}-gone-{number}", "premium", lengths, leaves_after_s=0.5)
            for number in range(CANCELLED)
        ]
        return [*late, *gone]

    async def one(self, asked: Asked) -> None:
        line: dict[str, Any] = {
            "request_id": asked.request_id,
            "model": asked.model,
            "proto": "grpc",
            "outcome": "ok",
            "n_in": asked.lengths[0],
            "max_tokens": asked.lengths[2],
            "t_send_unix_ns": time.time_ns(),
            "t_send_mono_ns": time.monotonic_ns(),
        }
        try:
            async with asyncio.timeout(asked.leaves_after_s):
                await self.ask(asked)
        except TimeoutError:
            line["outcome"] = "client_cancelled"
        except InferenceServerException as failed:
            line |= {"outcome": "error", "status": str(failed.status()), "error": str(failed)}
        line |= {"t_done_unix_ns": time.time_ns(), "t_done_mono_ns": time.monotonic_ns()}
        self.log.append(json.dumps(line))

    async def ask(self, asked: Asked) -> None:
        shape = [1, 1] if asked.model == "guarded" else [1]
        inputs = [triton.InferInput(name, shape, "INT32") for name in INPUTS]
        for tensor, length in zip(inputs, asked.lengths, strict=True):
            tensor.set_data_from_numpy(numpy.full(shape, length, dtype=numpy.int32))
        if asked.model == "stream":
            await self.stream(asked, inputs)
            return
        await self.client.infer(
            asked.model,
            inputs,
            request_id=asked.request_id,
            client_timeout=asked.deadline_s,
            timeout=asked.queue_timeout_us,
        )

    async def stream(self, asked: Asked, inputs: list[Any]) -> None:
        async def only() -> AsyncIterator[dict[str, Any]]:
            yield {
                "model_name": asked.model,
                "inputs": inputs,
                "request_id": asked.request_id,
                "enable_empty_final_response": True,
            }

        answers = 0
        async for answer, error in self.client.stream_infer(only()):
            if error is not None:
                raise error
            answers += answer.as_numpy("OUTPUT_TOKENS") is not None
        assert answers == asked.lengths[1]


def driven(address: str, run: str) -> bytes:
    """The client's log of all requests, once every one has ended."""

    async def go() -> bytes:
        driver = Driver(address, run)
        await driver.drive()
        return "\n".join(driver.log).encode()

    return asyncio.run(go())
