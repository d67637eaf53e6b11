"""A conversation as a picture (SVG): two lanes, overlaps, what the user did, and a bracket for each latency."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from turnwise.duplex import lanes
from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.records import Segment, Timeline
from turnwise.report.timeline import System, count
from turnwise.report.timeline_svg import (
    BRACKET,
    COLOURS,
    GAP,
    LABEL,
    LANE,
    SMALL,
    WIDE,
    Bracket,
    Sheet,
    clipped,
    style_of,
)

_NAME = "duplex"
_FEW = 12
"""Latencies that can be told in a sentence."""
_KINDS = {STOP: "stop", RESPONSE: "response", FIRST_RESPONSE: "first"}
_COLOURS = {
    **COLOURS,
    "user": ("#0a66a8", "#6bb8f0"),
    "agent": ("#00735a", "#3ecf9f"),
    "both": ("#e8590c", "#ff8a3d"),
    "stop": ("#a3174f", "#ff8fb3"),
    "response": ("#5b3fb5", "#b9a5ff"),
    "first": ("#7a5200", "#e8c268"),
}
"""Light and dark."""
_SHAPES = (
    ".{0} .early{{stroke-dasharray:5 3}}"
    ".{0} .cursor{{stroke-width:2px;visibility:hidden}}.{0} .cursor.on{{visibility:visible}}"
)


def timeline_svg(timeline: Timeline, marks: Sequence[Mark], width: int = WIDE, bare: bool = False) -> str:
    """A conversation as SVG.

    Args:
        timeline: who spoke when.
        marks: the latencies.
        width: pixels. A narrower picture has more rows, not smaller letters.
        bare: without head and notes, and with a line in each row that a script can move: for a page that has the rest.
    """
    return _Picture(timeline, marks, width, bare).drawn()


def spoken(segment: Segment, parts: Sequence[Segment] | None) -> str:
    """What was said in a segment: its own text, or else what the parts (words, sentences) that begin in it say."""
    if segment.text or not parts:
        return segment.text
    first, last = (bisect_left(parts, moment, key=lambda part: part.start) for moment in segment[:2])
    return " ".join(part.text for part in parts[first:last])


def described(timeline: Timeline, marks: Sequence[Mark]) -> str:
    """The picture in a sentence, for who cannot see it."""
    sides = (("user", timeline.user), ("agent", timeline.agent))
    spoke = [f"the {name} speaks for {sum(one.seconds for one in side or ()):.1f} s" for name, side in sides]
    both = sum(one.seconds for one in lanes.overlaps(timeline))
    latencies = list(map(lanes.mark_words, marks)) if len(marks) <= _FEW else [f"{len(marks)} latencies"]
    said = [*spoke, f"both at once for {both:.1f} s", *latencies]
    return f"Conversation {timeline.key}: {', '.join(said)}"


class _Picture(Sheet):
    def __init__(self, timeline: Timeline, marks: Sequence[Mark], width: int, bare: bool) -> None:
        super().__init__(width)
        self.timeline, self.marks, self.bare = timeline, marks, bare
        self.rows = lanes.systems(timeline, marks, self.longest)
        self.end, self.overlaps = self.rows[-1].end, lanes.overlaps(timeline)

    def drawn(self) -> str:
        if not self.bare:
            self.head(self.timeline.key, lanes.heading(self.timeline))
        self.legend(self.signs())
        for row in self.rows:
            self.rest(row) if row.quiet else self.row(row)
        for note in () if self.bare else self.timeline.notes:
            self.text(self.left, self.y + 12, clipped(f"note: {note}", self.plot, SMALL), "soft", title=note)
            self.y += 20
        style = style_of(_NAME, _COLOURS, _SHAPES)
        return self.svg(_NAME, described(self.timeline, self.marks), style, titled=not self.bare)

    def signs(self) -> list[tuple[str, str]]:
        shown = [("both speak", f'<rect class="both" x="{{x}}" y="{self.y + 2:.0f}" width="12" height="12"/>')]
        if self.timeline.tool_calls:
            shown.append(("tool call", f'<g transform="translate(6)">{_diamond("{x}", self.y + 8)}</g>'))
        if any(mark.seconds < 0 for mark in self.marks):
            shown.append(("too early", '<path class="ink early" d="M{x} {y}h14"/>'))
        return shown

    def row(self, row: System) -> None:
        above, below = self.labels(row), self.brackets(row)
        raised, sunk = self.stacked(above), self.stacked(below)
        axis, user = self.y + 12, self.y + 29 + LABEL * count(raised)
        agent = user + LANE + GAP
        calls = [call for call in self.timeline.tool_calls if row.shows(call, call)]
        under = agent + LANE + (20 if calls else 8)
        self.axis(row, axis, agent + LANE)
        for one in self.overlaps:
            self.bar(row, one[:2], "both", user - 3, 2 * LANE + GAP + 6, f"both speak, {_times(one)}")
        self.lane(row, "user", self.timeline.user, self.timeline.sentences, user)
        self.lane(row, "agent", self.timeline.agent, self.timeline.words, agent)
        for call in calls:
            title = f"<title>tool call at {call:.2f} s</title>"
            self.parts.append(_diamond(f"{self.x(row, call):.1f}", agent + LANE + 9, title))
        for label, level in zip(above, raised, strict=True):
            self.bracket(label, user - 9 - level * LABEL, 5, -5)
        for mark, level in zip(below, sunk, strict=True):  # before the words, which would be crossed out
            self.guides(mark, user, under + 8 + level * BRACKET)
        for mark, level in zip(below, sunk, strict=True):
            self.bracket(mark, under + 8 + level * BRACKET, -6, 19)
        self.y = under + BRACKET * count(sunk) + 20
        if self.bare:
            self.cursor(row, axis + 4, agent + LANE + 4)

    def cursor(self, row: System, top: float, bottom: float) -> None:
        """A line that a script can move through the row."""
        long = self.x(row, row.end) - self.left
        ends = f'data-from="{row.start:.3f}" data-to="{row.end:.3f}" data-length="{long:.1f}"'
        place = f'x1="{self.left}" x2="{self.left}" y1="{top:.0f}" y2="{bottom:.0f}"'
        self.parts.append(f'<line class="ink cursor" {place} {ends}/>')

    def lane(
        self, row: System, name: str, side: Sequence[Segment] | None, parts: Sequence[Segment] | None, top: float
    ) -> None:
        self.text(self.left - 8, top + 19, name, "name", "end")
        self.bed(row, top)
        if note := lanes.lane_note(side):
            self.text(self.left + 8, top + 19, clipped(note, self.plot, SMALL), "soft")
        for one in side or ():
            said = spoken(one, parts)
            if self.bar(row, one[:2], name, top, LANE, f"{name}, {_times(one)}{said and ': ' + said}"):
                left, right = self.x(row, one.start), self.x(row, one.end)
                if inside := clipped(said, right - left - 10, SMALL):
                    self.text(left + 6, top + 19, inside, "inside")

    def labels(self, row: System) -> list[Bracket]:
        shown = [one for one in self.timeline.labels if row.shows(one.start, one.end)]
        return [self.told(row, one[:2], lanes.label_words(one), one.text, "user") for one in shown]

    def brackets(self, row: System) -> list[Bracket]:
        shown = [(mark, lanes.ordered(mark)) for mark in self.marks if row.shows(*lanes.ordered(mark))]
        return [
            self.told(row, span, lanes.mark_words(mark), mark.kind, _KINDS.get(mark.kind, "ink"), mark.seconds < 0)
            for mark, span in shown
        ]

    def told(
        self, row: System, span: tuple[float, float], said: str, more: str, colour: str, early: bool = False
    ) -> Bracket:
        start, end = span
        title = f"{said}, {start:.2f} to {end:.2f} s{more and ': ' + more}"
        return self.spanned(row, span, said, title, colour, "early" if early else "")


def _diamond(x: str, y: float, inside: str = "") -> str:
    return f'<polygon class="ink" transform="translate({x} {y:.0f})" points="0,-5 5,0 0,5 -5,0">{inside}</polygon>'


def _times(one: Segment) -> str:
    return f"{one.start:.2f} to {one.end:.2f} s ({one.seconds:.2f} s)"
