"""Turns from an existing PostgreSQL database with the document's tables, and metrics written back into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.assistant.database import FIVE, REPLY, SESSION_QUERY, SHORT, rate, row, run
from turnwise.assistant import evaluate
from turnwise.assistant.database_rows import DatabaseRows
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.postgres import without_password
from turnwise.assistant.profile import built_in
from turnwise.assistant.records import Chunk, Turn
from turnwise.assistant.write_back import check_writable, write_metrics, write_turn_metrics
from turnwise.kernel.errors import InputError, StoreError, TurnwiseError, UsageError
from turnwise.store.run import Run
from turnwise.store.store import Store

TABLES = """
CREATE TABLE prompt_tuning_sessions (
  id TEXT PRIMARY KEY, master_prompt_version TEXT, tester_name TEXT, created_at TIMESTAMPTZ DEFAULT now());
CREATE TABLE tuning_conversation_turns (
  id SERIAL PRIMARY KEY, session_id TEXT REFERENCES prompt_tuning_sessions, turn_number INTEGER,
  user_message TEXT, era_response TEXT, improvement_notes TEXT, category TEXT,
  processing_time_ms NUMERIC, search_context JSONB, is_first_response BOOLEAN, site VARCHAR(20),
  embedding_cache BYTEA, created_at TIMESTAMP);
ALTER TABLE tuning_conversation_turns
ADD COLUMN metrics JSONB DEFAULT '{}'::jsonb;
"""
"""The document's tables; the last statement is its own."""


def turn(session: str, number: int, reply: str | None = REPLY, metrics: str = "{}") -> str:
    said = "NULL" if reply is None else f"$${reply}$$"
    return (
        "INSERT INTO tuning_conversation_turns (session_id, turn_number, user_message, era_response, metrics,"
        f" is_first_response) VALUES ('{session}', {number}, 'What now?', {said}, '{metrics}', false);"
    )


SESSIONS = (
    "INSERT INTO prompt_tuning_sessions VALUES ('abc-123', 'fc26922', 'HR partner'), ('def-456', 'ee59fe5', NULL);"
)


@pytest.fixture
def own(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the application whose database it is."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def era(own: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The same, with two turns of one session and one of another."""
    own.execute(TABLES + SESSIONS + turn("abc-123", 1) + turn("abc-123", 2, SHORT) + turn("def-456", 1))
    return own


def turns(address: str, version: str = "") -> list[Turn]:
    source = AssistantSource(DatabaseRows(address), built_in("hr"), version)
    return [one for batch in source.batches() for one in batch.turns]


def metrics(connection: psycopg.Connection[Any]) -> list[Any]:
    return [one for (one,) in connection.execute("SELECT metrics FROM tuning_conversation_turns ORDER BY id")]


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


# --- writing back -------------------------------------------------------------------------------------------


def kept_run(postgres_url: str, db: str, **options: Any) -> tuple[Store, Run]:
    kept = run(postgres_url, db, **options)
    store = Store(db)
    return store, store.run(kept.id)


def test_metrics_are_written_only_when_asked(era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str) -> None:
    """Objective 3/5, 1/5, 3/5; the first turn is rated 23/25: 0.4 * 0.6 + 0.6 * 0.92 = 0.792."""
    store, kept = kept_run(postgres_url, sqlite_path)
    assert metrics(era) == [{}, {}, {}]
    rate(store, kept, "abc-123#1", FIVE)
    written = write_metrics(store, kept, postgres_url)
    assert (written.turns, written.absent, written.changed, written.odd) == (3, 0, 0, 0)
    first, second, third = metrics(era)
    assert first["overall_quality_score"] == pytest.approx(0.792)
    assert (first["has_policy_citation"], first["citation_accuracy"], first["empathy_score"]) == (True, None, 5)
    assert second["objective_quality_score"] == pytest.approx(0.2)
    assert not {"subjective_quality_score", "overall_quality_score", "empathy_score"} & set(second)
    assert third["objective_quality_score"] == pytest.approx(0.6)
    (found,) = era.execute(SESSION_QUERY).fetchall()  # the document's query, on the application's own tables
    assert found == ("abc-123", "fc26922", pytest.approx(0.4), pytest.approx(0.92), pytest.approx(0.792), 2)
    store.close()


def test_other_keys_stay_and_ratings_that_are_there_count(
    era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str
) -> None:
    """The document's example has 4 and 5, which makes 0.9 and not 0.87: 0.4 * 0.6 + 0.6 * 0.9 = 0.78."""
    era.execute("UPDATE tuning_conversation_turns SET metrics = %s WHERE id = 1", [DOCUMENT])
    era.execute("""UPDATE tuning_conversation_turns SET metrics = '{"empathy_score": 7, "x": 1}' WHERE id = 2""")
    era.execute("UPDATE tuning_conversation_turns SET metrics = NULL WHERE id = 3")
    store, kept = kept_run(postgres_url, sqlite_path)
    write_metrics(store, kept, postgres_url)
    first, second, third = metrics(era)
    assert (first["professionalism_score"], first["empathy_score"]) == (4, 5)
    assert first["subjective_quality_score"] == pytest.approx(0.9)
    assert first["overall_quality_score"] == pytest.approx(0.78)
    assert first["reviewer"] == {"role": "HR"}
    assert era.execute("SELECT metrics->>'exact' FROM tuning_conversation_turns WHERE id = 1").fetchone() == (
        "0.12345678901234567890123",
    )
    assert (second["empathy_score"], second["x"]) == (7, 1)  # no rating, but not ours to change
    assert "subjective_quality_score" not in second
    assert third["objective_quality_score"] == pytest.approx(0.6)
    store.close()


DOCUMENT = (
    '{"has_policy_citation": false, "objective_quality_score": 0.85, "professionalism_score": 4, "empathy_score": 5,'
    ' "subjective_quality_score": 0.87, "overall_quality_score": 0.86, "reviewer": {"role": "HR"},'
    ' "exact": 0.12345678901234567890123}'
)


def test_only_what_was_measured_is_written(era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str) -> None:
    era.execute("UPDATE tuning_conversation_turns SET metrics = %s WHERE id = 1", [DOCUMENT])
    store, kept = kept_run(postgres_url, sqlite_path, metrics=["has_policy_citation"])
    write_metrics(store, kept, postgres_url)
    first, second, _ = metrics(era)
    assert (first["has_policy_citation"], first["overall_quality_score"]) == (True, 0.86)
    assert second == {"has_policy_citation": False}
    store.close()


def test_turns_that_changed_or_went_are_counted(
    era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str
) -> None:
    store, kept = kept_run(postgres_url, sqlite_path)
    era.execute(
        """
        UPDATE tuning_conversation_turns SET era_response = 'another' WHERE id = 1;
        UPDATE tuning_conversation_turns SET metrics = '[1]' WHERE id = 2;
        DELETE FROM tuning_conversation_turns WHERE id = 3;
        """
    )
    written = write_metrics(store, kept, postgres_url)
    assert (written.turns, written.absent, written.changed, written.odd) == (0, 1, 1, 1)
    assert "1 that have another reply by now" in written.message
    assert metrics(era) == [{}, [1]]
    era.execute("DELETE FROM tuning_conversation_turns")
    with pytest.raises(InputError, match="none of the turns"):
        write_metrics(store, kept, postgres_url)
    store.close()


def test_all_or_nothing(era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str) -> None:
    """The database refuses the second turn: the first stays as it was, too."""
    store, kept = kept_run(postgres_url, sqlite_path)
    era.execute("ALTER TABLE tuning_conversation_turns ADD CHECK (id <> 2 OR metrics = '{}'::jsonb)")
    with pytest.raises(StoreError, match="violates check constraint"):
        write_metrics(store, kept, postgres_url)
    assert metrics(era) == [{}, {}, {}]
    store.close()


def test_json_will_do(era: psycopg.Connection[Any], postgres_url: str, sqlite_path: str) -> None:
    era.execute("ALTER TABLE tuning_conversation_turns ALTER metrics DROP DEFAULT, ALTER metrics TYPE json")
    store, kept = kept_run(postgres_url, sqlite_path)
    assert write_metrics(store, kept, postgres_url).turns == 3
    assert metrics(era)[0]["has_policy_citation"] is True
    store.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ALTER TABLE tuning_conversation_turns DROP COLUMN metrics", "no column for metrics"),
        ("ALTER TABLE tuning_conversation_turns ALTER metrics DROP DEFAULT, ALTER metrics TYPE text", "no column for"),
        ("ALTER TABLE tuning_conversation_turns DROP COLUMN id", "has no key"),
        (
            "ALTER TABLE tuning_conversation_turns RENAME TO t; CREATE VIEW tuning_conversation_turns AS TABLE t",
            "is a view",
        ),
    ],
)
def test_what_cannot_be_written_into(
    era: psycopg.Connection[Any], postgres_url: str, change: str, message: str
) -> None:
    check_writable(postgres_url)
    era.execute(change)
    with pytest.raises(InputError, match=message):
        check_writable(postgres_url)


def test_one_turn_of_a_live_assistant(era: psycopg.Connection[Any], postgres_url: str) -> None:
    found = evaluate("What now?", REPLY, None, 900, False, embedding="none")
    assert write_turn_metrics(postgres_url, "abc-123", 1, found.rated(empathy=5)).turns == 1
    first, second, _ = metrics(era)
    assert (first["processing_time_acceptable"], first["empathy_score"]) == (True, 5)
    assert first["objective_quality_score"] == pytest.approx(4 / 6)  # the time counts, too
    assert first["overall_quality_score"] == pytest.approx(0.4 * 4 / 6 + 0.6)
    assert second == {}
    with pytest.raises(TurnwiseError, match="none of the turns"):
        write_turn_metrics(postgres_url, "abc-123", 9, found)


def test_a_database_that_is_the_store_as_well(era: psycopg.Connection[Any], postgres_url: str) -> None:
    """turnwise's tables beside the application's: no view is put over them, and the document's query runs."""
    store, kept = kept_run(postgres_url, postgres_url)
    write_metrics(store, kept, postgres_url)
    (found,) = era.execute(SESSION_QUERY).fetchall()
    assert found[2:] == (pytest.approx(0.4), None, None, 2)
    store.close()
