"""`turnwise rate`: the message, the history, agreement, what the run shows afterwards, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assistant.rating_runs import CONFIRMATION, DOCUMENT, SCALES, document_turn, kept_ratings, kept_run
from tests.cli.conftest import Cli
from turnwise.store.store import Store

Kept = tuple[str, str]


@pytest.fixture
def rateable(sqlite_path: str) -> Kept:
    """A database and a run: two turns of version a in one session, one of version b in another."""
    rows = [
        document_turn("s", 1, version="a"),
        document_turn("s", 2, version="a"),
        document_turn("t", 1, version="b"),
    ]
    return sqlite_path, kept_run(sqlite_path, rows)


def ratings(kept: Kept) -> dict[tuple[str, str, str], float | None]:
    store = Store(kept[0])
    found = kept_ratings(store, kept[1])
    store.close()
    return found


# --- the message ----------------------------------------------------------------------------------------------


def test_the_documents_command_prints_its_confirmation(cli: Cli, rateable: Kept) -> None:
    db, run = rateable
    found = cli("rate", run, DOCUMENT, "--db", db, "--rater", "HR partner")
    assert found.out == f"{CONFIRMATION}\n"
    assert "turn t#1" in found.err
    assert set(ratings(rateable)) == {("t#1", scale, "HR partner") for scale in SCALES}


def test_a_named_turn_partial_ratings_and_the_users_own_name(
    cli: Cli, rateable: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objective 0.85; 4 alone is 0.80: 0.34 + 0.48 = 0.82."""
    monkeypatch.setenv("LOGNAME", "partner")
    db, run = rateable
    found = cli("rate", run, "--turn", "s#1", "!score", "empathy:4", "--db", db)
    assert found.out.splitlines()[2:] == [
        "Objective Quality: 0.85",
        "Subjective Quality: 0.80",
        "Overall Quality: 0.82",
    ]
    assert ratings(rateable) == {("s#1", "empathy", "partner"): 4.0}


def test_json(cli: Cli, rateable: Kept) -> None:
    db, run = rateable
    found = cli("rate", run[:12], DOCUMENT, "--db", db, "--rater", "HR partner", "--json").json()
    assert (found["run"], found["turn"], found["rater"]) == (run, "t#1", "HR partner")
    assert found["ratings"]["clarity"] == 5
    assert found["overall_quality_score"] == pytest.approx(0.892)
    assert found["band"] == "production_ready"


def test_the_program_itself(program: Cli, rateable: Kept) -> None:
    db, run = rateable
    assert program("rate", run, DOCUMENT, "--db", db).out == f"{CONFIRMATION}\n"


# --- what the run shows ---------------------------------------------------------------------------------------


def test_rollups_per_session_and_version_follow_the_ratings(cli: Cli, rateable: Kept) -> None:
    """Version a: s#1 has 4 and 5 (0.9), s#2 a 2 (0.4): subjective 0.65, overall 0.34 + 0.6 * 0.65 = 0.73; b: none."""
    db, run = rateable
    assert _value(cli, rateable, "subjective_quality_score") is None
    cli("rate", run, "--turn", "s#1", "!score empathy:4 clarity:5", "--db", db)
    cli("rate", run, "--turn", "s#2", "!score empathy:2", "--db", db)
    assert _value(cli, rateable, "subjective_quality_score", version="a") == pytest.approx(0.65)
    assert _value(cli, rateable, "overall_quality_score", version="a") == pytest.approx(0.73)
    assert _value(cli, rateable, "overall_quality_score", "--by", "session_id", session_id="s") == pytest.approx(0.73)
    assert _value(cli, rateable, "overall_quality_score", version="b") is None
    assert _value(cli, rateable, "empathy_score") == 3.0
    cli("rate", run, "--turn", "s#2", "!score empathy:5", "--db", db)
    assert _value(cli, rateable, "empathy_score") == 4.5
    shown = cli("show", run, "--db", db)
    assert "overall_quality_score" in shown.out
    item = cli("show", run, "--item", "s#1", "--db", db, "--json").json()
    assert {(one["source"], bool(one["rater"])) for one in item["scores"]} == {("code", False), ("human", True)}


def _value(cli: Cli, kept: Kept, metric: str, *options: str, **group: str) -> float | None:
    shown = cli("show", kept[1], "--db", kept[0], "--json", *options).json()
    found = [
        one["value"]
        for one in shown["results"]
        if (one["metric"], one["primary"], one["group"]) == (metric, True, group)
    ]
    assert len(found) == 1
    value: float | None = found[0]
    return value


def test_one_turn_is_shown_with_who_rated_it(cli: Cli, rateable: Kept) -> None:
    db, run = rateable
    cli("rate", run, "--turn", "s#1", "!score empathy:4", "--db", db, "--rater", "HR partner")
    assert "assistant/empathy_score by HR partner: 4.0000" in cli("show", run, "--item", "s#1", "--db", db).out


def test_ratings_of_a_run_that_measured_one_metric(cli: Cli, sqlite_path: str) -> None:
    """The similarity of 0.95 is all that is measured: 0.4 * 0.95 + 0.6 * 0.8 = 0.86."""
    run = kept_run(sqlite_path, [document_turn()], metrics=["rag_similarity_score"])
    found = cli("rate", run, "!score empathy:4", "--db", sqlite_path)
    assert found.out.splitlines()[2:] == [
        "Objective Quality: 0.95",
        "Subjective Quality: 0.80",
        "Overall Quality: 0.86",
    ]
    assert _value(cli, (sqlite_path, run), "empathy_score") == 4.0


# --- history and agreement ------------------------------------------------------------------------------------


def test_who_changed_what_when(cli: Cli, rateable: Kept) -> None:
    db, run = rateable
    for turn, rater, words in (("s#1", "one", "empathy:4"), ("s#1", "two", "empathy:2"), ("s#1", "one", "empathy:3")):
        cli("rate", run, "--turn", turn, f"!score {words}", "--db", db, "--rater", rater)
    cli("rate", run, "--turn", "s#2", "!score clarity:5", "--db", db, "--rater", "one")
    found = cli("rate", run, "--history", "--db", db, "--json").json()
    told = [(one["unit"], one["metric"], one["rater"], one["before"], one["after"], one["by"]) for one in found]
    empathy, clarity = "assistant/empathy_score", "assistant/clarity_score"
    assert told == [
        ("s#1", empathy, "one", None, 4.0, "one"),
        ("s#1", empathy, "two", None, 2.0, "two"),
        ("s#1", empathy, "one", 4.0, 3.0, "one"),
        ("s#2", clarity, "one", None, 5.0, "one"),
    ]
    assert [one["at"] for one in found] == sorted(one["at"] for one in found)
    table = cli("rate", run, "--history", "--turn", "s#1", "--rater", "one", "--db", db).out.splitlines()
    assert [line.split()[2:] for line in table[2:]] == [
        ["s#1", "empathy", "one", "–", "4", "one"],
        ["s#1", "empathy", "one", "4", "3", "one"],
    ]


def test_agreement(cli: Cli, rateable: Kept) -> None:
    """Empathy 1, 3, 5 against 1, 3, 4: the squares of the distances are 0 + 0 + 1 = 1.

    By chance, each of the first with each of the second: (0 + 4 + 9 + 4 + 0 + 1 + 16 + 4 + 1) / 3 = 13; 1 - 1 / 13.
    """
    db, run = rateable
    for turn, one, two in (("s#1", 1, 1), ("s#2", 3, 3), ("t#1", 5, 4)):
        cli("rate", run, "--turn", turn, f"!score empathy:{one}", "--db", db, "--rater", "one")
        cli("rate", run, "--turn", turn, f"!score empathy:{two}", "--db", db, "--rater", "two")
    found = {one["scale"]: one for one in cli("rate", run, "--agreement", "--db", db, "--json").json()["scales"]}
    assert tuple(found) == SCALES
    assert found["empathy"]["weighted_kappa"]["value"] == pytest.approx(1 - 1 / 13)
    assert found["empathy"]["weighted_kappa"]["low"] < 1 - 1 / 13 < found["empathy"]["weighted_kappa"]["high"]
    table = cli("rate", run, "--agreement", "--db", db).out
    line = next(line for line in table.splitlines() if line.startswith("empathy"))
    assert line.split()[:4] == ["empathy", "2", "3", "0.9231"]
    assert "missing (no item has two ratings): professionalism, clarity, actionability, compliance" in table


# --- wrong usage ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["!score empathy:6"], "empathy cannot be '6'"),
        (["!score empaty:4"], "did you mean empathy?"),
        (["!score"], "!score without a rating"),
        (["hello"], "this is not a command"),
        (["!score empathy:4", "--turn", "s#9"], "did you mean s#2 or s#1"),
        (["!score empathy:4", "--turn", "1"], "did you mean s#1 or t#1?"),
        (["--turn", "s#9"], "has no turn 's#9'"),
        (["--turn", "nonsense", "--history"], "turnwise export"),
        (["!score empathy:4", "--rater", ""], 'name the rater: --rater "HR partner"'),
        (["!score empathy:4", "--history"], "one at a time"),
        (["--agreement", "--turn", "s#1"], "leave out --turn"),
        (["--json"], "nothing to print as JSON"),
    ],
)
def test_mistakes_are_named_and_change_nothing(cli: Cli, rateable: Kept, words: list[str], said: str) -> None:
    db, run = rateable
    assert said in cli("rate", run, *words, "--db", db, code=2).err
    assert ratings(rateable) == {}


def test_a_run_of_another_room(cli: Cli, kept: tuple[str, str]) -> None:
    db, run = kept
    for words in (["!score empathy:4"], ["--history"], ["--agreement"], []):
        found = cli("rate", run, *words, "--db", db, code=2)
        assert "is of the room dialogue" in found.err
        assert "turnwise runs --room assistant" in found.err


def test_a_run_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    assert "no run is stored here yet" in cli("rate", "latest", "--db", tmp_path / "new.sqlite", code=2).err


def test_replies_that_were_not_recorded_cannot_be_rated(cli: Cli, sqlite_path: str) -> None:
    one = kept_run(sqlite_path, [document_turn(turn=1), document_turn(turn=2, response=None)])
    assert (
        "has no reply to rate" in cli("rate", one, "--turn", "s#2", "!score empathy:4", "--db", sqlite_path, code=2).err
    )
    none = kept_run(sqlite_path, [document_turn(response=None)])
    assert "no turn of run" in cli("rate", none, "!score empathy:4", "--db", sqlite_path, code=2).err


def test_a_rating_by_another_guide_is_not_mixed_in(cli: Cli, rateable: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    db, run = rateable
    from turnwise.assistant.metrics import ratings as module

    monkeypatch.setattr(module, "guide_digest", lambda name: "another")
    found = cli("rate", run, "!score empathy:4", "--db", db, code=2)
    assert "was measured in another way" in found.err
    assert ratings(rateable) == {}


def test_the_example_of_the_page(cli: Cli, sqlite_path: str) -> None:
    """The sixty turns of the examples, of two versions: a rating of each, and the version's average is that rating."""
    turns = Path(__file__).parents[2] / "examples" / "assistant" / "turns.jsonl"
    rows = [json.loads(line) for line in turns.read_text(encoding="utf-8").splitlines()]
    run = kept_run(sqlite_path, rows)
    for turn, score in (("fc-no-show#1", 2), ("ee-no-show#1", 5)):
        cli("rate", run, "--turn", turn, f"!score empathy:{score}", "--db", sqlite_path)
    assert _value(cli, (sqlite_path, run), "subjective_quality_score", version="fc26922") == pytest.approx(0.4)
    assert _value(cli, (sqlite_path, run), "subjective_quality_score", version="ee59fe5") == 1.0
