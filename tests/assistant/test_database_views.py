"""The document's queries and tables as views of turnwise's own store, on PostgreSQL and on SQLite."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, text

from tests.assistant.database import FIVE, SESSION_QUERY, SHORT, VERSION_QUERY, for_sqlite, rate, row, run
from turnwise.assistant.outcomes import turn_outcomes
from turnwise.kernel.jsontext import loads
from turnwise.store.connect import connect
from turnwise.store.run import INTERRUPTED
from turnwise.store.schema import HEAD
from turnwise.store.store import Store
from turnwise.store.upgrade import upgrade_database
from turnwise.store.views import DOCUMENT, OWN, drop_views

EXAMPLES = Path(__file__).parents[2] / "examples" / "assistant"


def ask(store: Store, query: str) -> list[dict[str, Any]]:
    with store.reading() as connection:
        return [dict(one) for one in connection.exec_driver_sql(query).mappings()]


def document(store: Store, query: str) -> list[dict[str, Any]]:
    """One of the document's queries: as it is printed on PostgreSQL, in SQLite's words there."""
    return ask(store, query if store.engine.dialect.name == "postgresql" else for_sqlite(query))


def metrics(store: Store, view: str = DOCUMENT[0], condition: str = "") -> dict[str, dict[str, Any]]:
    found = ask(store, f"SELECT * FROM {view} {condition}")
    values = {one["id"] if "id" in one else f"{one['run_id']} {one['item']}": one["metrics"] for one in found}
    return {name: loads(value) if isinstance(value, str) else value for name, value in values.items()}


# --- the document's queries ---------------------------------------------------------------------------------


def test_both_queries_of_the_document(db: str) -> None:
    """abc-123: objective (3/5 + 1/5) / 2; one turn is rated 23/25 = 0.92: 0.4 * 0.6 + 0.6 * 0.92 = 0.792.

    Of ee59fe5 one turn of two is rated, empathy 5 alone: 0.4 * 0.6 + 0.6 * 1 = 0.84.
    """
    kept = run(
        [
            row("abc-123", 1, version="fc26922"),
            row("abc-123", 2, SHORT, version="fc26922"),
            row("def-456", 1, version="ee59fe5"),
            row("def-456", 2, SHORT, version="ee59fe5"),
            row("ghi-789", 1, version="0000000"),
        ],
        db,
    )
    store = Store(db)
    (before,) = document(store, SESSION_QUERY)
    assert before["avg_objective_quality"] == pytest.approx(0.4)
    assert (before["avg_subjective_quality"], before["avg_overall_quality"]) == (None, None)
    rate(store, kept, "abc-123#1", FIVE)
    rate(store, kept, "def-456#1", {"empathy": 5})
    (found,) = document(store, SESSION_QUERY)
    assert found == {
        "session_id": "abc-123",
        "master_prompt_version": "fc26922",
        "avg_objective_quality": pytest.approx(0.4),
        "avg_subjective_quality": pytest.approx(0.92),
        "avg_overall_quality": pytest.approx(0.792),
        "total_turns": 2,
    }
    versions = {one["master_prompt_version"]: one for one in document(store, VERSION_QUERY)}
    assert versions == {
        "fc26922": {"master_prompt_version": "fc26922", "avg_quality": pytest.approx(0.792), "sample_size": 2},
        "ee59fe5": {"master_prompt_version": "ee59fe5", "avg_quality": pytest.approx(0.84), "sample_size": 2},
    }
    store.close()


# --- what a turn looks like ---------------------------------------------------------------------------------


def test_a_turn_in_the_document_s_shape(db: str) -> None:
    """True and false, null where nothing applies, ratings where there are any; raters are averaged: (4 + 5) / 2."""
    kept = run([row("s", 1, version="v", chunks=[], tester="HR partner", timestamp="2025-10-24 10:00:00")], db)
    store = Store(db)
    rate(store, kept, "s#1", {"empathy": 4, "clarity": 3})
    rate(store, kept, "s#1", {"empathy": 5}, rater="site lead")
    assert metrics(store) == {
        "s#1": {
            "has_policy_citation": True,
            "appropriate_action_suggested": True,
            "response_structure_complete": False,
            "citation_accuracy": None,
            "response_length_appropriate": False,
            "asks_clarifying_questions": None,
            "sequential_action_correct": True,
            "rag_similarity_score": None,
            "processing_time_acceptable": None,
            "empathy_score": 4.5,
            "clarity_score": 3,
            "objective_quality_score": pytest.approx(0.6),
            "subjective_quality_score": pytest.approx((4.5 + 3) / 2 / 5),
            "overall_quality_score": pytest.approx(0.4 * 0.6 + 0.6 * 0.75),
        }
    }
    (turn,) = ask(store, "SELECT * FROM tuning_conversation_turns")
    assert (turn["session_id"], turn["turn_number"], turn["user_message"]) == ("s", 1, "What now?")
    assert (turn["created_at"], turn["tester"], turn["run_id"]) == ("2025-10-24 10:00:00", "HR partner", kept.id)
    assert ask(store, "SELECT * FROM prompt_tuning_sessions") == [
        {
            "id": "s",
            "master_prompt_version": "v",
            "system": "system",
            "tester": "HR partner",
            "created_at": "2025-10-24 10:00:00",
            "total_turns": 1,
        }
    ]
    store.close()


WEIGHTS = """
weights: {objective: {rag_similarity_score: 0.5}, overall: {objective: 0.25, subjective: 0.75}}
scenarios:
  attendance: {weights: {objective: {has_policy_citation: 3, citation_accuracy: 0}, subjective: {empathy: 2}}}
"""


@pytest.mark.parametrize("patterns", ["", WEIGHTS], ids=["equal weights", "weights by scenario"])
def test_sql_and_python_agree_on_every_turn_of_the_example(db: str, tmp_path: Path, patterns: str) -> None:
    path = None
    if patterns:
        path = tmp_path / "own.yaml"
        path.write_text(patterns, encoding="utf-8")
    kept = run(EXAMPLES / "turns.jsonl", db, patterns=path, baselines=True)
    store = Store(db)
    for number, one in enumerate(turn_outcomes(store, kept)):
        if number % 3:
            rate(store, kept, one.id, {"empathy": 1 + number % 5, "compliance": 1 + number % 4})
    expected = {one.id: one.metrics() for one in turn_outcomes(store, kept)}
    found = metrics(store)
    assert len(found) == 60
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, abs=1e-12), name
    store.close()


def test_weights_by_scenario(db: str, tmp_path: Path) -> None:
    """In attendance a citation counts 3: (3 + 1 + 0 + 0 + 1) / 7; elsewhere 3 / 5."""
    path = tmp_path / "own.yaml"
    path.write_text(
        "scenarios: {Attendance: {weights: {objective: {has_policy_citation: 3}}}, "
        "Straße: {weights: {objective: {has_policy_citation: 2}}}}\n",
        encoding="utf-8",
    )
    names = ("ATTENDANCE\t", "pay", "", "STRASSE", "Straße")
    run([row("s", turn, scenario=name) for turn, name in enumerate(names, 1)], db, patterns=path)
    store = Store(db)
    found = [metrics(store)[f"s#{turn}"].get("objective_quality_score") for turn in range(1, 6)]
    assert found[:4] == pytest.approx([5 / 7, 3 / 5, 3 / 5, (2 + 1 + 1) / 6])
    assert found[4] is None  # to a database, the scenario is not "strasse": no number rather than a wrong one
    store.close()


def test_turns_without_any_value_are_there(db: str) -> None:
    run([row("s", 1, None), row("s", 2)], db, metrics=["has_policy_citation"])
    store = Store(db)
    found = metrics(store)
    assert set(found["s#1"].values()) == {None}
    assert found["s#2"]["has_policy_citation"] is True
    assert found["s#2"]["response_length_appropriate"] is None
    store.close()


# --- which turns are there ----------------------------------------------------------------------------------


def test_a_turn_that_was_evaluated_twice_counts_once(db: str) -> None:
    """The newest finished run says how it was measured; turns that only an older one has stay."""
    first = run([row("s", 1), row("s", 2)], db)
    second = run([row("s", 2, SHORT)], db)
    store = Store(db)
    turns = {one["id"]: one["run_id"] for one in ask(store, "SELECT * FROM tuning_conversation_turns")}
    assert turns == {"s#1": first.id, "s#2": second.id}
    assert metrics(store)["s#2"]["objective_quality_score"] == pytest.approx(0.2)
    assert len(metrics(store, OWN[0])) == 3
    store.end(store.reopen(store.run(second.id)), INTERRUPTED)
    turns = {one["id"]: one["run_id"] for one in ask(store, "SELECT * FROM tuning_conversation_turns")}
    assert turns == {"s#1": first.id, "s#2": first.id}
    store.close()


def test_sessions_that_two_versions_share_are_told_apart(db: str) -> None:
    """The same test conversations under two prompts: neither is lost, and neither is joined to the other."""
    run([row("abc-123", turn, SHORT, version="fc26922") for turn in (1, 2)], db)
    last = run([row("abc-123", 1, version="ee59fe5")], db)
    store = Store(db)
    rate(store, last, "abc-123#1", {"empathy": 5})
    (found,) = document(store, SESSION_QUERY)
    assert (found["master_prompt_version"], found["total_turns"]) == ("ee59fe5", 1)
    versions = {one["master_prompt_version"]: one for one in document(store, VERSION_QUERY)}
    assert {name: one["sample_size"] for name, one in versions.items()} == {"fc26922": 2, "ee59fe5": 1}
    assert versions["ee59fe5"]["avg_quality"] == pytest.approx(0.84)
    assert versions["fc26922"]["avg_quality"] is None
    sessions = {one["id"]: one["total_turns"] for one in ask(store, "SELECT * FROM prompt_tuning_sessions")}
    assert sessions == {"abc-123": 1, "abc-123@fc26922": 2}
    store.close()


def test_sessions_that_two_systems_share_are_told_apart(db: str) -> None:
    for system in ("a", "b", "c"):
        run([row("s", 1)], db, system=system)
    store = Store(db)
    found = {one["id"]: one["system"] for one in ask(store, "SELECT * FROM prompt_tuning_sessions")}
    assert found == {"s": "c", "s@no version@a": "a", "s@no version@b": "b"}
    store.close()


def test_runs_of_other_rooms_are_not_there(store: Store, begin_run: Any, make_batch: Any) -> None:
    store.write_batch(begin_run(store), make_batch(0, [0.5]))
    assert ask(store, f"SELECT * FROM {OWN[0]}") == []


# --- names that are taken ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["TABLE {} (id INTEGER)", "VIEW {} AS SELECT 7 AS id"], ids=["table", "view"])
@pytest.mark.parametrize("taken", DOCUMENT)
@pytest.mark.parametrize("way", ["new", "upgraded"])
def test_what_an_application_has_under_these_names_is_left_alone(db: str, kind: str, taken: str, way: str) -> None:
    engine = connect(db, check=False)
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        connection.execute(text(f"CREATE {kind.format(taken)}"))
    if way == "upgraded":
        upgrade_database(db)
    Store(db).close()
    look = inspect(engine)
    made = {*look.get_view_names(), *look.get_table_names()} & {*OWN, *DOCUMENT}
    assert made == {*OWN, taken}
    assert [one["name"] for one in look.get_columns(taken)] == ["id"]
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        drop_views(connection)
    assert inspect(engine).has_table(taken)
    assert not inspect(engine).has_table(OWN[0])
    engine.dispose()


def test_a_database_of_the_first_version_gets_the_views(db: str) -> None:
    engine = connect(db, check=False)
    config = Config()
    config.set_main_option("script_location", str(resources.files("turnwise.store") / "migrations"))
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    assert inspect(engine).get_view_names() == []
    assert upgrade_database(db)[:2] == ("0001", HEAD)
    assert set(inspect(engine).get_view_names()) == {*OWN, *DOCUMENT}
    engine.dispose()
    run([row("s", 1)], db)
    store = Store(db)
    assert metrics(store)["s#1"]["objective_quality_score"] == pytest.approx(0.6)
    store.close()
