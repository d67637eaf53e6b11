-- The document's table of sessions, made of their turns.
CREATE VIEW prompt_tuning_sessions AS
SELECT
    n.name AS id,
    MIN(n.version) AS master_prompt_version,
    MIN(n.system) AS system,
    MIN(n.tester) AS tester,
    MIN(json_text(i.content, 'timestamp')) AS created_at,
    COUNT(*) AS total_turns
FROM assistant_turn_names n
JOIN items i ON i.run = n.run AND i.number = n.item
GROUP BY n.name
