"""Running the command line: in this process where that is enough, as a program where the process matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "dialogue"
PROGRAM = Path(sys.executable).with_name("turnwise")


@dataclass(frozen=True)
class Outcome:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON, without the literals that JSON does not have."""

        def refuse(literal: str) -> None:
            raise ValueError(f"{literal} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Cli = Callable[..., Outcome]


def checked(outcome: Outcome, code: int | None) -> Outcome:
    """No traceback, no fault of turnwise, and the exit code that the test expects."""
    assert "Traceback" not in outcome.err + outcome.out, outcome.err
    assert "internal error" not in outcome.err, outcome.err
    assert "Warning" not in outcome.err, outcome.err
    if code is not None:
        assert outcome.code == code, f"exit code {outcome.code}, expected {code}\n{outcome.err}"
    return outcome


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command in this process, through the program's own entry point."""

    def run(*words: object, code: int | None = 0) -> Outcome:
        from turnwise.cli import main

        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["turnwise", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        number = caught.value.code
        return checked(Outcome(number if isinstance(number, int) else 0, printed.out, printed.err), code)

    return run


@pytest.fixture
def program(tmp_path: Path) -> Cli:
    """Run a command as a program of its own, in an empty folder."""

    def run(*words: object, code: int | None = 0, **environment: str) -> Outcome:
        done = subprocess.run(
            [PROGRAM, *map(str, words)],
            capture_output=True,
            text=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            cwd=tmp_path,
            env={**os.environ, **environment},
            timeout=180,
            check=False,
        )
        return checked(Outcome(done.returncode, done.stdout, done.stderr), code)

    return run


EXAMPLE = ("--references", EXAMPLES / "references.jsonl", "--predictions", EXAMPLES / "predictions.jsonl")
"""Options that name the examples of the dialogue room."""


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A database with one run of the examples, and the run's id; tests only read it."""
    import turnwise

    db = str(tmp_path_factory.mktemp("kept") / "runs.sqlite")
    sides = {"references": EXAMPLES / "references.jsonl", "predictions": EXAMPLES / "predictions.jsonl"}
    result = turnwise.evaluate(sides, db=db, resamples=100, system="bot", version="1")
    return db, result.run.id
