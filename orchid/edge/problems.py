"""What an edge can't do for its caller, as RFC 9457 problems with a stable code."""


class EdgeError(Exception):
    """A question that has no answer here: its code, its HTTP status, and what to do next."""

    def __init__(self, status: int, code: str, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.title, self.detail = status, code, title, detail


def request_ended(request_id: str) -> EdgeError:
    return EdgeError(
        409,
        "request_ended",
        "The request has ended",
        f"request {request_id} is over and its record is written; ask again under a new"
        " request_id, and where it was deferred name its deferral in `continues`",
    )


def request_differs(request_id: str, field: str) -> EdgeError:
    return EdgeError(
        409,
        "request_differs",
        "Another request has this id",
        f"request {request_id} is open with another {field}; a retry repeats its request,"
        " another request takes a new request_id",
    )


def unknown_deferral(name: str) -> EdgeError:
    return EdgeError(
        404,
        "unknown_deferral",
        "Unknown deferral",
        f"nothing was deferred here as {name}, or it is long over; ask without `continues`",
    )


def deferral_over(name: str) -> EdgeError:
    return EdgeError(
        409,
        "deferral_over",
        "The deferred work is too old",
        f"{name} could be run up to its `until`, which has passed; ask without `continues`"
        " if the work is still wanted",
    )


def deferral_taken(name: str, run: str) -> EdgeError:
    return EdgeError(
        409,
        "deferral_taken",
        "The deferred work runs already",
        f"{name} was taken up by request {run}; it is run once",
    )


def unknown_attempt(attempt_id: str) -> EdgeError:
    detail = f"no attempt {attempt_id} is open"
    return EdgeError(404, "unknown_attempt", "Unknown attempt", detail)


def unknown_replica(pool: str, replica: str) -> EdgeError:
    return EdgeError(
        404,
        "unknown_replica",
        "Unknown replica",
        f"pool {pool} has no replica {replica} here; a replica is known once its pool is ready",
    )
