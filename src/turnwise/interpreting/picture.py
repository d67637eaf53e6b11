"""A call as a picture (SVG): who spoke, which translation is heard, where a barge-in cuts it, and how long that takes.

The colour of a turn is the colour of its translation; both have its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from turnwise.interpreting.drawing import NOBODY, NOTHING_CAME, DrawnCall, DrawnTurn, Lane
from turnwise.interpreting.drawing_words import described, pair_lines, turn_lines
from turnwise.kernel.spans import Span
from turnwise.report.html import text
from turnwise.report.timeline import System, count
from turnwise.report.timeline_svg import (
    BRACKET,
    COLOURS,
    GAP,
    LABEL,
    LANE,
    LEFT,
    SIZE,
    SMALL,
    WIDE,
    Bracket,
    Sheet,
    clipped,
    room_for,
    style_of,
)
from turnwise.report.timeline_text import wrapped

_NAME = "interpreting"
TURN_COLOURS = (
    ("#0a66a8", "#6bb8f0"),
    ("#b84500", "#f58a2e"),
    ("#33205f", "#e6e0ff"),
    ("#b0527e", "#f0508c"),
    ("#4f2a08", "#fbe04b"),
)
"""Light and dark, in turn. Any two of them stay apart for eyes that tell fewer colours from each other."""
CUTOFF = ("#b3122a", "#ff8f8f")
_COLOURS = {**COLOURS, "cutoff": CUTOFF, **{f"turn{n}": pair for n, pair in enumerate(TURN_COLOURS)}}
_SHAPES = (
    ".{0} .light{{stroke-width:1px}}.{0} .begin{{stroke-width:2px}}.{0} .arrived{{stroke-width:1.5px}}"
    ".{0} text.small{{font-size:12px}}"
)
_APART = 12
"""Between the lanes of two participants."""
_WIDEST_NAME = 0.19
"""Of the picture, for the names of the lanes: five seconds of a telephone's picture are wide enough beside it."""
_LINE = 18
"""Between two lines of words."""


def timeline_svg(call: DrawnCall, width: int = WIDE, bare: bool = False) -> str:
    """A call as SVG.

    Args:
        call: what is drawn.
        width: pixels. A narrower picture has more rows, not smaller letters.
        bare: without head, words and notes: for a page that has them.
    """
    return _Picture(call, width, bare).drawn()


def turn_class(turn: DrawnTurn) -> str:
    """The class of everything that belongs to a turn."""
    return f"turn{colour_number(turn)}"


def colour_number(turn: DrawnTurn) -> int:
    """Which of the colours a turn has."""
    return (turn.number - 1) % len(TURN_COLOURS)


class _Picture(Sheet):
    def __init__(self, call: DrawnCall, width: int, bare: bool) -> None:
        self.lanes = call.lanes
        named = max((room_for(lane.name) for lane in self.lanes), default=0.0) + 14
        super().__init__(width, int(max(LEFT, min(named, _WIDEST_NAME * width))))
        self.call, self.bare = call, bare
        self.rows = call.systems(self.longest)
        self.end = self.rows[-1].end

    def drawn(self) -> str:
        if not self.bare:
            self.head(self.call.key, ": ".join(filter(None, (self.call.heading, self.call.description))))
        self.legend(self.signs())
        for row in self.rows:
            self.rest(row) if row.quiet else self.row(row)
        if not self.bare:
            self.words()
        style = style_of(_NAME, _COLOURS, _SHAPES)
        return self.svg(_NAME, described(self.call), style, titled=not self.bare)

    def signs(self) -> list[tuple[str, str]]:
        both = "".join(
            f'<rect class="turn{n}" x="{{x}}" y="{{y}}" width="6" height="12" transform="translate({7 * n} -6)"/>'
            for n in (0, 1)
        )
        shown = [("colour and number: the turn", both)]
        if any(turn.text_at and not turn.heard for turn in self.call.turns):
            ticks = '<path class="ink arrived" d="M{x} {y}m3 -6v12m8 0v-12"/>'
            shown.append(("text arrives, nothing is heard", ticks))
        if any(pair.at is not None for pair in self.call.pairs):
            shown.append(("a barge-in begins", '<path class="ink begin" d="M{x} {y}m7 -7v14"/>'))
        return shown

    def row(self, row: System) -> None:
        begun = [(pair, pair.at) for pair in self.call.pairs if pair.at is not None and row.shows(pair.at, pair.at)]
        above = [self.label(row, at, pair.label) for pair, at in begun]
        below, lowest = self.brackets(row, light=False), self.brackets(row, light=True)
        raised, sunk = self.stacked(above), self.stacked(below)
        sunk += [count(sunk) + level for level in self.stacked(lowest)]
        below += lowest
        axis, top = self.y + 12, self.y + 29 + LABEL * count(raised)
        tops, bottom = self.places(top)
        under = bottom + 16
        self.axis(row, axis, bottom)
        for lane, place in zip(self.lanes, tops, strict=True):
            self.bed(row, place, LANE * lane.depth)
        for mark, level in zip(below, sunk, strict=True):  # before all words, which they would cross out
            self.guides(mark, top, under + level * BRACKET)
        for lane, place in zip(self.lanes, tops, strict=True):
            self.lane(row, lane, place)
        if not self.lanes:
            self.bed(row, top)
            self.text(self.left + 8, top + 19, NOBODY, "soft")
        for (_, at), level in zip(begun, raised, strict=True):
            high, x = top - 7 - level * LABEL, self.x(row, at)
            self.parts.append(f'<path class="ink begin" d="M{x:.1f} {high:.0f}V{bottom + 2:.0f}"/>')
        for label, level in zip(above, raised, strict=True):
            self.text(self.middle(label), top - 12 - level * LABEL, label.said, "name", "middle", label.title)
        for mark, level in zip(below, sunk, strict=True):
            self.bracket(mark, under + level * BRACKET, -6, 19)
        self.y = bottom + 8 + BRACKET * count(sunk) + 20

    def places(self, top: float) -> tuple[list[float], float]:
        """The upper edge of each lane, and the lower edge of the last."""
        found: list[float] = []
        bottom = top + (0 if self.lanes else LANE)
        for lane in self.lanes:
            top += (GAP // 2 if lane.heard else _APART) if found else 0
            found.append(top)
            top = bottom = top + LANE * lane.depth
        return found, bottom

    def label(self, row: System, at: float, said: str) -> Bracket:
        """The words over the line of a barge-in, which may be wider than the lanes."""
        return self.spanned(row, (at, at), said, said, "ink")._replace(said=clipped(said, self.width - 8))

    def brackets(self, row: System, *, light: bool) -> list[Bracket]:
        """Those of cutoffs, or the light ones of responses."""
        colour, style = ("soft", "light") if light else ("cutoff", "")
        return [
            self.spanned(row, span, said, f"{said}, {span[0]:.2f} to {span[1]:.2f} s: {pair.label}", colour, style)
            for pair in self.call.pairs
            for span, said, own in pair.marks
            if own == light and row.shows(*span)
        ]

    def lane(self, row: System, lane: Lane, top: float) -> None:
        style = "soft" if lane.heard else "name"
        shown = clipped(lane.name, self.left - 11, SMALL if lane.heard else SIZE)
        self.text(self.left - 8, top + 19, shown, style, "end", lane.name if shown != lane.name else "")
        if not lane.turns:
            self.text(self.left + 8, top + 19, NOTHING_CAME, "soft")
        for n, level in enumerate(lane.levels):
            high = top + level * LANE
            if bars := lane.bars(n):
                self.turn(row, lane, lane.turns[n], bars, high)
            elif row.shows(*lane.extents[n]):
                self.arrivals(row, lane, n, high)

    def turn(self, row: System, lane: Lane, turn: DrawnTurn, bars: Sequence[Span], top: float) -> None:
        """The bars of a turn; what is said in the widest, its number in all that have room for it."""
        said = turn.came if lane.heard else turn.source
        widest = max(bars, key=lambda bar: self.x(row, bar[1]) - self.x(row, bar[0]))
        for bar in bars:
            what = f"translation of turn {turn.number}" if lane.heard else f"turn {turn.number}, {lane.name}"
            title = f"{what}, {bar[0]:.2f} to {bar[1]:.2f} s{said and ': ' + said}"
            if self.bar(row, bar, turn_class(turn), top, LANE, title):
                left, right = self.free(row, bar)
                whole = f"{turn.number} {said}" if bar == widest else str(turn.number)
                if inside := clipped(whole, right - left - 10, SMALL):
                    self.text(left + 6, top + 19, inside, "inside")
                elif room_for(str(turn.number), SMALL) <= right - left - 4:
                    self.text(left + 2, top + 19, str(turn.number), "inside")

    def free(self, row: System, bar: Span) -> Span:
        """The widest part of a bar that no barge-in crosses, in pixels."""
        begun = sorted(pair.at for pair in self.call.pairs if pair.at is not None and bar[0] < pair.at < bar[1])
        return max(
            pairwise(self.x(row, moment) for moment in (bar[0], *begun, bar[1])), key=lambda ends: ends[1] - ends[0]
        )

    def arrivals(self, row: System, lane: Lane, n: int, top: float) -> None:
        """Thin lines where the text of a turn arrived, of which nothing is heard."""
        turn, (first, last) = lane.turns[n], lane.extents[n]
        title = f"text of turn {turn.number}, from {first:.2f} to {last:.2f} s, nothing is heard: {turn.came}"
        ends = [self.x(row, moment) for moment in (first, last)]
        lines = [f"M{ends[0]:.1f} {top + LANE / 2:.0f}H{ends[1]:.1f}"]
        lines += [
            f"M{self.x(row, moment):.1f} {top + 4:.0f}v{LANE - 8}"
            for moment in turn.text_at
            if row.shows(moment, moment)
        ]
        tip = f"<title>{text(title)}</title>"
        self.parts.append(f'<path class="{turn_class(turn)} arrived" d="{"".join(lines)}">{tip}</path>')
        crossed = (pair.at for pair in self.call.pairs if pair.at is not None and pair.at > last)
        room = self.x(row, min(lane.free_until(n), row.end, *crossed)) - ends[1] - 12
        if said := clipped(f"{turn.number} {turn.came}", room, SMALL) or clipped(str(turn.number), room, SMALL):
            self.text(ends[1] + 6, top + 19, said, "soft")

    def words(self) -> None:
        """Of each barge-in why it has its score, of each turn what was said and what came, and what is odd."""
        paragraphs = [list(pair_lines(self.call, pair)) for pair in self.call.pairs]
        paragraphs += [list(turn_lines(self.call, turn)) for turn in self.call.turns]
        paragraphs += [["notes", *self.call.notes]] if self.call.notes else []
        cells = int(self.plot / room_for("n", SMALL))
        for first, *rest in paragraphs:
            for n, line in enumerate((first, *rest)):
                for part in wrapped(line, cells):
                    self.text(self.left + (12 if n else 0), self.y + 12, part, "small" if n else "small name")
                    self.y += _LINE
            self.y += 8
