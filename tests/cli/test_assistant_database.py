"""`turnwise run assistant postgresql://...`, with `--write-metrics` and without; `turnwise export --format era-csv`."""

from __future__ import annotations

import csv
from pathlib import Path

import psycopg
import pytest

from tests.assistant.database import SESSIONS, SHORT, TABLES, turn
from tests.cli.conftest import ROOT, Cli

TURNS = ROOT / "examples" / "assistant" / "turns.jsonl"


@pytest.fixture
def era_url(postgres_url: str) -> str:
    """The database of an application, with three turns."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(TABLES + SESSIONS + turn("abc-123", 1) + turn("abc-123", 2, SHORT) + turn("def-456", 1))
    return postgres_url


def qualities(address: str) -> list[float | None]:
    with psycopg.connect(address) as connection:
        query = "SELECT (metrics->>'objective_quality_score')::float FROM tuning_conversation_turns ORDER BY id"
        return [value for (value,) in connection.execute(query)]


def test_a_database_is_read_and_left_as_it_is(cli: Cli, era_url: str, tmp_path: Path) -> None:
    found = cli("run", "assistant", era_url, "--embedding", "none", "--by", "version", "--db", tmp_path / "runs.sqlite")
    assert "coverage: 3 of 3 turns" in found.err
    assert "tuning_conversation_turns.era_response (response)" in found.err
    assert "ee59fe5" in found.out
    assert qualities(era_url) == [None, None, None]


def test_a_database_in_a_suite_file(cli: Cli, era_url: str, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"runs: [{{room: assistant, turns: '{era_url}', embedding: none}}]\n", encoding="utf-8")
    assert "coverage: 3 of 3 turns" in cli("run", suite, "--db", tmp_path / "runs.sqlite").err


def test_metrics_are_written_back_when_asked(cli: Cli, era_url: str, tmp_path: Path) -> None:
    """3/5, 1/5 and 3/5, as the replies were made."""
    db = tmp_path / "runs.sqlite"
    options = ("--embedding", "none", "--write-metrics", "--db", db)
    cli("run", "assistant", era_url, *options, "--dry-run")
    assert qualities(era_url) == [None, None, None]
    found = cli("run", "assistant", era_url, *options)
    assert "wrote the metrics of 3 turns into tuning_conversation_turns" in found.err
    assert qualities(era_url) == pytest.approx([0.6, 0.2, 0.6])


def test_where_metrics_cannot_be_written_nothing_is_measured(cli: Cli, era_url: str, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    assert "from a database" in cli("run", "assistant", TURNS, "--write-metrics", "--db", db, code=2).err
    with psycopg.connect(era_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE tuning_conversation_turns DROP COLUMN metrics")
    found = cli("run", "assistant", era_url, "--write-metrics", "--db", db, code=2)
    assert "ADD COLUMN metrics JSONB" in found.err
    assert not db.exists()


def test_the_export_of_an_assistant(cli: Cli, tmp_path: Path) -> None:
    db, file, folder = tmp_path / "runs.sqlite", tmp_path / "turns.csv", tmp_path / "sessions"
    cli("run", "assistant", TURNS, "--embedding", "none", "--db", db)
    export = ("export", "latest", "--format", "era-csv", "--db", db)
    found = cli(*export)
    assert found.out.splitlines()[0] == (
        "Turn,User Message,ERA Response,Improvement Notes,Category,"
        "Objective Score,Subjective Score,Overall Score,Timestamp"
    )
    assert "20 sessions" in found.err
    cli(*export, "--out", file)
    assert file.read_text(encoding="utf-8") == found.out
    folder.mkdir()
    assert "20 files" in cli(*export, "--out", folder).err
    with (folder / "fc-no-show.csv").open(encoding="utf-8", newline="") as lines:
        assert [one["Turn"] for one in csv.DictReader(lines)] == ["1", "2", "3"]
    again = cli("run", "assistant", folder / "fc-no-show.csv", "--embedding", "none", "--db", db)
    assert "coverage: 3 of 3 turns" in again.err


def test_the_export_is_for_assistants(cli: Cli, kept: tuple[str, str]) -> None:
    db, run = kept
    assert "is a dialogue run" in cli("export", run, "--format", "era-csv", "--db", db, code=2).err
    assert "did you mean era-csv" in cli("export", run, "--format", "era_csv", "--db", db, code=2).err
