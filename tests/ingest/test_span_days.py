from datetime import date, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from ingest import tasks
from ingest.models import EngineSpan
from ingest.services import span_rows
from tests.formats.otlp_bodies import body, wire_span
from tests.ingest.ingest_cast import Sender

pytestmark = pytest.mark.django_db


def _days() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid"
            " WHERE inhparent = 'ingest_span'::regclass"
        )
        return {name.removeprefix("ingest_span_") for (name,) in cursor.fetchall()}


def _name(day: date) -> str:
    return f"{day:%Y%m%d}"


def test_days_are_made_ahead_and_dropped_when_they_are_over() -> None:
    today = timezone.now().date()
    kept, over = today - timedelta(days=30), today - timedelta(days=31)
    span_rows.ensure_days({kept, over})
    tasks.keep_days()
    days = _days()
    assert {_name(today + timedelta(days=ahead)) for ahead in range(3)} | {_name(kept)} <= days
    assert _name(over) not in days


def test_a_span_lies_on_the_day_it_started_or_on_the_day_it_came(otel: Sender) -> None:
    now = timezone.now()
    yesterday = now - timedelta(days=1)
    begin = int(yesterday.timestamp() * 1e9)
    times = {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 1)}
    ahead = int((now + timedelta(days=3)).timestamp() * 1e9)
    future = {"startTimeUnixNano": str(ahead), "endTimeUnixNano": str(ahead + 1)}
    spans = (wire_span(1, **times), wire_span(2, **future), wire_span(3, startTimeUnixNano="10"))
    for _ in range(2):
        otel.post("/v1/traces", body(*spans), media="application/json")
    days = sorted(EngineSpan.objects.values_list("day", flat=True))
    assert days == [yesterday.date(), now.date(), now.date()]
