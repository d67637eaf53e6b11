"""A call drawn in a terminal: who spoke, which translation is heard, where a barge-in cuts it, and in words why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from turnwise.interpreting.drawing import NOBODY, NOTHING_CAME, DrawnCall, DrawnTurn, Lane
from turnwise.interpreting.drawing_words import pair_lines, turn_lines
from turnwise.kernel.spans import Span
from turnwise.report.timeline import System
from turnwise.report.timeline_text import SOFT, Bracket, Line, TextSheet

_LEAST, _MOST = 7, 16
"""Columns for the names of the lanes."""
_TURNS = ("34", "33", "35", "36", "32")
"""Colours of turns; each has its number, too."""
_CUTOFF, _BARGE_IN = "31", "1"


def draw_text(call: DrawnCall, width: int | None = None, colour: bool = False, encoding: str = "utf-8") -> str:
    """A call in lines of text.

    Args:
        call: what is drawn.
        width: of a line, at least 60; None is that of the terminal, but 160 at most.
        colour: with ANSI colours; a turn has its number beside its colour.
        encoding: of the terminal. If it has no block characters, the lanes are drawn in ASCII.
    """
    return "\n".join(_Drawing(call, width, colour, encoding).lines()) + "\n"


class _Drawing(TextSheet):
    def __init__(self, call: DrawnCall, width: int | None, colour: bool, encoding: str) -> None:
        longest = max((cell_len(lane.name) for lane in call.lanes), default=0)
        super().__init__(width, colour, encoding, min(_MOST, max(_LEAST, longest + 2)))
        self.call, self.systems = call, call.systems(self.longest)
        self.end = self.systems[-1].end
        begun = [(pair.at, pair) for pair in call.pairs if pair.at is not None]
        self.barge_ins = [at for at, _ in begun]
        self.labels = [Bracket(at, at, pair.label, self.glyphs.label, _BARGE_IN) for at, pair in begun]
        marks = [mark for pair in call.pairs for mark in pair.marks]
        glyphs = self.glyphs
        self.cutoffs = [Bracket(*span, said, glyphs.mark, _CUTOFF) for span, said, light in marks if not light]
        self.responses = [Bracket(*span, said, glyphs.dashed, SOFT) for span, said, light in marks if light]

    def lines(self) -> Iterator[str]:
        yield from map(self.bold, self.wrapped(f"{self.call.key}  {self.call.heading}"))
        yield from self.wrapped(self.call.description)
        for system in self.systems:
            yield from ("", *(self.rest(system) if system.quiet else self.rows(system)))
        for pair in self.call.pairs:
            yield ""
            yield from self.paragraph(pair_lines(self.call, pair))
        for turn in self.call.turns:
            yield ""
            yield from self.paragraph(turn_lines(self.call, turn))
        for note in self.call.notes:
            yield from ("", *self.wrapped(f"note: {note}"))

    def paragraph(self, lines: Iterator[str]) -> Iterator[str]:
        yield from self.wrapped(next(lines), hanging="  ")
        for line in lines:
            yield from self.wrapped(line, "  ", "  ")

    def rows(self, system: System) -> Iterator[str]:
        above, legend = self.brackets(system, self.labels)
        below, more = self.brackets(system, self.cutoffs)
        lowest, most = self.brackets(system, self.responses)
        yield self.axis(system)
        yield from reversed(above)
        for lane in self.call.lanes:
            yield from self.lane(system, lane)
        if not self.call.turns:
            yield self.noted(Line(self.columns), "", NOBODY)
        yield from (*below, *lowest)
        for said in legend + more + most:
            yield from self.wrapped(said, " " * self.gutter)

    def lane(self, system: System, lane: Lane) -> Iterator[str]:
        """A line for each level."""
        if not lane.turns:
            yield self.noted(self.crossed(system, Line(self.columns)), lane.name, NOTHING_CAME)
            return
        for level in range(lane.depth):
            line = Line(self.columns)
            own = [n for n, at in enumerate(lane.levels) if at == level and system.shows(*lane.extents[n])]
            for n in own:
                self.fill(line, system, lane.bars(n), self.glyphs.speech, _colour(lane.turns[n]))
            self.crossed(system, line, over=lane.heard)
            for n in own:
                if bars := lane.bars(n):
                    self.number(line, system, lane.turns[n], bars)
                else:
                    self.arrivals(line, system, lane.turns[n])
            yield self.finished(line, self.named(lane.name) if level == 0 else "")

    def number(self, line: Line, system: System, turn: DrawnTurn, spans: Sequence[Span]) -> None:
        """The number of a turn in each of its bars that has room for it."""
        said = str(turn.number)
        for first, last in (self.reach(system, *span) for span in spans if system.shows(*span)):
            if last - first > len(said):
                line.put(first + 1, said, f"7;{_colour(turn)}")

    def arrivals(self, line: Line, system: System, turn: DrawnTurn) -> None:
        """Ticks where the text of a turn arrived, and its number: nothing of it is heard."""
        columns = [self.reach(system, moment, moment)[0] for moment in turn.text_at if system.shows(moment, moment)]
        for column in columns:
            line.put(column, self.glyphs.tick, _colour(turn))
        if columns and columns[-1] + 1 + len(str(turn.number)) <= self.columns:
            line.put(columns[-1] + 1, str(turn.number), _colour(turn))

    def crossed(self, system: System, line: Line, over: bool = False) -> Line:
        """A line with the moments of barge-ins in it: over a translation, which they should cut, else behind."""
        for at in self.barge_ins:
            if system.shows(at, at):
                put = line.put if over else line.put_behind
                put(self.reach(system, at, at)[0], self.glyphs.line, _BARGE_IN)
        return line

    def noted(self, line: Line, name: str, note: str) -> str:
        line.put(0, note, SOFT)
        return self.finished(line, self.named(name))

    def named(self, name: str) -> str:
        """A name that leaves a column free."""
        shown = self.clean(name)
        return shown if cell_len(shown) < self.gutter else set_cell_size(shown, self.gutter - 1)


def _colour(turn: DrawnTurn) -> str:
    return _TURNS[(turn.number - 1) % len(_TURNS)]
