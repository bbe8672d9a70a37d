"""What the edges' entry answers when it can't do what was asked: RFC 9457 documents."""

import logging
import random

from psycopg import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

logger = logging.getLogger(__name__)


class EdgeProblem(Exception):  # noqa: N818 - it is answered, not only raised
    """A refusal with a stable code; `retry_s` asks whoever comes again to wait so long."""

    def __init__(
        self, status: int, code: str, title: str, detail: str, retry_s: int | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.title, self.detail = status, code, title, detail
        self.retry_s = retry_s


def stranger() -> EdgeProblem:
    """Nobody we know, or no longer; the same words for both, and for a product out of reach."""
    detail = "A live edge token of this product is needed."
    return EdgeProblem(401, "unauthenticated", "Unknown edge", detail)


#: What `answered` answers.
ANSWERED: tuple[type[Exception], ...] = (
    EdgeProblem,
    OperationalError,
    HTTPException,
    ClientDisconnect,
)


def bad_name() -> EdgeProblem:
    """A name that no edge may have."""
    detail = "An edge's name has up to 100 letters, digits, dots, hyphens and underscores."
    return EdgeProblem(400, "bad_name", "Bad edge name", detail)


def some_seconds() -> int:
    """When to come again: spread, so that those who were refused together don't return together."""
    return random.randint(5, 15)  # noqa: S311 - it spreads load and hides nothing


async def answered(request: Request, problem: Exception) -> Response:
    if isinstance(problem, OperationalError):
        logger.warning("the database is away: %s", problem)
        detail = "The database can't be asked now. What is active stays active."
        problem = EdgeProblem(503, "unavailable", "Away for a moment", detail, some_seconds())
    if isinstance(problem, HTTPException):
        problem = _elsewhere(problem)
    if isinstance(problem, ClientDisconnect):  # nobody reads this, and it is no fault of ours
        problem = EdgeProblem(400, "gone", "Gone", "The connection ended before the body did.")
    if not isinstance(problem, EdgeProblem):
        raise problem
    body = {
        "type": f"urn:orchid:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "instance": request.url.path,
    }
    return JSONResponse(
        body,
        status_code=problem.status,
        media_type="application/problem+json",
        headers=_headers(problem),
    )


def _elsewhere(found: HTTPException) -> EdgeProblem:
    """An address or a method that this entry hasn't got."""
    detail = "The edges' entry has bundle, stream, keys, activations and drills. Look at the path."
    if found.status_code == 405:
        detail = f"This address takes {(found.headers or {}).get('Allow', 'another method')}."
    code = {404: "not_found", 405: "method_not_allowed"}.get(found.status_code, "refused")
    return EdgeProblem(found.status_code, code, found.detail, detail)


def _headers(problem: EdgeProblem) -> dict[str, str]:
    headers = {"WWW-Authenticate": 'Bearer realm="orchid"'} if problem.status == 401 else {}
    return headers if problem.retry_s is None else {**headers, "Retry-After": str(problem.retry_s)}
