"""Turns from an existing PostgreSQL database with the document's tables, and everything that can be wrong with it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.assistant.database import REPLY, SESSIONS, SHORT, TABLES, row, run, turn
from turnwise.assistant.database_rows import DatabaseRows
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.postgres import without_password
from turnwise.assistant.profile import built_in
from turnwise.assistant.records import Chunk, Turn
from turnwise.kernel.errors import InputError, StoreError, UsageError


def turns(address: str, version: str = "") -> list[Turn]:
    source = AssistantSource(DatabaseRows(address), built_in("hr"), version)
    return [one for batch in source.batches() for one in batch.turns]


# --- reading ------------------------------------------------------------------------------------------------


def test_every_column(own: psycopg.Connection[Any], postgres_url: str) -> None:
    own.execute(TABLES + SESSIONS)
    own.execute(
        "INSERT INTO tuning_conversation_turns VALUES (7, 'abc-123', 2, 'q', 'r', 'n', 'tone', 1200,"
        """ '{"results": [{"title": "A", "chunk_text": "t", "similarity": 0.5}]}', true, 'north', NULL,"""
        " '2025-10-24 10:00:00')"
    )
    assert turns(postgres_url) == [
        Turn(
            session_id="abc-123",
            turn=2,
            version="fc26922",
            tester="HR partner",
            query="q",
            response="r",
            chunks=(Chunk("t", "A", 0.5),),
            processing_time_ms=1200,
            is_first_response=True,
            improvement_notes="n",
            category="tone",
            timestamp="2025-10-24 10:00:00",
            metadata={"site": "north"},
        )
    ]


def test_what_was_found_is_said(era: psycopg.Connection[Any], postgres_url: str) -> None:
    read, others = (finding.message for finding in DatabaseRows(postgres_url).findings)
    assert "tuning_conversation_turns.era_response (response)" in read
    assert "prompt_tuning_sessions.master_prompt_version (version)" in read
    assert "prompt_tuning_sessions.tester_name (tester)" in read
    assert others == "columns that are not read: embedding_cache"


OTHER_NAMES = """
CREATE TABLE prompt_tuning_sessions (session_id UUID, prompt_version TEXT);
CREATE TABLE tuning_conversation_turns (
  tuning_session_id UUID, user_query TEXT, "Hal_Response" TEXT, notes TEXT, chunks TEXT, "timestamp" TIMESTAMPTZ);
INSERT INTO prompt_tuning_sessions VALUES ('6f1c0c1e-0000-4000-8000-000000000001', 'v');
INSERT INTO tuning_conversation_turns VALUES
  ('6f1c0c1e-0000-4000-8000-000000000001', 'later', 'b', '', '', '2025-10-24 11:00:00+00'),
  ('6f1c0c1e-0000-4000-8000-000000000001', 'sooner', 'a', 'n', '[{"text": "t"}]', '2025-10-24 10:00:00+00'),
  ('6f1c0c1e-0000-4000-8000-000000000002', 'elsewhere', NULL, NULL, NULL, '2025-10-24 09:00:00+00');
"""


def test_other_names_no_numbers_and_a_session_without_a_row(own: psycopg.Connection[Any], postgres_url: str) -> None:
    own.execute(OTHER_NAMES)
    first, second, other = turns(postgres_url)
    assert (first.query, first.turn, first.response, first.version) == ("sooner", 1, "a", "v")
    assert first.chunks == (Chunk("t"),)
    assert (second.query, second.turn, second.chunks) == ("later", 2, None)
    assert (other.response, other.version, other.turn) == (None, "", 1)
    assert any("numbered by timestamp" in finding.message for finding in DatabaseRows(postgres_url).findings)


def test_what_is_read_stays_as_it_was(era: psycopg.Connection[Any], postgres_url: str) -> None:
    """Others go on writing while a run measures."""
    source = AssistantSource(DatabaseRows(postgres_url), built_in("hr"))
    era.execute("UPDATE tuning_conversation_turns SET era_response = 'changed'")
    assert [one.response for batch in source.batches() for one in batch.turns] == [REPLY, SHORT, REPLY]


def test_nothing_can_be_written_while_reading(era: psycopg.Connection[Any], postgres_url: str) -> None:
    """A view that writes when it is read is refused by the server."""
    era.execute(
        """
        ALTER TABLE tuning_conversation_turns RENAME TO real_turns;
        CREATE FUNCTION sly() RETURNS TEXT LANGUAGE sql AS $$ DELETE FROM real_turns; SELECT 'gone' $$;
        CREATE VIEW tuning_conversation_turns AS
          SELECT id, session_id, turn_number, sly() AS era_response FROM real_turns;
        """
    )
    with pytest.raises(StoreError, match="read-only transaction"):
        turns(postgres_url)
    assert era.execute("SELECT COUNT(*) FROM real_turns").fetchone() == (3,)


def test_turnwise_s_own_views_are_a_source(postgres_url: str) -> None:
    """What was kept can be read again, with another version of turnwise or another profile."""
    given = [
        row("abc-123", 1, version="v", scenario="pay", chunks=[{"text": "t", "similarity": 0.5}]),
        row("abc-123", 2, None, version="v", improvement_notes="n", category="tone", processing_time_ms=7.5),
    ]
    run(given, postgres_url)
    found = turns(postgres_url)
    assert [one.content() for one in found] == [{**one, "system": "system"} for one in expected(given)]


def expected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if value is not None} for one in rows]


# --- what cannot be read ------------------------------------------------------------------------------------


def test_a_database_without_the_tables(own: psycopg.Connection[Any], postgres_url: str) -> None:
    own.execute("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(InputError, match="no table tuning_conversation_turns") as error:
        DatabaseRows(postgres_url)
    assert error.value.found == "orders"


@pytest.mark.parametrize("missing", ["session_id", "turn_number", "era_response"])
def test_a_table_without_a_column(own: psycopg.Connection[Any], postgres_url: str, missing: str) -> None:
    own.execute(TABLES)
    own.execute(f"ALTER TABLE tuning_conversation_turns DROP COLUMN {missing}, DROP COLUMN created_at")
    with pytest.raises(InputError, match="no column of tuning_conversation_turns") as error:
        DatabaseRows(postgres_url)
    assert missing in str(error.value.expected)


def test_a_mistake_is_named_with_its_row(era: psycopg.Connection[Any], postgres_url: str) -> None:
    era.execute(turn("abc-123", 2))
    with pytest.raises(InputError, match="two turns number 2") as error:
        turns(postgres_url)
    assert "tuning_conversation_turns, id 4" in error.value.message
    assert "tuning_conversation_turns, id 2" in error.value.message


def test_what_was_retrieved_is_no_json(own: psycopg.Connection[Any], postgres_url: str) -> None:
    own.execute(OTHER_NAMES + "UPDATE tuning_conversation_turns SET chunks = 'A, B'")
    with pytest.raises(InputError, match="not JSON"):
        turns(postgres_url)


def test_an_empty_table(own: psycopg.Connection[Any], postgres_url: str) -> None:
    own.execute(TABLES)
    with pytest.raises(InputError, match="no turn"):
        turns(postgres_url)


def test_addresses_that_lead_nowhere(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="the database refuses") as error:
        DatabaseRows(postgres_url.replace("postgres:", "nobody:s3cret"))
    assert "s3cret" not in error.value.message
    with pytest.raises(UsageError, match="not the address") as wrong:
        DatabaseRows("postgresql://ann:s3cret@host:port/db")
    assert "s3cret" not in wrong.value.message


# --- passwords ----------------------------------------------------------------------------------------------


def test_a_password_is_not_kept(era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str) -> None:
    assert without_password("postgresql://ann:s3cret@host:5433/db?password=x&sslmode=require") == (
        "postgresql://ann@host:5433/db?sslmode=require"
    )
    kept = run(with_password(postgres_url), sqlite_path)
    assert "s3cret" not in str(kept)
    assert kept.config["turns"].startswith("postgresql://")


def with_password(address: str) -> str:
    """The server of the tests trusts everybody, whatever the password."""
    return address.replace("postgres:", "postgres:s3cret", 1)
