"""Printing: tables with rich on a terminal, plain text elsewhere; JSON; progress."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from turnwise.engine.run import ASKING, Standing
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
    if shutil.which("turnwise") is not None:
        return "turnwise"
    if Path(sys.argv[0]).name == "__main__.py":
        return f"{sys.executable} -m turnwise"
    return sys.argv[0] if "/" in sys.argv[0] else "turnwise"


def say(text: str) -> None:
    """A line for people, on standard error, so that standard output stays clean for data."""
    print(text, file=sys.stderr)


@contextmanager
def standing_bar(room: str) -> Iterator[Callable[[Standing], None]]:
    """How far a run has come: what is done and in flight, by how many workers, how fast, and for how long still."""
    begun: dict[str, tuple[float, int]] = {}
    with progress_bar(room) as progress:

        def tell(now: Standing) -> None:
            since, before = begun.setdefault(now.stage, (time.monotonic(), now.done))
            taken = time.monotonic() - since
            speed = (now.done - before) / taken if taken > 0.2 else 0.0
            unit = "calls" if now.stage == ASKING else "chunks"
            facts = [f"{now.in_flight} {unit} in flight"] if now.in_flight > 1 else []
            facts += [f"{now.chunks} chunks done", f"{now.workers} workers"] if now.workers > 1 else []
            facts += [f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"] if speed else []
            if speed and now.done < now.total and not sys.stderr.isatty():  # the bar of a terminal says it by itself
                facts.append(f"{lasting((now.total - now.done) / speed)} left")
            progress(now.done, now.total, ", ".join([f"{room}: {now.stage}", *facts]))

        yield tell


def lasting(seconds: float) -> str:
    """How long something takes, roughly.

    >>> lasting(42.3), lasting(300), lasting(9000)
    ('42 s', '5 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress(Protocol):
    """Told what is done of how much, and what to call it from now on."""

    def __call__(self, done: int, total: int, what: str | None = None) -> None:
        """Show it."""
        ...


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on a terminal, a line now and then elsewhere."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None)

            def move(done: int, total: int, what: str | None = None) -> None:
                bar.update(task, completed=done, total=total or None, description=what)

            yield move
        return
    last = time.monotonic()

    def line(done: int, total: int, what: str | None = None) -> None:
        nonlocal last
        taken = time.monotonic() - last
        if taken >= 5 or done == total:
            last = time.monotonic()
            say(f"{what or title}: {done}/{total}" if total else f"{what or title}: {done}")

    yield line
