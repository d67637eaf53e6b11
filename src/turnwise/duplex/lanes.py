"""A conversation drawn in a terminal, after the arithmetic that every picture of one shares.

A long conversation is broken into systems, as sheet music is: a tenth of a second has to stay visible. Which moments
are worth a bracket is not decided here; the marks tell.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, floor, isfinite
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.records import Label, Segment, Timeline
from turnwise.report.tables import printable

_LENGTHS = (0.5, 1, 2, 5, 10, 15, 20, 30, 40)
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_STRETCH = 1.25
"""A conversation a little too long for one system is squeezed into it rather than left with a stub."""
_SHORT = {STOP: "stop", RESPONSE: "response", FIRST_RESPONSE: "first response"}
_NARROWEST, _WIDEST, _GUTTER, _MOST_LEVELS = 60, 160, 7, 6
_SECONDS_PER_COLUMN = 0.25
"""At most: lanes are drawn in half columns, so that an eighth of a second shows."""
_USER, _AGENT, _BOTH, _SOFT, _BOLD = "36", "32", "31", "2", "1"
_KINDS = {STOP: "35", RESPONSE: "33", FIRST_RESPONSE: "34"}


class System(NamedTuple):
    """A stretch of the conversation that is drawn in one row."""

    start: float
    end: float
    scale: float
    """Seconds that the width of the picture stands for; the last row may end before it is full."""
    last: bool = True
    quiet: bool = False

    def share(self, moment: float) -> float:
        """How far to the right a moment lies, from 0 to 1; what is outside lies at the edge."""
        return min(1.0, max(0.0, (moment - self.start) / self.scale))

    def shows(self, start: float, end: float) -> bool:
        """Whether something from `start` to `end`, of no length even, is in it. Its own end is the next one's."""
        return (start < self.end or self.last) and (end > self.start or start >= self.start)


def systems(timeline: Timeline, marks: Sequence[Mark], longest: float) -> list[System]:
    """The rows of a picture, all of one scale, of about `longest` seconds at most; those without events are joined."""
    spans = [*map(ordered, marks), *((call, call) for call in timeline.tool_calls)]
    spans += [one[:2] for side in (timeline.user, timeline.agent, timeline.labels) for one in side or ()]
    moments = [0.0, timeline.seconds or 0.0, *(moment for span in spans for moment in span if isfinite(moment))]
    start, end = min(moments), max(moments)
    if end - start <= longest * _STRETCH:
        end = end if end > start else start + 1
        return [System(start, end, end - start)]
    fewest = ceil((end - start) / max(one for one in _LENGTHS if one <= longest))
    length = min(one for one in _LENGTHS if one >= (end - start) / fewest)  # rather 20 s and 15 s than 30 s and a stub
    rows = ceil((end - start) / length)
    found: list[System] = []
    for n in range(rows):
        row = System(start + n * length, min(end, start + (n + 1) * length), length, last=n == rows - 1)
        row = row._replace(quiet=not any(row.shows(*span) for span in spans))
        found.append(row._replace(start=found.pop().start) if row.quiet and found and found[-1].quiet else row)
    return found


def ordered(mark: Mark) -> tuple[float, float]:
    """The ends of a bracket from left to right: that of an answer that came too early ends before it starts."""
    return min(mark.start, mark.end), max(mark.start, mark.end)


def overlaps(timeline: Timeline) -> list[Segment]:
    """From when to when both speak."""
    user, agent = timeline.user or (), timeline.agent or ()
    found, i, j = [], 0, 0
    while i < len(user) and j < len(agent):
        both = Segment(max(user[i].start, agent[j].start), min(user[i].end, agent[j].end))
        found += [both] if both.seconds > 0 else []
        i, j = (i + 1, j) if user[i].end < agent[j].end else (i, j + 1)
    return found


def levels(spans: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """A level for each span, the lowest on which it keeps the gap to those before it."""
    ends: list[float] = []
    found = [0] * len(spans)
    for n in sorted(range(len(spans)), key=spans.__getitem__):
        left, right = spans[n]
        found[n] = next((level for level, end in enumerate(ends) if left - end >= gap), len(ends))
        ends[found[n] : found[n] + 1] = [right]
    return found


def ticks(system: System, most: float) -> list[float]:
    """Round moments for a time axis, with `most` steps between them at most."""
    step = next((one for one in _STEPS if system.scale / one <= most), _STEPS[-1])
    return [round(n * step, 6) for n in range(ceil(system.start / step), floor(system.end / step + 1e-9) + 1)]


def clock(moment: float, total: float) -> str:
    """A moment of a conversation of `total` seconds.

    >>> clock(12.5, 30), clock(72, 90), clock(3672, 4000)
    ('12.5 s', '1:12', '1:01:12')
    """
    if total <= 60:
        return f"{moment:g} s"
    minutes, seconds = divmod(round(abs(moment), 3), 60)
    hours, minutes = divmod(int(minutes), 60)
    said = f"{hours}:{minutes:02}" if hours else f"{minutes}"
    return f"{'-' if moment < 0 else ''}{said}:{f'{seconds:06.3f}'.rstrip('0').rstrip('.')}"


def heading(timeline: Timeline) -> str:
    """What is known about a conversation, in a line."""
    length = "" if timeline.seconds is None else f"{timeline.seconds:.1f} s"
    how = "speech found by voice activity" if timeline.detected else ""
    return ", ".join(filter(None, (*timeline.dimensions.values(), length, how)))


def mark_words(mark: Mark) -> str:
    """`stop 0.42 s yielded`; negative for an answer that came too early."""
    return f"{_SHORT.get(mark.kind, mark.kind)} {mark.seconds:.2f} s {mark.note}".strip()


def label_words(label: Label) -> str:
    """`backchannel`, and whether an answer is due nevertheless."""
    return f"{label.kind}{' (directed)' if label.directed else ''}"


def lane_note(segments: Sequence[Segment] | None) -> str:
    """Why a lane is empty; nothing where it is not."""
    return "not known: it has to be heard in the audio" if segments is None else "" if segments else "no speech"


class _Glyphs(NamedTuple):
    """A lane: nothing, right half of a column, left half, both. A bracket: ends and line, going on, one column wide."""

    speech: str
    both: str
    tool: str
    tick: str
    label: str
    mark: str
    early: str


_BLOCKS = _Glyphs(" ▐▌█", " ▒▒▒", " ◆◆◆", "╷", "┌─┐◂▸┬", "├─┤◂▸┼", "├╌┤◂▸┼")
_ASCII = _Glyphs(" ###", " xxx", " ***", "|", "/-\\<>^", "|-|<>|", "|.|<>|")


class _Item(NamedTuple):
    start: float
    end: float
    words: str
    glyphs: str
    colour: str


class _Line:
    """A line that is filled in any order; what is put into it takes as many columns as it is wide."""

    def __init__(self, columns: int) -> None:
        self._cells = [(" ", "")] * columns

    def put(self, column: int, said: str, colour: str) -> None:
        wide = cell_len(said)
        self._cells[column : column + wide] = [(said, colour), *[("", colour)] * (wide - 1)][:wide]

    def drawn(self, name: str, colour: bool) -> str:
        parts = []
        for code, run in groupby(self._cells, key=lambda cell: cell[1]):
            said = "".join(cell for cell, _ in run)
            parts.append(f"\x1b[{code}m{said}\x1b[0m" if colour and code else said)
        return f"{name:{_GUTTER}}{''.join(parts)}".rstrip()


def draw_text(
    timeline: Timeline, marks: Sequence[Mark], width: int | None = None, colour: bool = False, encoding: str = "utf-8"
) -> str:
    """A conversation in lines of text: two lanes, what the user did above them, the latencies below.

    Args:
        timeline: who spoke when.
        marks: the latencies.
        width: of a line, at least 60; None is that of the terminal, but 160 at most.
        colour: with ANSI colours; nothing is said by colour alone.
        encoding: of the terminal. If it has no block characters, the lanes are drawn in ASCII.
    """
    width = max(_NARROWEST, width or min(_WIDEST, shutil.get_terminal_size().columns))
    return "\n".join(_Drawing(timeline, marks, width, colour, encoding).lines()) + "\n"


class _Drawing:
    def __init__(self, timeline: Timeline, marks: Sequence[Mark], width: int, colour: bool, encoding: str) -> None:
        self.timeline, self.width, self.columns, self.colour = timeline, width, width - _GUTTER, colour
        self.encoding, self.numbered = encoding, 0
        self.glyphs = glyphs = _BLOCKS if self.clean(_BLOCKS.speech) == _BLOCKS.speech else _ASCII
        self.systems = systems(timeline, marks, self.columns * _SECONDS_PER_COLUMN)
        self.end, self.both = self.systems[-1].end, overlaps(timeline)
        self.labels = [_Item(one.start, one.end, label_words(one), glyphs.label, _USER) for one in timeline.labels]
        shape = {True: glyphs.early, False: glyphs.mark}
        self.marks = [_Item(*ordered(m), mark_words(m), shape[m.seconds < 0], _KINDS.get(m.kind, "")) for m in marks]

    def clean(self, said: str) -> str:
        return printable(said).encode(self.encoding, "replace").decode(self.encoding)

    def wrapped(self, said: str, indent: str = "") -> list[str]:
        lines = textwrap.wrap(self.clean(said), self.width, initial_indent=indent, subsequent_indent=indent)
        return [part for line in lines for part in chop_cells(line, self.width)]

    def lines(self) -> Iterator[str]:
        for line in self.wrapped(f"{self.timeline.key}  {heading(self.timeline)}"):
            yield f"\x1b[{_BOLD}m{line}\x1b[0m" if self.colour else line
        for system in self.systems:
            yield from ("", *(self.rest(system) if system.quiet else self.rows(system)))
        for note in self.timeline.notes:
            yield from ("", *self.wrapped(f"note: {note}"))

    def rest(self, system: System) -> list[str]:
        said = f"{clock(system.start, self.end)} to {clock(system.end, self.end)}: nobody speaks"
        return self.wrapped(said, " " * _GUTTER)

    def rows(self, system: System) -> Iterator[str]:
        above, legend = self.brackets(system, self.labels)
        below, more = self.brackets(system, self.marks)
        yield self.axis(system)
        yield from reversed(above)
        yield self.lane(system, "user", self.timeline.user, self.glyphs.speech, _USER)
        if both := [one for one in self.both if system.shows(*one[:2])]:
            yield self.lane(system, "both", both, self.glyphs.both, _BOTH)
        yield self.lane(system, "agent", self.timeline.agent, self.glyphs.speech, _AGENT)
        if calls := [Segment(call, call) for call in self.timeline.tool_calls if system.shows(call, call)]:
            yield self.lane(system, "tools", calls, self.glyphs.tool, _AGENT)
        yield from (*below, *(line for said in legend + more for line in self.wrapped(said, " " * _GUTTER)))

    def axis(self, system: System) -> str:
        line = _Line(self.columns)
        for moment in ticks(system, self.columns / 9):
            said, column = self.glyphs.tick + clock(moment, self.end), self.reach(system, moment, moment)[0]
            if column + len(said) <= self.columns:
                line.put(column, said, _SOFT)
        return line.drawn("", self.colour)

    def reach(self, system: System, start: float, end: float, parts: int = 1) -> tuple[int, int]:
        """The first and the last column, or part of one, that a stretch of time fills: at least one."""
        count = self.columns * parts
        first = min(count - 1, floor(round(system.share(start) * count, 6)))
        return first, max(first, ceil(round(system.share(end) * count, 6)) - 1)

    def lane(self, system: System, name: str, segments: Sequence[Segment] | None, glyphs: str, colour: str) -> str:
        halves, line = [0] * (2 * self.columns), _Line(self.columns)
        for one in segments or ():
            if system.shows(one.start, one.end):
                first, last = self.reach(system, one.start, one.end, parts=2)
                halves[first : last + 1] = [1] * (last + 1 - first)
        for column in range(self.columns):
            if filled := 2 * halves[2 * column] + halves[2 * column + 1]:
                line.put(column, glyphs[filled], colour)
        line.put(0, lane_note(segments), _SOFT)
        return line.drawn(name, self.colour)

    def brackets(self, system: System, items: Sequence[_Item]) -> tuple[list[str], list[str]]:
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
        lines = [_Line(self.columns) for _ in range(max(at, default=-1) + 1)]
        for level, item, (span, drawing) in zip(at, shown, placed, strict=True):
            lines[level].put(span[0], drawing, item.colour)
        return [line.drawn("", self.colour) for line in lines], legend

    def bracket(self, system: System, item: _Item, said: str) -> tuple[tuple[int, int], str]:
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
