"""What the edges' entry answers when it can't do what was asked: RFC 9457 documents."""

import logging
import random

from psycopg import OperationalError
from starlette.requests import Request
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


def some_seconds() -> int:
    """When to come again: spread, so that those who were refused together don't return together."""
    return random.randint(5, 15)  # noqa: S311 - it spreads load and hides nothing


async def answered(request: Request, problem: Exception) -> Response:
    if isinstance(problem, OperationalError):
        logger.warning("the database is away: %s", problem)
        detail = "The database can't be asked now. What is active stays active."
        problem = EdgeProblem(503, "unavailable", "Away for a moment", detail, some_seconds())
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


def _headers(problem: EdgeProblem) -> dict[str, str]:
    headers = {"WWW-Authenticate": 'Bearer realm="orchid"'} if problem.status == 401 else {}
    return headers if problem.retry_s is None else {**headers, "Retry-After": str(problem.retry_s)}
