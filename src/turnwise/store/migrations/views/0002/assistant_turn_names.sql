-- Which turns the document's tables show, and under which session: every turn once, as the newest finished run that
-- holds it measured it. A session whose id several versions (or systems) use keeps it for the newest; the others are
-- told apart by name.
CREATE VIEW assistant_turn_names AS
WITH every AS (
    SELECT
        i.run,
        i.number AS item,
        r.system,
        COALESCE(json_text(i.dimensions, 'version'), '') AS version,
        json_text(i.dimensions, 'tester') AS tester,
        i.cluster AS session_id,
        substr(i.id, length(i.cluster) + 2) AS turn
    FROM runs r
    JOIN items i ON i.run = r.key
    -- Every item of this room is a turn. This condition, and the one on age, are worded such that a database that
    -- has no statistics (yet) does not take what they leave for a few rows, and join them one by one.
    WHERE r.suite || '' = 'assistant' AND r.status = 'finished'
),
aged AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY session_id, version, system, turn ORDER BY run DESC) AS age
    FROM every
),
compared AS (
    SELECT
        *,
        FIRST_VALUE(version) OVER newest_first AS newest_version,
        FIRST_VALUE(system) OVER newest_first AS newest_system,
        MIN(system) OVER session <> MAX(system) OVER session AS systems_differ
    FROM aged
    WHERE age <= 1
    WINDOW session AS (PARTITION BY session_id), newest_first AS (PARTITION BY session_id ORDER BY run DESC, item DESC)
)
SELECT
    run,
    item,
    CAST(
        CASE
            WHEN version = newest_version AND system = newest_system THEN session_id
            ELSE session_id || '@' || COALESCE(NULLIF(version, ''), 'no version')
                || CASE WHEN systems_differ THEN '@' || system ELSE '' END
        END AS TEXT
    ) AS name,
    NULLIF(version, '') AS version,
    system,
    tester
FROM compared
