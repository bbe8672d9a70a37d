"""Spans in a table of days, COPY straight in; attempts are derived from them by a worker.

What was stored before stays where it is only as attempts: the spans of the old table have made
theirs already.
"""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

FORWARDS = """
CREATE TABLE ingest_span (
    day date NOT NULL,
    source_id bigint NOT NULL,
    trace_id uuid NOT NULL,
    span_id bigint NOT NULL,
    service text NOT NULL,
    body bytea NOT NULL,
    -- A span delivered twice is stored once; also finds the spans of a trace.
    PRIMARY KEY (source_id, trace_id, span_id, day)
) PARTITION BY RANGE (day);

CREATE FUNCTION ingest_ensure_span_day(wanted date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part text := 'ingest_span_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('ingest_span'), hashtext(part));
    IF to_regclass(part) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF ingest_span FOR VALUES FROM (%L) TO (%L)',
            part, wanted, wanted + 1
        );
    END IF;
END $$;

CREATE FUNCTION ingest_drop_span_days_before(oldest date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part record; dropped integer := 0;
BEGIN
    FOR part IN
        SELECT child.relname FROM pg_inherits
        JOIN pg_class child ON child.oid = inhrelid
        WHERE inhparent = 'ingest_span'::regclass
          AND child.relname < 'ingest_span_' || to_char(least(oldest, current_date - 7), 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE %I', part.relname);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

REVOKE ALL ON FUNCTION ingest_ensure_span_day(date), ingest_drop_span_days_before(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest_ensure_span_day(date), ingest_drop_span_days_before(date)
TO orchid_app;
"""

BACKWARDS = """
DROP FUNCTION ingest_drop_span_days_before(date);
DROP FUNCTION ingest_ensure_span_day(date);
DROP TABLE ingest_span;
"""


class Migration(migrations.Migration):
    dependencies = [("ingest", "0006_executions_in_parts")]
    operations = [
        migrations.DeleteModel(name="EngineSpan"),
        migrations.CreateModel(
            name="EngineSpan",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "source_id",
                        "trace_id",
                        "span_id",
                        "day",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("source_id", models.BigIntegerField()),
                ("trace_id", models.UUIDField()),
                ("span_id", models.BigIntegerField()),
                ("day", models.DateField()),
                ("service", models.TextField()),
                ("body", models.BinaryField()),
            ],
            options={"db_table": "ingest_span", "managed": False},
        ),
        migrations.CreateModel(
            name="TouchedTraces",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("trace_ids", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="ingest.source",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["source", "id"], name="touched_by_source")],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
