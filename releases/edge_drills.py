"""The edges' part of a rehearsed rollback: its signed bytes, and what each made of them."""

import re
import time
from asyncio import Lock
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from releases.edge_problems import EdgeProblem
from releases.edge_store import Caller, EdgeStore, Number, Text

BELIEVED_S = 5.0
NUMBER = re.compile(r"[0-9]{1,18}")  # more fit no column, and Python reads only so many
KEPT = 8  # rehearsals whose bytes a process keeps
Milliseconds = Annotated[float, Meta(ge=0, le=600_000)]


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What an edge answers; unknown fields are left to newer versions of it."""

    state: Literal["ready", "refused"]
    reason: Text = ""
    fetch_ms: Milliseconds | None = None
    prepare_ms: Milliseconds | None = None
    replicas: Number | None = None


class Rehearsed(msgspec.Struct, frozen=True):
    """The bytes of one rehearsal, whose it is and until when it takes answers."""

    product_id: int
    token: bytes
    deadline_at: datetime


class Rehearsals:
    """The newest rehearsals in memory: a thousand edges that ask at once are one query."""

    def __init__(self, store: EdgeStore) -> None:
        self._store, self._asking = store, Lock()
        self._known: dict[int, tuple[float, Rehearsed | None]] = {}

    async def of(self, caller: Caller, drill: int) -> Rehearsed:
        """Raises EdgeProblem 404 where the caller's product has none, 410 when it is over."""
        found = await self._found(drill)
        if found is None or found.product_id != caller.product_id:
            raise EdgeProblem(404, "unknown_drill", "Unknown drill", f"There is no drill {drill}.")
        if datetime.now(UTC) > found.deadline_at:
            raise EdgeProblem(410, "drill_over", "Too late", f"Drill {drill} is over.")
        return found

    async def answered(self, caller: Caller, drill: int, tried: Tried) -> None:
        """Keep the first answer of an edge; sent again it changes nothing."""
        values = {"drill": drill, "edge": caller.edge_id, **msgspec.structs.asdict(tried)}
        await self._store.one(_ANSWER, values)

    async def _found(self, drill: int) -> Rehearsed | None:
        async with self._asking:
            asked_s, found = self._known.get(drill, (float("-inf"), None))
            if found is None and time.monotonic() - asked_s > BELIEVED_S:
                row = await self._store.one(_DRILL, {"id": drill})
                found = msgspec.convert(row, Rehearsed) if row else None
                self._known[drill] = (time.monotonic(), found)
                while len(self._known) > KEPT:
                    del self._known[next(iter(self._known))]
            return found


def number_of(request: Request) -> int:
    """The rehearsal in the address. 404 for what no rehearsal is called, however long it is."""
    found: str = request.path_params["drill"]
    if not NUMBER.fullmatch(found):
        raise EdgeProblem(404, "unknown_drill", "Unknown drill", "A drill is known by its number.")
    return int(found)


async def offered(rehearsals: Rehearsals, caller: Caller, drill: int) -> Response:
    """The signed bytes of a rehearsal."""
    found = await rehearsals.of(caller, drill)
    return Response(found.token, media_type="application/jose")


async def answer(rehearsals: Rehearsals, caller: Caller, drill: int, body: bytes) -> Response:
    """What an edge made of it."""
    await rehearsals.of(caller, drill)
    if caller.edge_id is None:
        raise EdgeProblem(409, "unregistered", "Not an edge yet", "Fetch the keys first.")
    await rehearsals.answered(caller, drill, _read(body))
    return JSONResponse({"recorded": True})


def _read(body: bytes) -> Tried:
    try:
        return msgspec.json.decode(body, type=Tried)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EdgeProblem(400, "bad_answer", "Unreadable answer", str(error)) from error


_DRILL = """
SELECT product_id, convert_to(token, 'UTF8') AS token, deadline_at
FROM releases_drill WHERE id = %(id)s
"""
_ANSWER = """
INSERT INTO releases_drillanswer
  (drill_id, edge_id, state, reason, at, fetch_ms, prepare_ms, replicas)
VALUES (%(drill)s, %(edge)s, %(state)s, %(reason)s, clock_timestamp(), %(fetch_ms)s,
        %(prepare_ms)s, %(replicas)s)
ON CONFLICT (drill_id, edge_id) DO NOTHING
"""
