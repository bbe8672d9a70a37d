"""The partitioned table of requests.

The application may not create tables, so the two functions that make and drop a day's partition
run with their owner's rights and do nothing else. The last seven days can't be dropped by them.
"""

from django.db import migrations

FORWARDS = """
CREATE SEQUENCE ingest_request_id_seq;
CREATE TABLE ingest_request (
    day date NOT NULL,
    id bigint NOT NULL DEFAULT nextval('ingest_request_id_seq'),
    product_id bigint NOT NULL,
    request_id text NOT NULL CHECK (request_id <> ''),
    batch_id bigint NOT NULL,
    arrived_at timestamptz NOT NULL,
    publication integer,
    digest text NOT NULL,
    cohort text NOT NULL,
    tenant text NOT NULL,
    tenant_class text NOT NULL,
    class_name text NOT NULL,
    dims jsonb NOT NULL,
    dims_key text NOT NULL,
    action text NOT NULL,
    route text NOT NULL,
    reason text NOT NULL,
    manifest text NOT NULL,
    outcome text NOT NULL,
    policy_valid boolean,
    schema_valid boolean,
    deadline_ms double precision,
    admission_ms double precision,
    first_token_ms double precision,
    completion_ms double precision,
    input_tokens integer,
    max_output_tokens integer,
    output_tokens integer,
    teu numeric(24, 6),
    cost_usd numeric(24, 12) NOT NULL,
    populations text[] NOT NULL,
    attempt_ids text[] NOT NULL,
    decision jsonb,
    attempts jsonb NOT NULL,
    PRIMARY KEY (day, id),
    -- A request delivered twice is stored once.
    CONSTRAINT ingest_request_once UNIQUE (product_id, request_id, day)
) PARTITION BY RANGE (day);

-- The requests page and the decision diff, newest first.
CREATE INDEX ingest_request_newest ON ingest_request (product_id, arrived_at DESC, id DESC);
-- Joining what an engine saw.
CREATE INDEX ingest_request_attempts ON ingest_request USING gin (attempt_ids);

CREATE FUNCTION ingest_ensure_day(wanted date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part text := 'ingest_request_' || to_char(wanted, 'YYYYMMDD');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('ingest_request'), hashtext(part));
    IF to_regclass(part) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF ingest_request FOR VALUES FROM (%L) TO (%L)',
            part, wanted, wanted + 1
        );
    END IF;
END $$;

CREATE FUNCTION ingest_drop_days_before(oldest date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE part record; dropped integer := 0;
BEGIN
    FOR part IN
        SELECT child.relname FROM pg_inherits
        JOIN pg_class child ON child.oid = inhrelid
        WHERE inhparent = 'ingest_request'::regclass
          AND child.relname < 'ingest_request_' || to_char(least(oldest, current_date - 7), 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE %I', part.relname);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

REVOKE ALL ON FUNCTION ingest_ensure_day(date), ingest_drop_days_before(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest_ensure_day(date), ingest_drop_days_before(date) TO orchid_app;
"""

BACKWARDS = """
DROP FUNCTION ingest_drop_days_before(date);
DROP FUNCTION ingest_ensure_day(date);
DROP TABLE ingest_request;
DROP SEQUENCE ingest_request_id_seq;
"""


class Migration(migrations.Migration):
    dependencies = [("ingest", "0001_initial")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
