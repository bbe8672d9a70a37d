"""Rollups as sheets of bytes: one row a step instead of one a cell, and hours above the steps.

Deltas of the former table are carried over. Steps and what edges counted themselves are
partitioned by day; the application may not create tables, so the two functions run with their
owner's rights, take no other table, and never drop the last seven days.
"""

from collections import Counter, defaultdict

import django.db.models.deletion
from django.db import migrations, models

from orchid.engine.rollup import Sums
from orchid.engine.rollup_bytes import pack

FORWARDS = """
CREATE TABLE ingest_rollup_step (
    day date NOT NULL,
    stream_id bigint NOT NULL,
    step_at timestamptz NOT NULL,
    sheet bytea NOT NULL,
    PRIMARY KEY (day, stream_id, step_at)
) PARTITION BY RANGE (day);
CREATE TABLE ingest_edge_rollup (
    day date NOT NULL,
    source_id bigint NOT NULL,
    stream_id bigint NOT NULL,
    step_at timestamptz NOT NULL,
    key_hash bigint NOT NULL,
    content bigint NOT NULL,
    -- A rollup delivered twice, or in another batch, is counted once.
    PRIMARY KEY (day, source_id, stream_id, step_at, key_hash)
) PARTITION BY RANGE (day);
-- Sheets are deflated already.
ALTER TABLE ingest_rollup_step ALTER COLUMN sheet SET STORAGE EXTERNAL;
ALTER TABLE ingest_rolluphour ALTER COLUMN sheet SET STORAGE EXTERNAL;
ALTER TABLE ingest_rollupdelta ALTER COLUMN sheet SET STORAGE EXTERNAL;
-- Deltas live for a minute: their room is wanted again at once, however small a share it is.
ALTER TABLE ingest_rollupdelta SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 200
);

CREATE FUNCTION ingest_ensure_rollup_day(parent text, wanted date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part text := parent || '_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    IF parent NOT IN ('ingest_rollup_step', 'ingest_edge_rollup') THEN
        RAISE EXCEPTION '% is no table of rollups', parent;
    END IF;
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext(parent), hashtext(part));
    IF to_regclass(part) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
            part, parent, wanted, wanted + 1
        );
    END IF;
END $$;

CREATE FUNCTION ingest_drop_rollup_days_before(parent text, oldest date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part record; dropped integer := 0;
BEGIN
    IF parent NOT IN ('ingest_rollup_step', 'ingest_edge_rollup') THEN
        RAISE EXCEPTION '% is no table of rollups', parent;
    END IF;
    FOR part IN
        SELECT child.relname FROM pg_inherits
        JOIN pg_class child ON child.oid = inhrelid
        WHERE inhparent = to_regclass(parent)
          AND child.relname < parent || '_' || to_char(least(oldest, current_date - 7), 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE %I', part.relname);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

REVOKE ALL ON FUNCTION ingest_ensure_rollup_day(text, date),
    ingest_drop_rollup_days_before(text, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest_ensure_rollup_day(text, date),
    ingest_drop_rollup_days_before(text, date) TO orchid_app;
"""

BACKWARDS = """
DROP FUNCTION ingest_drop_rollup_days_before(text, date);
DROP FUNCTION ingest_ensure_rollup_day(text, date);
DROP TABLE ingest_edge_rollup;
DROP TABLE ingest_rollup_step;
"""


def carry_over(apps, schema_editor):
    """The former deltas, one sheet for each step that had any."""
    streams = apps.get_model("ingest", "RollupStream").objects
    cells = apps.get_model("ingest", "RollupCell").objects
    delta = apps.get_model("ingest", "RollupDelta")
    sheets = defaultdict(dict)
    for old in apps.get_model("ingest", "RollupBefore").objects.iterator():
        stream, _ = streams.get_or_create(
            product_id=old.product_id,
            by="cell",
            publication=old.publication,
            digest=old.digest,
            cohort=old.cohort,
        )
        cell, _ = cells.get_or_create(
            product_id=old.product_id,
            by="cell",
            dims_key=old.dims_key,
            route=old.route,
            manifest=old.manifest,
        )
        sheets[stream.pk, old.step_at].setdefault(cell.pk, Sums()).merge(_sums(old))
    delta.objects.bulk_create(
        delta(stream_id=stream, step_at=step_at, batch_id=0, sheet=pack(sheet))
        for (stream, step_at), sheet in sheets.items()
    )
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _sums(old):
    """Every request of a bound's population was compared with every bound of the product."""
    counters = Counter(old.counters)
    sums = Sums(
        counters,
        histogram=Counter({int(bucket): count for bucket, count in old.histogram.items()}),
        within=Counter(old.within),
        judged=Counter({key: counters[_population(key)] for key in old.within}),
        records=old.records,
    )
    sums.add_teu(old.teu)
    sums.add_usd(old.cost_usd)
    return sums


def _population(key):
    between = key.startswith(("time_per_output_token", "inter_token"))
    return "inter_token_counted" if between else "latency_counted"


def _id():
    return models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )


def _product():
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="policies.product"
    )


def _stream():
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="ingest.rollupstream"
    )


def _by():
    return models.CharField(
        choices=[("cell", "By segment, route and manifest"), ("tenant", "By tenant")], max_length=8
    )


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_initial"), ("ingest", "0007_spans_by_day")]
    operations = [
        migrations.RemoveIndex("RollupDelta", "rollup_window"),
        migrations.RenameModel("RollupDelta", "RollupBefore"),
        migrations.CreateModel(
            "RollupStream",
            fields=[
                ("id", _id()),
                ("product", _product()),
                ("by", _by()),
                ("publication", models.IntegerField(null=True)),
                ("digest", models.TextField()),
                ("cohort", models.TextField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["product", "digest", "publication", "cohort", "by"],
                        name="rollup_stream_once",
                        nulls_distinct=False,
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "RollupCell",
            fields=[
                ("id", _id()),
                ("product", _product()),
                ("by", _by()),
                ("dims_key", models.TextField(default="")),
                ("route", models.TextField(default="")),
                ("manifest", models.TextField(default="")),
                ("tenant", models.TextField(default="")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["product", "by", "dims_key", "route", "manifest", "tenant"],
                        name="rollup_cell_once",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "DimensionValue",
            fields=[
                ("id", _id()),
                ("product", _product()),
                ("dimension", models.CharField(max_length=40)),
                ("value", models.CharField(max_length=128)),
                ("first_seen_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["product", "dimension", "value"], name="dimension_value_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "RollupDelta",
            fields=[
                ("id", _id()),
                ("stream", _stream()),
                ("step_at", models.DateTimeField()),
                ("batch_id", models.BigIntegerField()),
                ("sheet", models.BinaryField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["stream", "step_at", "batch_id"], name="rollup_delta_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "RollupHour",
            fields=[
                ("id", _id()),
                ("stream", _stream()),
                ("hour_at", models.DateTimeField()),
                ("sheet", models.BinaryField()),
                ("stands_alone", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["stream", "hour_at"], name="rollup_hour_once")
                ]
            },
        ),
        migrations.CreateModel(
            "EdgeStep",
            fields=[
                ("id", _id()),
                ("product", _product()),
                ("edge", models.CharField(max_length=128)),
                ("step_at", models.DateTimeField()),
                (
                    "counted_by",
                    models.CharField(
                        choices=[("records", "Its records"), ("rollups", "Its rollups")],
                        max_length=8,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["product", "edge", "step_at"], name="edge_step_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "RollupStep",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "day",
                        "stream_id",
                        "step_at",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("day", models.DateField()),
                ("stream_id", models.BigIntegerField()),
                ("step_at", models.DateTimeField()),
                ("sheet", models.BinaryField()),
            ],
            options={"db_table": "ingest_rollup_step", "managed": False},
        ),
        migrations.CreateModel(
            "EdgeRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "day",
                        "source_id",
                        "stream_id",
                        "step_at",
                        "key_hash",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("day", models.DateField()),
                ("source_id", models.BigIntegerField()),
                ("stream_id", models.BigIntegerField()),
                ("step_at", models.DateTimeField()),
                ("key_hash", models.BigIntegerField()),
                ("content", models.BigIntegerField()),
            ],
            options={"db_table": "ingest_edge_rollup", "managed": False},
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.DeleteModel("RollupBefore"),
    ]
