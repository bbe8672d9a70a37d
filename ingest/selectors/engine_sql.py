# ruff: noqa: S608 - the parts of each statement are constants of this file; values are parameters.
"""What the newest executions of a window came to, by route and model: one bounded read each.

A child of an ensemble or of a model that calls others is work of its parent's request, so that
only executions nobody called are counted as such.
"""

#: Executions that one view reads, the newest first, however many the window holds.
MOST = 100_000

_ROUTED = """
WITH told AS (
    SELECT * FROM unnest(%(sources)s::bigint[], %(models)s::text[], %(routes)s::text[])
    AS told (source_id, model, route)
), dear AS (
    SELECT * FROM unnest(%(dear_routes)s::text[], %(dear_above)s::bigint[])
    AS dear (route, above_tokens)
), newest AS (
    SELECT * FROM ingest_engineattempt
    WHERE product_id = %(product)s AND received_at >= %(since)s
    ORDER BY received_at DESC, id DESC LIMIT %(most)s
), routed AS (
    SELECT newest.*, coalesce(own.route, every.route, '') AS route
    FROM newest
    LEFT JOIN told own ON own.source_id = newest.source_id AND own.model = newest.model
    LEFT JOIN told every ON every.source_id IS NULL AND every.model = newest.model
)
"""

#: Nearest rank over every execution that has the phase, however it ended.
TIMES = (
    _ROUTED
    + """
SELECT route, model, count(*), min(received_at),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY request_ms),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY queue_ms),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY compute_ms),
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY first_token_ms)
FROM routed WHERE parent_key = ''
GROUP BY GROUPING SETS ((route), (route, model))
ORDER BY route, model NULLS FIRST
"""
)

#: A price by length holds for a whole request, so that long prompts are summed apart; and tokens
#: that were not told, or in contradiction, by themselves.
TOKENS = (
    _ROUTED
    + """
SELECT told.route, model, ending, input_convention, told.prompt > dear.above_tokens IS TRUE, known,
       count(*), coalesce(sum(input_tokens), 0), coalesce(sum(cached_input_tokens), 0),
       coalesce(sum(cache_write_tokens), 0), coalesce(sum(output_tokens), 0)
FROM (
    SELECT counted.*,
           CASE WHEN route = ANY(%(priced)s) THEN route ELSE model END AS price_name,
           input_tokens IS NOT NULL AND output_tokens IS NOT NULL
               AND (beside = 0 OR input_convention = 'excludes_cached'
                    OR (input_convention = 'includes_cached' AND beside <= input_tokens))
               AS known,
           coalesce(input_tokens, 0)
               + CASE input_convention WHEN 'excludes_cached' THEN beside ELSE 0 END AS prompt
    FROM (
        SELECT *, coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0) AS beside
        FROM routed WHERE parent_key = ''
    ) AS counted
) AS told
LEFT JOIN dear ON dear.route = told.price_name
GROUP BY 1, 2, 3, 4, 5, 6
"""
)

UNMAPPED = (
    _ROUTED
    + """
SELECT model, count(*) FROM routed WHERE parent_key = '' AND route = ''
GROUP BY model ORDER BY count(*) DESC, model
"""
)

INNER = _ROUTED + "SELECT model, count(*) FROM routed WHERE parent_key <> '' GROUP BY 1 ORDER BY 1"

OVER_TIME = (
    _ROUTED
    + """
SELECT to_timestamp(floor(extract(epoch FROM received_at) / %(step_s)s) * %(step_s)s) AS at,
       route, count(*),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY request_ms),
       percentile_disc(0.95) WITHIN GROUP (ORDER BY request_ms)
FROM routed WHERE parent_key = '' GROUP BY 1, 2 ORDER BY 1, 2
"""
)

#: What an engine told of each request of a window, whichever way its attempts ended.
AGREEMENT = """
WITH asked AS (
    SELECT day, id, route, outcome, attempt_ids FROM ingest_request
    WHERE product_id = %(product)s AND arrived_at >= %(since)s
    ORDER BY arrived_at DESC, id DESC LIMIT %(most)s
), evidence AS (
    SELECT asked.day, asked.id, count(engine.id) AS executions,
           count(*) FILTER (WHERE engine.ending = 'answered') AS answered
    FROM asked
    LEFT JOIN LATERAL unnest(asked.attempt_ids) AS tried (attempt_id) ON true
    LEFT JOIN ingest_engineattempt AS engine
        ON engine.product_id = %(product)s AND engine.attempt_id = tried.attempt_id
        AND engine.attempt_id <> '' AND engine.parent_key = ''
    GROUP BY asked.day, asked.id
)
SELECT asked.route, asked.outcome, evidence.executions > 0, evidence.answered > 0,
       count(*), sum(evidence.executions), sum(evidence.answered)
FROM asked JOIN evidence USING (day, id) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2
"""

#: Executions of the window that no request of it names.
UNCLAIMED = """
WITH newest AS (
    SELECT attempt_id, parent_key FROM ingest_engineattempt
    WHERE product_id = %(product)s AND received_at >= %(since)s
    ORDER BY received_at DESC, id DESC LIMIT %(most)s
), named AS (
    SELECT DISTINCT unnest(attempt_ids) AS attempt_id FROM (
        SELECT attempt_ids FROM ingest_request
        WHERE product_id = %(product)s AND arrived_at >= %(since)s
        ORDER BY arrived_at DESC, id DESC LIMIT %(most)s
    ) AS asked
)
SELECT count(*) FROM newest LEFT JOIN named USING (attempt_id)
WHERE parent_key = '' AND named.attempt_id IS NULL
"""
