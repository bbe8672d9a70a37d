"""Decisions of a candidate beside what was decided, in a table of days, and how many there were."""

import django.db.models.deletion
from django.db import migrations, models

FORWARDS = """
CREATE TABLE ingest_shadow (
    day date NOT NULL,
    id bigint NOT NULL,
    product_id bigint NOT NULL,
    publication integer NOT NULL,
    request_id text NOT NULL CHECK (request_id <> ''),
    attempt smallint NOT NULL,
    mode text NOT NULL,
    at timestamptz NOT NULL,
    edge text NOT NULL,
    class_name text NOT NULL,
    tenant text NOT NULL,
    segment text NOT NULL,
    dims_key text NOT NULL,
    difference text NOT NULL,
    near_deadline boolean NOT NULL,
    near_long_context boolean NOT NULL,
    near_budget boolean NOT NULL,
    route text NOT NULL,
    deadline_ms double precision,
    input_tokens integer,
    max_output_tokens integer,
    incumbent text NOT NULL,
    candidate text NOT NULL,
    PRIMARY KEY (day, id),
    -- A decision delivered twice is stored once.
    CONSTRAINT ingest_shadow_once UNIQUE (product_id, publication, request_id, attempt, day)
) PARTITION BY RANGE (day);

-- The list of disagreements, newest first; most lines agree.
CREATE INDEX ingest_shadow_differs ON ingest_shadow (product_id, publication, at DESC, id DESC)
WHERE difference <> 'same';
"""
BACKWARDS = "DROP TABLE ingest_shadow;"

#: The two functions that make and drop a day, which know the tables that they may touch.
_ENSURE = """
CREATE OR REPLACE FUNCTION ingest_ensure_rollup_day(parent text, wanted date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET client_min_messages = warning AS $$
DECLARE part text := parent || '_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    IF parent NOT IN ({tables}) THEN
        RAISE EXCEPTION '% is no table of days', parent;
    END IF;
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext(parent), hashtext(part));
    EXECUTE format(
        'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        part, parent, wanted, wanted + 1
    );
END $$;
"""
_DROP = """
CREATE OR REPLACE FUNCTION ingest_drop_rollup_days_before(parent text, oldest date)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part record; dropped integer := 0;
BEGIN
    IF parent NOT IN ({tables}) THEN
        RAISE EXCEPTION '% is no table of days', parent;
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
"""
_BEFORE = "'ingest_rollup_step', 'ingest_edge_rollup'"
_SINCE = f"{_BEFORE}, 'ingest_shadow'"


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0015_days_made_at_once"),
    ]

    operations = [
        migrations.CreateModel(
            name="ShadowRow",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "day", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("day", models.DateField()),
                ("id", models.BigIntegerField()),
                ("product_id", models.BigIntegerField()),
                ("publication", models.IntegerField()),
                ("request_id", models.TextField()),
                ("attempt", models.SmallIntegerField()),
                ("mode", models.TextField()),
                ("at", models.DateTimeField()),
                ("edge", models.TextField()),
                ("class_name", models.TextField()),
                ("tenant", models.TextField()),
                ("segment", models.TextField()),
                ("dims_key", models.TextField()),
                ("difference", models.TextField()),
                ("near_deadline", models.BooleanField()),
                ("near_long_context", models.BooleanField()),
                ("near_budget", models.BooleanField()),
                ("route", models.TextField()),
                ("deadline_ms", models.FloatField(null=True)),
                ("input_tokens", models.IntegerField(null=True)),
                ("max_output_tokens", models.IntegerField(null=True)),
                ("incumbent_text", models.TextField(db_column="incumbent")),
                ("candidate_text", models.TextField(db_column="candidate")),
            ],
            options={
                "db_table": "ingest_shadow",
                "managed": False,
            },
        ),
        migrations.AlterField(
            model_name="batch",
            name="kind",
            field=models.CharField(
                choices=[
                    ("edge", "Edge"),
                    ("triton_trace", "Triton trace files"),
                    ("otlp", "OpenTelemetry spans"),
                    ("client_log", "Client log"),
                    ("statistics", "Triton statistics"),
                    ("metrics", "Prometheus metrics"),
                    ("rollup", "Rollups of an edge"),
                    ("trial", "Trial of a load generator"),
                    ("arrivals", "Recorded arrivals"),
                    ("polled", "Polled server"),
                    ("shadow", "Shadow decisions of an edge"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="source",
            name="kind",
            field=models.CharField(
                choices=[
                    ("edge", "Edge"),
                    ("triton_trace", "Triton trace files"),
                    ("otlp", "OpenTelemetry spans"),
                    ("client_log", "Client log"),
                    ("statistics", "Triton statistics"),
                    ("metrics", "Prometheus metrics"),
                    ("rollup", "Rollups of an edge"),
                    ("trial", "Trial of a load generator"),
                    ("arrivals", "Recorded arrivals"),
                    ("polled", "Polled server"),
                    ("shadow", "Shadow decisions of an edge"),
                ],
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="ShadowCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("publication", models.IntegerField()),
                (
                    "mode",
                    models.CharField(
                        choices=[
                            ("shadow", "The candidate is asked"),
                            ("hard_limits", "The candidate’s limits hold"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "counted",
                    models.CharField(
                        choices=[
                            ("same", "Agrees"),
                            ("refuses", "Refuses what is served"),
                            ("defers", "Puts off what is not"),
                            ("serves", "Serves what is not"),
                            ("route", "Serves by another route"),
                            ("bounds", "Bounds the output otherwise"),
                            ("reason", "Has another reason"),
                            ("overload", "No reserve: the fleet was overloaded"),
                            ("behind", "No time: the edge was behind"),
                            ("memory", "No room: too much was open"),
                            ("unsent", "No room: too many lines waited to be sent"),
                        ],
                        max_length=16,
                    ),
                ),
                ("near", models.PositiveSmallIntegerField(default=0)),
                ("n", models.PositiveBigIntegerField(default=0)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shadow_counts",
                        to="ingest.source",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("source", "publication", "mode", "counted", "near"),
                        name="shadow_counted_once",
                    )
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.RunSQL(
            (_ENSURE + _DROP).replace("{tables}", _SINCE),
            (_ENSURE + _DROP).replace("{tables}", _BEFORE),
        ),
    ]
