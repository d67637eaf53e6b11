"""`turnwise rate RUN` on a terminal: single keys, no echo, and a terminal that is left as it was found."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from tests.assistant.rating_runs import QUERY, SCALES, document_turn, kept_ratings, kept_run
from tests.cli.conftest import PROGRAM
from turnwise.store.store import Store

PATIENCE = 60
"""Seconds that a busy machine may take until something is on the screen."""


class Terminal:
    """A program with a pseudo-terminal of its own, whose screen can be waited for."""

    def __init__(self, *words: str) -> None:
        self.main, self.side = pty.openpty()
        self.before = termios.tcgetattr(self.side)
        self.screen = ""
        self._read = 0
        side = self.side
        self.process = subprocess.Popen(
            [PROGRAM, *words],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"},
            preexec_fn=lambda: os.login_tty(os.dup(side)),
        )

    def see(self, pattern: str) -> None:
        """Wait until something new is on the screen."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.compile(pattern).search(self.screen, self._read)) is None:
            assert time.monotonic() < deadline, f"no {pattern!r} in {self.screen[self._read :]!r}"
            if select.select([self.main], [], [], 0.2)[0]:
                self.screen += os.read(self.main, 65536).decode()
        self._read = found.end()

    def press(self, keys: str) -> None:
        """Press keys, without Enter."""
        os.write(self.main, keys.encode())

    def end(self) -> int:
        """Wait for the end; returns the exit code."""
        code = self.process.wait(PATIENCE)
        while select.select([self.main], [], [], 0)[0]:
            self.screen += os.read(self.main, 65536).decode()
        return code

    def restored(self) -> bool:
        """Whether the terminal has the settings that it had."""
        return termios.tcgetattr(self.side) == self.before

    def close(self) -> None:
        """End the program, if it still runs, and the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.side)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal() -> Iterator[Open]:
    opened: list[Terminal] = []

    def open_terminal(*words: str) -> Terminal:
        opened.append(Terminal(*words))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


@pytest.fixture
def rateable(sqlite_path: str) -> tuple[str, str]:
    """A database and a run of two turns of the version `fc26922`."""
    rows = [
        document_turn("fc", 1, version="fc26922", scenario="attendance"),
        document_turn("fc", 2, version="fc26922", query="And if nobody answers?"),
    ]
    return sqlite_path, kept_run(sqlite_path, rows)


def rated(kept: tuple[str, str]) -> dict[tuple[str, str], float]:
    store = Store(kept[0])
    found = kept_ratings(store, kept[1])
    store.close()
    return {key[:2]: value for key, value in found.items() if value is not None}


def prompt(scale: str) -> str:
    return rf"{scale} \[1-5, s skip turn, n cannot tell, u undo, q quit\]: "


def test_keys_undo_quit_and_going_on(terminal: Open, rateable: tuple[str, str]) -> None:
    db, run = rateable
    words = ("rate", run, "--db", db, "--rater", "HR partner")
    shown = terminal(*words)
    shown.see(r"1 of 2, scenario attendance")
    shown.see(re.escape(QUERY))
    shown.see(r"I understand, that is hard\.")
    shown.see(r"professionalism: How professional is the tone and language\?")
    shown.see(r"5  Exemplary: Polished")
    shown.see(prompt("professionalism"))
    assert not shown.restored()  # keys come one by one
    shown.press("4")
    shown.see("4 Professional")
    shown.see(prompt("empathy"))
    shown.press("2")
    shown.see(prompt("clarity"))
    shown.press("u")
    shown.see("undone")
    shown.see(prompt("empathy"))
    shown.press("5545")  # the rest of the turn at once
    shown.see(r"2 of 2")
    shown.see(re.escape("And if nobody answers?"))
    shown.see(prompt("professionalism"))
    shown.press("x")
    shown.see(r"'x' is none of the keys")
    shown.press("\x1b[A\x1bOP\x1b[1;5C3")  # an arrow, a function key and Ctrl with an arrow say nothing
    shown.see(prompt("empathy"))
    shown.press("Q")
    shown.see(r"6 ratings by HR partner kept; 1 turn left to rate")
    assert shown.end() == 0
    assert shown.restored()
    first = dict(zip(SCALES, (4, 5, 5, 4, 5), strict=True))
    assert rated(rateable) == {("fc#1", s): float(v) for s, v in first.items()} | {("fc#2", "professionalism"): 3.0}
    again = terminal(*words)
    again.see(re.escape("And if nobody answers?"))
    again.see(prompt("empathy"))
    assert "professionalism" not in again.screen
    again.press("1111")
    again.see("4 ratings by HR partner kept; 0 turns left to rate")
    assert again.end() == 0
    assert len(rated(rateable)) == 10


@pytest.mark.parametrize("show", [False, True])
def test_the_version_is_not_shown_unless_asked_for(terminal: Open, rateable: tuple[str, str], show: bool) -> None:
    db, run = rateable
    shown = terminal("rate", run, "--db", db, *(["--show-version"] if show else []))
    shown.see(prompt("professionalism"))
    shown.press("s")
    shown.see("skipped")
    shown.see(prompt("professionalism"))
    shown.press("n")
    shown.see("left out")
    shown.see(prompt("empathy"))
    shown.press("q")
    assert shown.end() == 0
    assert ("fc26922" in shown.screen) is show
    assert ("fc#1" in shown.screen) is show  # a session may be called like its version
    assert rated(rateable) == {}


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        (lambda shown: shown.press("\x03"), 128 + signal.SIGINT),  # Ctrl-C
        (lambda shown: shown.press("\x04"), 0),  # Ctrl-D
        (lambda shown: shown.process.send_signal(signal.SIGTERM), 128 + signal.SIGTERM),
    ],
)
def test_however_it_ends_nothing_is_lost(
    terminal: Open, rateable: tuple[str, str], leave: Callable[[Terminal], None], code: int
) -> None:
    shown = terminal("rate", rateable[1], "--db", rateable[0], "--rater", "HR partner")
    shown.see(prompt("professionalism"))
    shown.press("4")
    shown.see(prompt("empathy"))
    leave(shown)
    shown.see("1 rating by HR partner kept")
    assert shown.end() == code
    assert shown.restored()
    assert "Traceback" not in shown.screen
    assert rated(rateable) == {("fc#1", "professionalism"): 4.0}


def test_stopped_and_continued(terminal: Open, rateable: tuple[str, str]) -> None:
    """A shell sets the terminal as it likes while the program is stopped; afterwards keys come one by one again."""
    shown = terminal("rate", rateable[1], "--db", rateable[0], "--rater", "HR partner")
    shown.see(prompt("professionalism"))
    shown.process.send_signal(signal.SIGSTOP)
    os.waitpid(shown.process.pid, os.WUNTRACED)
    termios.tcsetattr(shown.side, termios.TCSANOW, shown.before)
    shown.process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + PATIENCE
    while shown.restored():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    shown.press("4")
    shown.see(prompt("empathy"))
    shown.press("q")
    assert shown.end() == 0
