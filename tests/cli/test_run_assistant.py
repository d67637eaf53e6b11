"""`turnwise run assistant`: options, what it prints and writes, wrong usage, going on after an interruption."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Cli
from turnwise.assistant import load
from turnwise.assistant.metrics.has_policy_citation import HasPolicyCitation
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE
from turnwise.store.store import Store

EXAMPLES = ROOT / "examples" / "assistant"
TURNS = EXAMPLES / "turns.jsonl"
TURN = {"session_id": "s", "turn": 1, "query": "What now?", "response": "Wait."}


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    options = ("--by", "scenario", "--profile", "spec", "--out", tmp_path / "out", "--embedding", "none")
    found = cli("run", "assistant", TURNS, *options, "--json")
    summary = found.json()
    assert summary["run"]["profile"] == "spec"
    assert {one["metric"] for one in summary["results"]} >= {*OBJECTIVE, *COMPOSITES, "system_latency_ms"}
    signature = next(one["signature"] for one in summary["results"] if one["metric"] == "citation_accuracy")
    assert signature.startswith("assistant/citation_accuracy|v1|profile=spec|embedding=tfidf-char3|patterns=spec:")
    assert "objective_quality_score is the mean of" in found.err
    assert (tmp_path / "out" / "turns.csv").is_file()


def test_the_result_on_the_terminal(cli: Cli) -> None:
    found = cli(
        "run", "assistant", TURNS, "--by", "version", "--metrics", "has_policy_citation", "rag_similarity_score"
    )
    assert "fc26922" in found.out
    assert "rag_similarity_score" in found.out
    assert "citation_accuracy" not in found.out
    assert "coverage: 60 of 60 turns" in found.err


def test_a_version_fills_blanks_and_names_the_run(cli: Cli, tmp_path: Path) -> None:
    path, db = tmp_path / "turns.jsonl", tmp_path / "runs.sqlite"
    path.write_text(json.dumps(TURN) + "\n", encoding="utf-8")
    cli("run", "assistant", path, "--version", "fc26922", "--db", db)
    store = Store(str(db))
    assert store.run("latest").version == "fc26922"
    store.close()
    found = cli("run", "assistant", TURNS, "--version", "fc26922", "--db", db, code=2)
    assert "another version" in found.err
    assert "line 31" in found.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "option 'turns' is missing"),
        (["absent.jsonl"], "cannot be read"),
        ([TURNS, "--patterns", "absent.yaml"], "cannot be read"),
        ([TURNS, "--patterns", EXAMPLES / "club.yaml", "--profile", "spec"], "the document's patterns"),
        ([TURNS, "--embedding", "absent"], "is no model"),
        ([TURNS, "--by", "scenari"], "did you mean scenario"),
        ([TURNS, "--metrics", "empathy"], "did you mean empathy_score"),
        (["mysql://x/y"], "cannot be read from"),
    ],
)
def test_wrong_usage_is_named(cli: Cli, words: list[str | Path], message: str) -> None:
    assert message in cli("run", "assistant", *words, code=2).err


def test_a_dry_run_shows_what_applies(cli: Cli) -> None:
    found = cli("run", "assistant", TURNS, "--dry-run", "--embedding", "none")
    assert "citation_accuracy" in found.out
    assert "60/60" in found.out


def test_a_suite_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("length: {min_words: 1, max_words: 3}\n", encoding="utf-8")
    (tmp_path / "turns.jsonl").write_text(json.dumps(TURN) + "\n", encoding="utf-8")
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "runs: [{room: assistant, turns: turns.jsonl, patterns: own.yaml, version: v}]\n", encoding="utf-8"
    )
    cli("run", suite, "--db", tmp_path / "runs.sqlite")
    shown = cli("show", "latest", "--db", tmp_path / "runs.sqlite", "--json").json()
    assert {one["value"] for one in shown["results"] if one["metric"] == "response_length_appropriate"} == {1.0}


def test_an_interrupted_run_goes_on(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the third batch: the first two are kept, and the whole is what it would have been."""
    monkeypatch.setattr(load, "BATCH", 9)
    db, options = tmp_path / "runs.sqlite", (TURNS, "--embedding", "none", "--json", "--db")
    whole = cli("run", "assistant", *options, tmp_path / "other.sqlite").json()
    measure, calls = HasPolicyCitation.measure, []

    def interrupted(self: HasPolicyCitation, batch: object) -> object:
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(self, batch)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(HasPolicyCitation, "measure", interrupted)
        cli("run", "assistant", *options, db, code=1)
    store = Store(str(db))
    run = store.run("latest")
    assert (run.status, store.count_items(run)) == ("interrupted", 18)
    store.close()
    resumed = cli("run", "assistant", "--resume", run.id, "--db", db, "--json").json()
    assert [one["value"] for one in resumed["results"]] == [one["value"] for one in whole["results"]]
