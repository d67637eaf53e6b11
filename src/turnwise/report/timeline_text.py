"""What the drawings of a conversation in a terminal share: lines that are filled, lanes, brackets, the time axis.

Nothing is said by colour alone, and where a terminal has no block characters everything is drawn in ASCII.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import ceil, floor
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from turnwise.kernel.spans import Span
from turnwise.report.tables import printable
from turnwise.report.timeline import System, clock, count, levels, quiet_words, ticks

SOFT, BOLD = "2", "1"
"""Codes of ANSI colours."""
_NARROWEST, _WIDEST, _MOST_LEVELS = 60, 160, 6
_SECONDS_PER_COLUMN = 0.25
"""At most: lanes are drawn in half columns, so that an eighth of a second shows."""


class Glyphs(NamedTuple):
    """A lane: nothing, right half of a column, left half, both. A bracket: ends and line, going on, one column wide."""

    speech: str
    both: str
    point: str
    tick: str
    line: str
    label: str
    mark: str
    dashed: str


BLOCKS = Glyphs(" ▐▌█", " ▒▒▒", " ◆◆◆", "╷", "│", "┌─┐◂▸┬", "├─┤◂▸┼", "├╌┤◂▸┼")
ASCII = Glyphs(" ###", " xxx", " ***", "|", "|", "/-\\<>^", "|-|<>|", "|.|<>|")


class Bracket(NamedTuple):
    """A stretch of time with words."""

    start: float
    end: float
    words: str
    glyphs: str
    colour: str


class Line:
    """A line that is filled in any order; what is put into it takes as many columns as it is wide."""

    def __init__(self, columns: int) -> None:
        self._cells = [(" ", "")] * columns

    def put(self, column: int, said: str, colour: str) -> None:
        """Words or a glyph from a column on, over what is there."""
        wide = cell_len(said)
        self._cells[column : column + wide] = [(said, colour), *[("", colour)] * (wide - 1)][:wide]

    def put_behind(self, column: int, glyph: str, colour: str) -> None:
        """A glyph where nothing is yet."""
        if self._cells[column] == (" ", ""):
            self.put(column, glyph, colour)

    def drawn(self, name: str, gutter: int, colour: bool) -> str:
        """The line after its name."""
        parts = []
        for code, run in groupby(self._cells, key=lambda cell: cell[1]):
            said = "".join(cell for cell, _ in run)
            parts.append(f"\x1b[{code}m{said}\x1b[0m" if colour and code else said)
        return f"{name:{gutter}}{''.join(parts)}".rstrip()


class TextSheet:
    """A drawing in lines of text. Who makes one says what its rows (`System`) are and what is in them."""

    def __init__(self, width: int | None, colour: bool, encoding: str, gutter: int) -> None:
        """`gutter` is for the names of the lanes.

        Args:
            width: of a line, at least 60; None is that of the terminal, but 160 at most.
            colour: with ANSI colours.
            encoding: of the terminal.
            gutter: columns for the names of the lanes.
        """
        self.width = max(_NARROWEST, width or min(_WIDEST, shutil.get_terminal_size().columns))
        self.gutter, self.columns = gutter, self.width - gutter
        self.colour, self.encoding, self.numbered = colour, encoding, 0
        self.glyphs = BLOCKS if self.clean(BLOCKS.speech) == BLOCKS.speech else ASCII
        self.longest = self.columns * _SECONDS_PER_COLUMN
        """Seconds that a row may show."""
        self.end = 0.0
        """Of the whole conversation."""

    def clean(self, said: str) -> str:
        """What the terminal can show of a text, and nothing that would move its cursor."""
        return printable(said).encode(self.encoding, "replace").decode(self.encoding)

    def wrapped(self, said: str, indent: str = "", hanging: str = "") -> list[str]:
        """A text in lines; those after the first are indented further by `hanging`."""
        return wrapped(self.clean(said), self.width, indent, hanging)

    def bold(self, line: str) -> str:
        """A line that stands out."""
        return f"\x1b[{BOLD}m{line}\x1b[0m" if self.colour else line

    def rest(self, system: System) -> list[str]:
        """A row in which nothing happens."""
        return self.wrapped(quiet_words(system, self.end), " " * self.gutter)

    def finished(self, line: Line, name: str = "") -> str:
        """A line as it is printed."""
        return line.drawn(name, self.gutter, self.colour)

    def axis(self, system: System) -> str:
        """The time, above the lanes."""
        line = Line(self.columns)
        for moment in ticks(system, self.columns / 9):
            said, column = self.glyphs.tick + clock(moment, self.end), self.reach(system, moment, moment)[0]
            if column + len(said) <= self.columns:
                line.put(column, said, SOFT)
        return self.finished(line)

    def reach(self, system: System, start: float, end: float, parts: int = 1) -> tuple[int, int]:
        """The first and the last column, or part of one, that a stretch of time fills: at least one."""
        all_of_them = self.columns * parts
        first = min(all_of_them - 1, floor(round(system.share(start) * all_of_them, 6)))
        return first, max(first, ceil(round(system.share(end) * all_of_them, 6)) - 1)

    def fill(self, line: Line, system: System, spans: Iterable[Span], glyphs: str, colour: str) -> None:
        """Stretches of time as blocks, in half columns."""
        halves = [0] * (2 * self.columns)
        for start, end in spans:
            if system.shows(start, end):
                first, last = self.reach(system, start, end, parts=2)
                halves[first : last + 1] = [1] * (last + 1 - first)
        for column in range(self.columns):
            if filled := 2 * halves[2 * column] + halves[2 * column + 1]:
                line.put(column, glyphs[filled], colour)

    def brackets(self, system: System, items: Sequence[Bracket]) -> tuple[list[str], list[str]]:
        """Lines with the brackets of a system, and what their numbers mean where words did not fit."""
        shown = [item for item in items if system.shows(item.start, item.end)]
        placed = [self.bracket(system, item, item.words) for item in shown]
        full = max(levels([span for span, _ in placed], 2), default=0) >= _MOST_LEVELS
        legend = []
        for n, item in enumerate(shown):
            if full or placed[n][1] == "":
                self.numbered += 1
                placed[n] = self.bracket(system, item, f"[{self.numbered}]")
                legend.append(f"[{self.numbered}] {item.words}, at {clock(round(item.start, 2), self.end)}")
        at = levels([span for span, _ in placed], 2)
        lines = [Line(self.columns) for _ in range(count(at))]
        for level, item, (span, drawing) in zip(at, shown, placed, strict=True):
            lines[level].put(span[0], drawing, item.colour)
        return [self.finished(line) for line in lines], legend

    def bracket(self, system: System, item: Bracket, said: str) -> tuple[tuple[int, int], str]:
        """A bracket with its words inside, right or left of it, and the columns it takes; empty where none fits."""
        first, last = self.reach(system, item.start, item.end)
        begin, dash, finish, back, on, single = tuple(item.glyphs)
        begin, finish = back if item.start < system.start else begin, on if item.end > system.end else finish
        wide, said = last - first + 1, self.clean(said)
        room = cell_len(said)
        bar = single if wide == 1 else begin + dash * (wide - 2) + finish
        if room + 4 <= wide:
            spare = wide - room - 4
            return (first, last), f"{begin}{dash * (spare // 2)} {said} {dash * (spare - spare // 2)}{finish}"
        if last + 1 + room < self.columns:
            return (first, last + 1 + room), f"{bar} {said}"
        return ((first - 1 - room, last), f"{said} {bar}") if first > room else ((first, last), "")


def wrapped(said: str, cells: int, indent: str = "", hanging: str = "") -> list[str]:
    """A text in lines of so many cells; a wide character takes two."""
    lines = textwrap.wrap(said, cells, initial_indent=indent, subsequent_indent=indent + hanging)
    return [part for line in lines for part in chop_cells(line, cells)]
