-- Every turn of every run of the assistant room, with its metrics as one JSON object in the document's shape.
-- The qualities are worked out here as turnwise/assistant/composites.py does it: weights of the run, by scenario.
CREATE VIEW assistant_turns AS
SELECT
    i.run,
    i.number AS item,
    r.id AS run_id,
    r.status AS run_status,
    r.system,
    COALESCE(i.dimensions::json ->> 'version', '') AS master_prompt_version,
    i.cluster AS session_id,
    (i.content::json ->> 'turn')::bigint AS turn_number,
    i.content::json ->> 'query' AS user_message,
    i.content::json ->> 'response' AS era_response,
    i.content::json ->> 'improvement_notes' AS improvement_notes,
    i.content::json ->> 'category' AS category,
    i.content::json ->> 'scenario' AS scenario,
    i.content::json ->> 'tester' AS tester,
    (i.content::json -> 'chunks')::jsonb AS search_context,
    (i.content::json ->> 'processing_time_ms')::float8 AS processing_time_ms,
    (i.content::json ->> 'is_first_response')::boolean AS is_first_response,
    jsonb_build_object(
        'has_policy_citation', NULL,
        'appropriate_action_suggested', NULL,
        'response_structure_complete', NULL,
        'citation_accuracy', NULL,
        'response_length_appropriate', NULL,
        'asks_clarifying_questions', NULL,
        'sequential_action_correct', NULL,
        'rag_similarity_score', NULL,
        'processing_time_acceptable', NULL
    )
    || COALESCE(g.metrics, '{}'::jsonb)
    || jsonb_strip_nulls(jsonb_build_object(
        'objective_quality_score', g.objective,
        'subjective_quality_score', g.subjective,
        'overall_quality_score', round(
            (split_part(s.overall, '/', 1)::float8 * g.objective
                + split_part(s.overall, '/', 2)::float8 * g.subjective)::numeric, 12
        )::float8
    )) AS metrics,
    i.content::json ->> 'timestamp' AS created_at
FROM items i
JOIN runs r ON r.key = i.run
CROSS JOIN LATERAL (
    SELECT
        COALESCE(NULLIF(c.context ->> 'objective_weights', 'equal'), '{}')::jsonb AS objective,
        COALESCE(NULLIF(c.context ->> 'subjective_weights', 'equal'), '{}')::jsonb AS subjective,
        COALESCE(c.context ->> 'overall_weights', '0.4/0.6') AS overall
    FROM (SELECT r.config::json -> 'context' AS context OFFSET 0) c
    OFFSET 0  -- worked out once, and not wherever it is used
) s
CROSS JOIN LATERAL (
    SELECT lower(btrim(COALESCE(i.dimensions::json ->> 'scenario', ''), E' \t\n\r\f\x0B')) AS scenario OFFSET 0
) k
-- The weights that apply to a turn. A database folds the letters beyond A to Z in its own way: where it can be in
-- doubt which weights are meant, there is no quality rather than a wrong one.
CROSS JOIN LATERAL (
    SELECT
        COALESCE(s.objective -> k.scenario, s.objective -> '', '{}'::jsonb) AS objective,
        COALESCE(s.subjective -> k.scenario, s.subjective -> '', '{}'::jsonb) AS subjective,
        s.objective - '' <> '{}'::jsonb AND NOT s.objective ? k.scenario
            AND k.scenario ~ '[^\x01-\x7F]' AS objective_in_doubt,
        s.subjective - '' <> '{}'::jsonb AND NOT s.subjective ? k.scenario
            AND k.scenario ~ '[^\x01-\x7F]' AS subjective_in_doubt
    OFFSET 0
) w
LEFT JOIN LATERAL (
    SELECT
        CASE WHEN NOT w.objective_in_doubt THEN
            SUM(v.weight * v.value) FILTER (WHERE v.half = 'objective')
                / NULLIF(SUM(v.weight) FILTER (WHERE v.half = 'objective'), 0)
        END AS objective,
        CASE WHEN NOT w.subjective_in_doubt THEN
            SUM(v.weight * v.value) FILTER (WHERE v.half = 'subjective')
                / NULLIF(SUM(v.weight) FILTER (WHERE v.half = 'subjective'), 0) / 5
        END AS subjective,
        jsonb_object_agg(
            v.name,
            CASE
                WHEN v.half = 'subjective' OR v.name IN ('citation_accuracy', 'rag_similarity_score')
                    THEN to_jsonb(v.value)
                ELSE to_jsonb(v.value <> 0)
            END
        ) AS metrics
    FROM (
        -- One value per metric: several raters are averaged first.
        SELECT
            one.name,
            one.half,
            one.value,
            COALESCE(
                (CASE one.half WHEN 'objective' THEN w.objective ELSE w.subjective END ->> one.name)::float8, 1
            ) AS weight
        FROM (
            SELECT split_part(n.name, '/', 2) AS name, n.half, AVG(x.value) AS value
            FROM run_metrics m
            JOIN (
                VALUES
                    ('assistant/has_policy_citation', 'objective'),
                    ('assistant/appropriate_action_suggested', 'objective'),
                    ('assistant/response_structure_complete', 'objective'),
                    ('assistant/citation_accuracy', 'objective'),
                    ('assistant/response_length_appropriate', 'objective'),
                    ('assistant/asks_clarifying_questions', 'objective'),
                    ('assistant/sequential_action_correct', 'objective'),
                    ('assistant/rag_similarity_score', 'objective'),
                    ('assistant/processing_time_acceptable', 'objective'),
                    ('assistant/professionalism_score', 'subjective'),
                    ('assistant/empathy_score', 'subjective'),
                    ('assistant/clarity_score', 'subjective'),
                    ('assistant/actionability_score', 'subjective'),
                    ('assistant/compliance_score', 'subjective')
            ) n (name, half) ON n.name = m.name
            JOIN scores x ON x.run = m.run AND x.metric = m.number
            WHERE m.run = i.run AND x.item = i.number AND x.output = 'value' AND x.variant = '' AND x.value IS NOT NULL
            GROUP BY n.name, n.half
        ) one
    ) v
) g ON true
WHERE i.kind = 'turn' AND r.suite = 'assistant'
