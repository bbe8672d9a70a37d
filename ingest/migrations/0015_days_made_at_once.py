"""A day's partition that two deliveries make at the same moment.

The wait for the lock lets no news of the catalogue in, so that `to_regclass` may still answer from
what the session believed before it. `IF NOT EXISTS` looks again under the lock of the schema.
"""

from typing import Final

from django.db import migrations

_HEAD = """
CREATE OR REPLACE FUNCTION {name}({arguments}) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET client_min_messages = warning AS $$
DECLARE part text := {parent} || '_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    {checked}
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext({parent}), hashtext(part));
"""
_SURE = """
    EXECUTE format(
        'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        part, {parent}, wanted, wanted + 1
    );
END $$;
"""
_ONCE = """
    IF to_regclass(part) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
            part, {parent}, wanted, wanted + 1
        );
    END IF;
END $$;
"""
_FUNCTIONS: Final = (
    {
        "name": "ingest_ensure_day",
        "arguments": "wanted date",
        "parent": "'ingest_request'",
        "checked": "",
    },
    {
        "name": "ingest_ensure_span_day",
        "arguments": "wanted date",
        "parent": "'ingest_span'",
        "checked": "",
    },
    {
        "name": "ingest_ensure_rollup_day",
        "arguments": "parent text, wanted date",
        "parent": "parent",
        "checked": """IF parent NOT IN ('ingest_rollup_step', 'ingest_edge_rollup') THEN
        RAISE EXCEPTION '% is no table of rollups', parent;
    END IF;""",
    },
)
FORWARDS = "".join((_HEAD + _SURE).format(**each) for each in _FUNCTIONS)
BACKWARDS = "".join((_HEAD + _ONCE).format(**each) for each in _FUNCTIONS)


class Migration(migrations.Migration):
    dependencies = [("ingest", "0014_units_and_clocks")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
