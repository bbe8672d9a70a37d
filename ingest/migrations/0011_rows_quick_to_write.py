"""Rows of requests that are quicker to write.

Objects of the record become text as it was sent: nothing in the database looks into them. Populations
become bits, ids compare by their bytes, and a row's id names its batch, so no sequence is asked.
"""

from django.db import migrations

from orchid.engine.outcome import BIT_OF

_BITS = ", ".join(f"('{name}', {bit}::bigint)" for name, bit in BIT_OF.items())

# The names are constants of ours.
FORWARDS = f"""
CREATE FUNCTION ingest_population_bits(names text[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(sum(bit), 0)::bigint FROM (VALUES {_BITS}) AS known(name, bit)
    WHERE name = ANY (names)
$$;
ALTER TABLE ingest_request DROP CONSTRAINT ingest_request_once;
ALTER TABLE ingest_request RENAME COLUMN dims TO segment;
ALTER TABLE ingest_request
    ADD COLUMN max_gap_ms double precision,
    ADD COLUMN cached_input_tokens integer,
    DROP COLUMN batch_id,
    ALTER COLUMN id DROP DEFAULT,
    ALTER COLUMN request_id TYPE text COLLATE "C",
    ALTER COLUMN cost_usd TYPE numeric(30, 12),
    ALTER COLUMN segment TYPE text
        USING replace(replace(segment::text, '": "', '":"'), '", "', '","'),
    ALTER COLUMN populations TYPE bigint USING ingest_population_bits(populations),
    ALTER COLUMN decision TYPE text USING coalesce(decision::text, 'null'),
    ALTER COLUMN decision SET NOT NULL,
    ALTER COLUMN attempts TYPE text USING attempts::text,
    ADD CONSTRAINT ingest_request_once UNIQUE (request_id, product_id, day);
DROP FUNCTION ingest_population_bits(text[]);
DROP SEQUENCE ingest_request_id_seq;
"""  # noqa: S608


class Migration(migrations.Migration):
    dependencies = [("ingest", "0010_called_executions")]
    operations = [migrations.RunSQL(FORWARDS)]
