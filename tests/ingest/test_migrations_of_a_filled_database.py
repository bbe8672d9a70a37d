"""Rows of former tables are read by today's selectors once they were carried over."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from ingest.selectors import engine_figures, rollup_rows
from policies.models import Product

BEFORE = [("ingest", "0004_source_tallies")]
DATABASE = "orchid_carried_over"
STEP = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def empty(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database of its own under Django's connection: tables are made and changed here."""
    with django_db_blocker.unblock():
        own = connection.settings_dict["NAME"]
        made = connection.get_connection_params()
        with psycopg.connect(**_plain(made), autocommit=True) as server:
            server.execute(f"CREATE DATABASE {DATABASE}")
            connection.close()
            connection.settings_dict["NAME"] = DATABASE
            try:
                yield
            finally:
                connection.close()
                connection.settings_dict["NAME"] = own
                server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {name: params[name] for name in ("dbname", "user", "host", "port") if params.get(name)}


def migrate(targets: list[tuple[str, str]]) -> Any:
    """To these migrations; the models as they were then."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


def newest() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = MigrationExecutor(connection).loader.graph.leaf_nodes("ingest")
    return found


def fill_rollups(product_pk: int, apps: Any) -> None:
    """Two deltas of one cell and one of another, as batches appended them."""
    for route, records, within in (("full", 3, 2), ("full", 1, 1), ("compact", 2, 0)):
        apps.get_model("ingest", "RollupDelta").objects.create(
            product_id=product_pk,
            step_at=STEP,
            publication=1,
            digest="d",
            cohort="incumbent",
            dims_key="task=assistant",
            dims={"task": "assistant"},
            route=route,
            manifest="",
            counters={"offered": records, "latency_counted": records},
            histogram={"100": records},
            within={"completion<=1500": within},
            teu=Decimal("1.5"),
            cost_usd=Decimal("0.25"),
            records=records,
        )


def fill_counters(product_pk: int, apps: Any) -> int:
    """What one server's statistics said three times."""
    source = apps.get_model("ingest", "Source").objects.create(
        product_id=product_pk, kind="statistics", name="six"
    )
    for number, count in enumerate((5, 9, 12)):
        batch = apps.get_model("ingest", "Batch").objects.create(
            product_id=product_pk,
            source=source,
            batch_id=f"b{number}",
            kind="statistics",
            size=1,
            sha256="",
            status="done",
            received_at=STEP + timedelta(minutes=number),
        )
        apps.get_model("ingest", "CounterSample").objects.create(
            source=source, batch=batch, model="full:1", name="success_count", value=count
        )
    return int(source.pk)


@pytest.mark.usefixtures("empty")
def test_deltas_and_samples_of_before_are_what_they_were() -> None:
    apps = migrate(BEFORE)
    made = apps.get_model("policies", "Product").objects.create(slug="p", name="P")
    fill_rollups(made.pk, apps)
    source_pk = fill_counters(made.pk, apps)
    migrate(newest())
    product = Product.objects.get()
    rows = rollup_rows(product, "d", 1, "incumbent", STEP, STEP + timedelta(hours=1))
    bound = "completion<=1500"
    assert {row.route: (row.records, row.within[bound], row.judged[bound]) for row in rows} == {
        "full": (4, 3, 4),
        "compact": (2, 0, 2),
    }
    assert {row.route: (row.teu, row.cost_usd) for row in rows} == {
        "full": (Decimal("3.0"), Decimal("0.5")),
        "compact": (Decimal("1.5"), Decimal("0.25")),
    }
    assert all(row.dims == {"task": "assistant"} for row in rows)
    (figures,) = engine_figures(product, source_pk)
    assert (figures.model, figures.answered, figures.resets) == ("full:1", 7, 0)
