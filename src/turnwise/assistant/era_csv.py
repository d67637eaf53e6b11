"""A run in the form of the document's CSV export: its header and columns exactly, safe to open in a spreadsheet.

The form has no column for the session. Into a folder, every session gets a file of its own, which the room reads back
under the session's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from turnwise.assistant.outcomes import TurnOutcome, turn_outcomes
from turnwise.assistant.read import EXPORT_HEADER, FORMULA
from turnwise.kernel.errors import UsageError
from turnwise.report.files import whole_file
from turnwise.store.run import Run
from turnwise.store.store import Store

_PLAIN = " .,()[]@#+=~!$&'"
"""What may stand in a file's name besides letters, digits, `_` and `-`."""


def write_era_csv(store: Store, run: Run, file: IO[str]) -> int:
    """Every turn of a run as a row, in the order of the data; returns how many sessions they are of."""
    sessions = set()
    file.write(f"{','.join(EXPORT_HEADER)}\n")
    for outcome in _outcomes(store, run):
        file.write(era_line(outcome))
        sessions.add(outcome.session_id)
    return len(sessions)


def write_era_folder(store: Store, run: Run, folder: Path) -> list[Path]:
    """A file per session, its turns in their order."""
    sessions: dict[str, list[tuple[int, str]]] = {}
    for outcome in _outcomes(store, run):
        sessions.setdefault(outcome.session_id, []).append((int(outcome.content["turn"]), era_line(outcome)))
    paths = []
    for session, turns in sessions.items():
        paths.append(folder / f"{_file_name(session)}.csv")
        with whole_file(paths[-1]) as file:
            file.write(f"{','.join(EXPORT_HEADER)}\n")
            file.writelines(line for _, line in sorted(turns))
    return paths


def era_line(outcome: TurnOutcome) -> str:
    """A turn as a line; what is missing is empty, never 0.

    Texts are quoted and numbers are not, as in the document's example: a spreadsheet can tell the text `007` from a 7.
    """
    content, made = outcome.content, outcome.qualities
    said = [content.get(name) for name in ("query", "response", "improvement_notes", "category")]
    scores = [made.objective, made.subjective, made.overall]
    return _line([content["turn"], *said, *scores, content.get("timestamp")])


def _line(cells: Iterable[Any]) -> str:
    shown = ["" if cell is None else _quoted(cell) if isinstance(cell, str) else str(cell) for cell in cells]
    return f"{','.join(shown)}\n"


def _outcomes(store: Store, run: Run) -> Iterator[TurnOutcome]:
    if run.suite != "assistant":
        raise UsageError(
            f"run {run.id} is a {run.suite} run",
            expected="a run of the assistant room",
            remedy="--format csv has the scores of any run",
        )
    return turn_outcomes(store, run)


def _quoted(text: str) -> str:
    """A text that a spreadsheet cannot take for a formula, such that reading it gives the text again.

    A text that already looks as if it had been made safe gets one more apostrophe: reading takes exactly one away.
    """
    safe = f"'{text}" if FORMULA.match(text) else text
    return '"' + safe.replace('"', '""') + '"'


def _file_name(session: str) -> str:
    name = quote(session, safe=_PLAIN)
    return f"%2E{name[1:]}" if name.startswith(".") else name
