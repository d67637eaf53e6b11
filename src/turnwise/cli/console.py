"""Printing: tables with rich on a terminal, plain text elsewhere; JSON; progress."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from turnwise.engine.run import Progress
from turnwise.report.tables import Table, as_text, printable


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    print(json.dumps(value, ensure_ascii=not unicode, indent=2, allow_nan=False))


def print_table(table: Table) -> None:
    """A table on standard output."""
    if not sys.stdout.isatty():
        print(as_text(table))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    title = Text(printable(table.title), style="bold")
    shown = RichTable(title=title, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for i, name in enumerate(table.header):
        # Only the last column, which explains, is ever broken into lines.
        last = i == len(table.header) - 1 and i not in table.numeric
        shown.add_column(name, justify="right" if i in table.numeric else "left", overflow="fold", no_wrap=not last)
    for row in table.rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    console = Console()
    if console.measure(shown).minimum > console.width:
        print(as_text(table))  # lines that run on read better than names that are cut off
        return
    console.print(shown)
    for note in table.notes:
        console.print(Text(printable(note), style="dim"))


def program() -> str:
    """How this program was called, for commands that can be copied: not everybody has it on the path."""
    return sys.argv[0] if "/" in sys.argv[0] and shutil.which("turnwise") is None else "turnwise"


def say(text: str) -> None:
    """A line for people, on standard error, so that standard output stays clean for data."""
    print(text, file=sys.stderr)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """A bar on a terminal, a line now and then elsewhere."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def line(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 5 or done == total:
            last = time.monotonic()
            say(f"{what}: {done}/{total}")

    yield line
