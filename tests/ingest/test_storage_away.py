"""A database that is down, full, read-only or out of connections: 503 everywhere, 500 nowhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.test import Client

from accounts.models import User
from ingest.models import Batch
from tests.ingest.ingest_cast import RecordMaker, Sender

pytestmark = pytest.mark.django_db

DELIVERIES = {
    "records": ("/api/v1/ingest/requests", "application/x-ndjson", b""),
    "file": ("/api/v1/ingest/files?kind=metrics", "text/plain", b"up 1\n"),
    "spans": ("/v1/traces", "application/json", b'{"resourceSpans": []}'),
}
AWAY = {
    "is not there": OperationalError("connection refused"),
    "was lost": InterfaceError("connection already closed"),
    "is stopped": psycopg.errors.AdminShutdown(),
    "starts": psycopg.errors.CannotConnectNow(),
    "has no connection left": psycopg.errors.TooManyConnections(),
    "has a full disk": psycopg.errors.DiskFull(),
    "is read-only": psycopg.errors.ReadOnlySqlTransaction(),
    "is locked": psycopg.errors.LockNotAvailable(),
}


def _as_django_says(error: Exception) -> Exception:
    if not isinstance(error, psycopg.Error):
        return error
    said = DatabaseError(str(error))
    said.__cause__ = error
    return said


@contextmanager
def failing(error: Exception, only: str = "") -> Iterator[None]:
    """Every statement that holds `only` fails as the database would let it fail."""

    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if only in sql:
            raise error
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail):
        yield


@pytest.mark.parametrize("error", AWAY.values(), ids=AWAY)
@pytest.mark.parametrize("way", DELIVERIES)
def test_a_delivery_hears_503_and_when_to_come_again(
    edge: Sender, way: str, error: Exception
) -> None:
    path, media, body = DELIVERIES[way]
    with failing(_as_django_says(error)):
        answer = edge.post(path, body, media=media, **{"Batch-Id": "b"})
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert answer["Content-Type"] == "application/problem+json"
    assert 2 <= int(answer["Retry-After"]) <= 6


def test_a_batch_that_could_not_be_stored_is_not_acknowledged_and_may_come_again(
    edge: Sender, record: RecordMaker
) -> None:
    one = record()
    with failing(_as_django_says(psycopg.errors.DiskFull()), only="INSERT INTO ingest_batch"):
        first = edge.records(one, **{"Batch-Id": "b1"})
    assert (first.status_code, Batch.objects.count()) == (503, 0)
    assert edge.records(one, **{"Batch-Id": "b1"}).status_code == 202


@pytest.mark.parametrize("path", ["/", "/products/orchid-demo/sources/", "/login"])
def test_a_person_is_told_in_words(ana: User, client: Client, path: str) -> None:
    client.force_login(ana)
    client.raise_request_exception = False
    with failing(OperationalError("connection refused")):
        answer = client.get(path)
    assert answer.status_code == 503
    assert "Not at this moment" in answer.content.decode()
    assert "Retry-After" in answer


def test_a_fault_of_ours_is_not_called_the_databases(edge: Sender, record: RecordMaker) -> None:
    edge.client.raise_request_exception = False
    fault = _as_django_says(psycopg.errors.UndefinedColumn())
    with failing(fault, only="INSERT INTO ingest_batch"):
        assert edge.records(record()).status_code == 500


def test_ready_says_whether_anything_can_be_stored(client: Client) -> None:
    with failing(InterfaceError("connection already closed")):
        down = client.get("/readyz")
    assert (down.status_code, down.json()["checks"]) == (503, {"database": "can't be reached"})
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL transaction_read_only = on")
        read_only = client.get("/readyz")
    assert (read_only.status_code, read_only.json()["checks"]["database"]) == (503, "read-only")
