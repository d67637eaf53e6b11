-- The document's table of turns.
CREATE VIEW tuning_conversation_turns AS
SELECT
    n.name || '#' || t.turn_number AS id,
    n.name AS session_id,
    t.turn_number,
    t.user_message,
    t.era_response,
    t.improvement_notes,
    t.category,
    t.scenario,
    t.tester,
    t.search_context,
    t.processing_time_ms,
    t.is_first_response,
    t.metrics,
    t.created_at,
    n.version AS master_prompt_version,
    t.system,
    t.run_id
FROM assistant_turn_names n
JOIN assistant_turns t ON t.run = n.run AND t.item = n.item
