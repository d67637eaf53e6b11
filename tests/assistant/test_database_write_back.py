"""Metrics written back into the `metrics` column of an existing database."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.assistant.database import FIVE, REPLY, SESSION_QUERY, rate, run
from turnwise.assistant import evaluate
from turnwise.assistant.write_back import check_writable, write_metrics, write_turn_metrics
from turnwise.kernel.errors import InputError, StoreError, TurnwiseError
from turnwise.store.run import Run
from turnwise.store.store import Store


def metrics(connection: psycopg.Connection[Any]) -> list[Any]:
    return [one for (one,) in connection.execute("SELECT metrics FROM tuning_conversation_turns ORDER BY id")]


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
