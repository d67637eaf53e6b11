"""What a run says while it runs, and how the program calls itself."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain, repeat

import pytest

from turnwise.cli import console
from turnwise.engine.run import Standing


def test_a_log_says_how_far_how_fast_and_for_how_long_still(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = chain(repeat(100.0, 4), repeat(110.0))  # ten seconds from the first word to the second
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with console.standing_bar("dialogue") as tell:
        tell(Standing("measuring", 0, 1000))
        tell(Standing("measuring", 400, 1000, in_flight=4, workers=2, chunks=7))
        tell(Standing("measuring", 1000, 1000, workers=2, chunks=18))
    assert capsys.readouterr().err.splitlines() == [
        "dialogue: measuring, 4 chunks in flight, 7 chunks done, 2 workers, 40/s, 15 s left: 400/1000",
        "dialogue: measuring, 18 chunks done, 2 workers, 100/s: 1000/1000",
    ]


def test_the_program_is_also_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "turnwise", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "turnwise")


@pytest.mark.parametrize(
    ("installed", "called", "name"),
    [
        (True, "/env/bin/turnwise", "turnwise"),
        (False, "/env/bin/turnwise", "/env/bin/turnwise"),
        (False, "turnwise", "turnwise"),
        (False, "/env/lib/turnwise/__main__.py", f"{sys.executable} -m turnwise"),
    ],
)
def test_commands_to_copy_begin_as_this_one_did(
    installed: bool, called: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.shutil, "which", lambda _: "/env/bin/turnwise" if installed else None)
    monkeypatch.setattr(sys, "argv", [called])
    assert console.program() == name
