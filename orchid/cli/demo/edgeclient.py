"""The driver's side of the edge: ask for admission, tell how it ended."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from orchid.cli.demo.arrivals import DemoRequest
from orchid.cli.demo.lean_http import HttpError, LeanHttp

# Longer than any deadline: a late answer is the edge's fault and shown as such, not cut off.
ANSWER_WITHIN_S = 10.0
# The request's own shape, a tenant's limit, the fleet.
REFUSALS = (422, 429, 503)


class EdgeError(Exception):
    """The edge didn't answer, or not in the way that was agreed."""


@dataclass(frozen=True)
class Refusal:
    """An answer that was no: its reason, and whether asking again can help."""

    reason: str
    retryable: bool


class Edge:
    """One edge, over HTTP."""

    def __init__(self, url: str):
        self._http = LeanHttp(url, ANSWER_WITHIN_S)

    async def ready(self) -> bool:
        """Whether it runs and has a generation to decide by."""
        try:
            status, _ = await self._http.call("GET", "/readyz")
        except HttpError:
            return False
        return status == 200

    async def admit(
        self, request_id: str, request: DemoRequest, arrived_ns: int
    ) -> dict[str, Any] | Refusal:
        """The decision or the refusal; `arrived_ns` is the intended arrival in Unix time."""
        asked = {
            "request_id": request_id,
            "tenant": request.tenant,
            "tenant_class": request.tenant_class,
            "class": request.class_,
            "session": request.session,
            "input_tokens": request.input_tokens,
            "max_output_tokens": request.max_output_tokens,
            "arrived_at": rfc3339(arrived_ns),
        }
        status, answer = await self._post("/v1/admit", asked)
        if status in REFUSALS:
            return Refusal(str(answer.get("reason")), bool(answer.get("retryable")))
        if status != 200:
            raise EdgeError(f"admit answered {status}: {answer.get('detail') or answer}")
        return answer

    async def settle(self, attempt_id: str, status: str, **figures: Any) -> None:
        code, answer = await self._post(
            "/v1/settle", {"attempt_id": attempt_id, "status": status, **figures}
        )
        if code != 200:
            raise EdgeError(f"settle answered {code}: {answer.get('detail') or answer}")

    async def close(self) -> None:
        await self._http.close()

    async def _post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        try:
            status, answer = await self._http.call("POST", path, body)
        except HttpError as problem:
            raise EdgeError(str(problem)) from None
        return status, answer or {}


def rfc3339(unix_ns: int) -> str:
    """A moment in UTC to the nanosecond; datetime alone would keep microseconds."""
    seconds, nanoseconds = divmod(unix_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"
