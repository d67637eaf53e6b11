-- Every turn of every run of the assistant room, with its metrics as one JSON object in the document's shape.
-- The qualities are worked out here as turnwise/assistant/composites.py does it: weights of the run, by scenario.
CREATE VIEW assistant_turns AS
WITH names (name, half) AS (
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
),
settings AS (
    SELECT
        key AS run,
        id AS run_id,
        status,
        system,
        COALESCE(NULLIF(json_extract(config, '$.context.objective_weights'), 'equal'), '{}') AS objective,
        COALESCE(NULLIF(json_extract(config, '$.context.subjective_weights'), 'equal'), '{}') AS subjective,
        COALESCE(json_extract(config, '$.context.overall_weights'), '0.4/0.6') AS overall
    FROM runs
    WHERE suite = 'assistant'
),
turns AS (
    SELECT
        i.*,
        s.run_id,
        s.status,
        s.system,
        s.objective,
        s.subjective,
        s.overall,
        lower(trim(COALESCE(json_extract(i.dimensions, '$.scenario'), ''), char(9, 10, 11, 12, 13, 32))) AS scenario
    FROM settings s
    JOIN items i ON i.run = s.run
    WHERE i.kind = 'turn'
),
-- The weights that apply to a turn. A database folds the letters beyond A to Z in its own way: where it can be in
-- doubt which weights are meant, there is no quality rather than a wrong one.
weighed AS (
    SELECT
        t.*,
        CASE t.objective WHEN '{}' THEN '{}' ELSE COALESCE(
            (SELECT value FROM json_each(t.objective) WHERE key = t.scenario),
            (SELECT value FROM json_each(t.objective) WHERE key = ''),
            '{}'
        ) END AS objective_weights,
        CASE t.subjective WHEN '{}' THEN '{}' ELSE COALESCE(
            (SELECT value FROM json_each(t.subjective) WHERE key = t.scenario),
            (SELECT value FROM json_each(t.subjective) WHERE key = ''),
            '{}'
        ) END AS subjective_weights,
        t.scenario GLOB '*[^' || char(1) || '-' || char(127) || ']*'
            AND EXISTS (SELECT 1 FROM json_each(t.objective) WHERE key <> '')
            AND NOT EXISTS (SELECT 1 FROM json_each(t.objective) WHERE key = t.scenario) AS objective_in_doubt,
        t.scenario GLOB '*[^' || char(1) || '-' || char(127) || ']*'
            AND EXISTS (SELECT 1 FROM json_each(t.subjective) WHERE key <> '')
            AND NOT EXISTS (SELECT 1 FROM json_each(t.subjective) WHERE key = t.scenario) AS subjective_in_doubt
    FROM turns t
)
SELECT
    t.run,
    t.number AS item,
    t.run_id,
    t.status AS run_status,
    t.system,
    COALESCE(json_extract(t.dimensions, '$.version'), '') AS master_prompt_version,
    t.cluster AS session_id,
    json_extract(t.content, '$.turn') AS turn_number,
    json_extract(t.content, '$.query') AS user_message,
    json_extract(t.content, '$.response') AS era_response,
    json_extract(t.content, '$.improvement_notes') AS improvement_notes,
    json_extract(t.content, '$.category') AS category,
    json_extract(t.content, '$.scenario') AS scenario,
    json_extract(t.content, '$.tester') AS tester,
    json_extract(t.content, '$.chunks') AS search_context,
    json_extract(t.content, '$.processing_time_ms') AS processing_time_ms,
    json_extract(t.content, '$.is_first_response') AS is_first_response,
    (
        -- Merging takes out what is null on the right, and leaves what is null on the left.
        SELECT json_patch(
            json_patch(
                '{"has_policy_citation":null,"appropriate_action_suggested":null,"response_structure_complete":null,'
                || '"citation_accuracy":null,"response_length_appropriate":null,"asks_clarifying_questions":null,'
                || '"sequential_action_correct":null,"rag_similarity_score":null,"processing_time_acceptable":null}',
                q.metrics
            ),
            json_object(
                'objective_quality_score', q.objective,
                'subjective_quality_score', q.subjective,
                'overall_quality_score', round(
                    CAST(substr(t.overall, 1, instr(t.overall, '/') - 1) AS REAL) * q.objective
                        + CAST(substr(t.overall, instr(t.overall, '/') + 1) AS REAL) * q.subjective,
                    12
                )
            )
        )
        FROM (
            SELECT
                CASE WHEN NOT t.objective_in_doubt THEN
                    SUM(CASE v.half WHEN 'objective' THEN v.weight * v.value END)
                        / NULLIF(SUM(CASE v.half WHEN 'objective' THEN v.weight END), 0)
                END AS objective,
                CASE WHEN NOT t.subjective_in_doubt THEN
                    SUM(CASE v.half WHEN 'subjective' THEN v.weight * v.value END)
                        / NULLIF(SUM(CASE v.half WHEN 'subjective' THEN v.weight END), 0) / 5
                END AS subjective,
                json_group_object(
                    v.name,
                    json(CASE
                        WHEN v.name IN ('citation_accuracy', 'rag_similarity_score') THEN json_quote(v.value)
                        WHEN v.half = 'objective' AND v.value <> 0 THEN 'true'
                        WHEN v.half = 'objective' THEN 'false'
                        WHEN v.value = CAST(v.value AS INTEGER) THEN json_quote(CAST(v.value AS INTEGER))
                        ELSE json_quote(v.value)
                    END)
                ) AS metrics
            FROM (
                SELECT
                    one.name,
                    one.half,
                    one.value,
                    COALESCE(json_extract(
                        CASE one.half WHEN 'objective' THEN t.objective_weights ELSE t.subjective_weights END,
                        '$.' || one.name
                    ), 1.0) AS weight
                FROM (
                    -- One value per metric: several raters are averaged first.
                    SELECT substr(n.name, instr(n.name, '/') + 1) AS name, n.half, AVG(x.value) AS value
                    -- CROSS JOIN keeps this order, in which each step finds its rows by key.
                    FROM run_metrics m
                    CROSS JOIN names n ON n.name = m.name
                    CROSS JOIN scores x ON x.run = m.run AND x.metric = m.number
                    WHERE m.run = t.run AND x.item = t.number AND x.output = 'value' AND x.variant = ''
                        AND x.value IS NOT NULL
                    GROUP BY n.name, n.half
                ) one
            ) v
        ) q
    ) AS metrics,
    json_extract(t.content, '$.timestamp') AS created_at
FROM weighed t
