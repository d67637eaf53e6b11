"""Several raters at once, and `turnwise rate RUN` turn by turn where there is no terminal."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.assistant.rating_runs import SCALES, document_turn, kept_ratings, kept_run
from tests.cli.conftest import PROGRAM
from turnwise.assistant import commands
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


# --- several raters at once -----------------------------------------------------------------------------------


def test_two_raters_at_once_on_one_file(rateable: Kept) -> None:
    """Two programs, each rating every turn several times: nothing is lost, and the last word of each stands."""
    db, run = rateable
    script = f"""
import sys
from turnwise.assistant.commands import handle
from turnwise.store.store import Store
store = Store({db!r})
for score in (1, 2, 3, 4, 5):
    for turn in ("s#1", "s#2", "t#1"):
        assert handle(f"!score empathy:{{score}} clarity:{{score}}", store, {run!r}, rater=sys.argv[1], turn=turn)
"""
    python = str(PROGRAM.with_name("python"))
    started = [
        subprocess.Popen([python, "-c", script, rater], stderr=subprocess.PIPE, text=True) for rater in ("one", "two")
    ]
    for process in started:
        _, err = process.communicate(timeout=180)
        assert process.returncode == 0, err
    expected = {(t, s, r): 5.0 for t in ("s#1", "s#2", "t#1") for s in ("empathy", "clarity") for r in ("one", "two")}
    assert ratings(rateable) == expected
    store = Store(db)
    assert len(store.history(store.run(run))) == 2 * 4 * 3 * 2  # raters, replaced scores, turns, scales
    store.close()


def test_one_rater_in_two_windows(rateable: Kept) -> None:
    """Whoever comes last stands, the other is in the history; a reader never sees half of a command."""
    db, run = rateable

    def rate(score: int) -> str | None:
        store = Store(db)
        try:
            words = " ".join(f"{scale}:{score}" for scale in SCALES)
            return commands.handle(f"!score {words}", store, run, rater="one", turn="s#1")
        finally:
            store.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(rate, [1, 2, 3, 4, 5] * 2))
    assert all(answers)
    assert len(set(ratings(rateable).values())) == 1
    store = Store(db)
    assert len(store.history(store.run(run))) == 9 * 5
    store.close()


# --- turn by turn without a terminal --------------------------------------------------------------------------


def test_lines_where_there_is_no_terminal(rateable: Kept) -> None:
    """Five answers on one line, an answer that is none, undo, skip, words, and the end of the input."""
    db, run = rateable
    typed = "4 5 5 4 5\n6\n10\n3\nundo\n2\nskip\n\n1\n"
    # In the order of the data, because it may show the version: s#1, s#2, t#1.
    options = ["--db", db, "--rater", "one", "--show-version"]
    done = subprocess.run(
        [PROGRAM, "rate", run, *options], input=typed, capture_output=True, text=True, timeout=180, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert "'6' is none of the keys" in done.stdout
    assert "'10' is none of the keys" in done.stdout
    assert "turn s#1, version a" in done.stdout
    assert "7 ratings by one kept; 2 turns left to rate" in done.stderr
    found = {key[:2]: value for key, value in ratings(rateable).items() if value is not None}
    assert found == {
        ("s#1", "professionalism"): 4.0,
        ("s#1", "empathy"): 5.0,
        ("s#1", "clarity"): 5.0,
        ("s#1", "actionability"): 4.0,
        ("s#1", "compliance"): 5.0,
        ("s#2", "professionalism"): 2.0,
        ("t#1", "professionalism"): 1.0,
    }


def test_one_turn_again(rateable: Kept) -> None:
    db, run = rateable
    command = [PROGRAM, "rate", run, "--turn", "s#2", "--db", db, "--rater", "one"]
    for typed in ("1 1 1 1 1", "2 2 2 2 2"):
        subprocess.run(command, input=typed, capture_output=True, text=True, timeout=180, check=True)
    assert ratings(rateable) == {("s#2", scale, "one"): 2.0 for scale in SCALES}


def test_nothing_is_left_to_rate(rateable: Kept) -> None:
    db, run = rateable
    command = [PROGRAM, "rate", run, "--db", db, "--rater", "one"]
    subprocess.run(command, input="3 " * 15, capture_output=True, text=True, timeout=180, check=True)
    done = subprocess.run(command, input="3", capture_output=True, text=True, timeout=180, check=True)
    assert "one has rated every turn" in done.stderr
    assert done.stdout == ""


def test_a_reply_cannot_play_with_the_terminal(sqlite_path: str) -> None:
    run = kept_run(sqlite_path, [document_turn(response="\x1b[2Jgone\r\n" + "long " * 60, query=None)])
    done = subprocess.run(
        [PROGRAM, "rate", run, "--db", sqlite_path], input="q", capture_output=True, text=True, timeout=180, check=True
    )
    assert "\x1b" not in done.stdout
    assert "\N{REPLACEMENT CHARACTER}[2Jgone" in done.stdout
    assert "not recorded" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
