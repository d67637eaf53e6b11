"""A conversation as a picture (SVG): two lanes, overlaps, what the user did, and a bracket for each latency.

It stands alone: colours for light and dark are inside, it has no script and reaches for nothing. A page may take it
in as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from turnwise.duplex import lanes
from turnwise.duplex.lanes import System, clock
from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.records import Segment, Timeline
from turnwise.report.html import text

WIDE = 1200
"""Pixels, for a screen."""
LEFT, RIGHT = 58, 16
"""Margins; the names of the lanes stand in the left one."""
_PIXELS_PER_SECOND = 55
"""At least: 0.2 s is then wide enough to be seen."""
_LANE, _GAP, _LABEL, _BRACKET = 28, 8, 24, 40
"""Heights: a lane, the space between the lanes, a level of labels, a level of brackets."""
_SIZE, _SMALL, _EM = 13, 12, 0.62
"""Of letters: pixels, and the width of one as a share of them. Fonts differ; this allows for a wide one."""
_FEW = 12
"""Latencies that can be told in a sentence."""
_KINDS = {STOP: "stop", RESPONSE: "response", FIRST_RESPONSE: "first"}
_COLOURS = {
    "card": ("#ffffff", "#1c2024"),
    "ink": ("#1b1f24", "#e6e9ec"),
    "soft": ("#59636e", "#a2acb6"),
    "line": ("#d8dde2", "#363d44"),
    "bed": ("#f1f3f5", "#252a30"),
    "user": ("#0a66a8", "#6bb8f0"),
    "agent": ("#00735a", "#3ecf9f"),
    "inside": ("#ffffff", "#10151a"),
    "both": ("#e8590c", "#ff8a3d"),
    "stop": ("#a3174f", "#ff8fb3"),
    "response": ("#5b3fb5", "#b9a5ff"),
    "first": ("#7a5200", "#e8c268"),
}
"""Light and dark. Written out in each rule, since some programs that draw SVG know no variables of CSS."""
_SHAPES = (
    ".duplex text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;"
    "stroke-width:4px;stroke-linejoin:round;paint-order:stroke}.duplex text.soft,.duplex text.inside{font-size:12px}"
    ".duplex text.key{font-size:18px;font-weight:600}.duplex text.name{font-weight:600}"
    ".duplex text.inside{stroke:none}.duplex path{fill:none}.duplex .bracket{stroke-width:2px}"
    ".duplex .guide{stroke-dasharray:2 3}.duplex .early{stroke-dasharray:5 3}"
    ".duplex .cursor{stroke-width:2px;visibility:hidden}.duplex .cursor.on{visibility:visible}"
)


class _Bracket(NamedTuple):
    """A stretch of time with words, in pixels."""

    left: float
    right: float
    said: str
    title: str
    colour: str
    style: str
    opened: tuple[bool, bool]
    """Whether it goes on in the row before, and in the next."""

    @property
    def room(self) -> float:
        return _room(self.said)


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


class _Picture:
    def __init__(self, timeline: Timeline, marks: Sequence[Mark], width: int, bare: bool) -> None:
        self.timeline, self.marks, self.width, self.bare = timeline, marks, width, bare
        self.plot = width - LEFT - RIGHT
        self.rows = lanes.systems(timeline, marks, self.plot / _PIXELS_PER_SECOND)
        self.end, self.overlaps = self.rows[-1].end, lanes.overlaps(timeline)
        self.parts: list[str] = []
        self.y = 8.0

    def drawn(self) -> str:
        if not self.bare:
            self.text(LEFT, 26, self.clipped(self.timeline.key, self.plot, 18), "key")
            self.text(LEFT, 46, self.clipped(lanes.heading(self.timeline), self.plot, _SMALL), "soft")
            self.y = 62
        self.legend()
        for row in self.rows:
            self.rest(row) if row.quiet else self.row(row)
        for note in () if self.bare else self.timeline.notes:
            self.text(LEFT, self.y + 12, self.clipped(f"note: {note}", self.plot, _SMALL), "soft", title=note)
            self.y += 20
        height, said = round(self.y), text(described(self.timeline, self.marks))
        named = "" if self.bare else f"<title>{said}</title>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="duplex" viewBox="0 0 {self.width} {height}" '
            f'width="{self.width}" height="{height}" role="img" aria-label="{said}">{named}<style>{_style()}</style>'
            f'<rect class="card" width="{self.width}" height="{height}"/>{"".join(self.parts)}</svg>'
        )

    def legend(self) -> None:
        shown = [("both speak", f'<rect class="both" x="{{x}}" y="{self.y + 2:.0f}" width="12" height="12"/>')]
        if self.timeline.tool_calls:
            shown.append(("tool call", f'<g transform="translate(6)">{self.diamond("{x}", self.y + 8)}</g>'))
        if any(mark.seconds < 0 for mark in self.marks):
            shown.append(("too early", f'<path class="ink early" d="M{{x}} {self.y + 8:.0f}h14"/>'))
        x = float(LEFT)
        for said, sign in shown:
            self.parts.append(sign.format(x=f"{x:.0f}"))
            self.text(x + 18, self.y + 12, said, "soft")
            x += 34 + _room(said, _SMALL)
        self.y += 28

    def rest(self, row: System) -> None:
        said = f"{clock(row.start, self.end)} to {clock(row.end, self.end)}: nobody speaks"
        self.parts.append(f'<path class="line" d="M{LEFT} {self.y + 8:.0f}h{self.plot}"/>')
        self.text(LEFT + self.plot / 2, self.y + 12, said, "soft", "middle")
        self.y += 36

    def row(self, row: System) -> None:
        above, below = self.labels(row), self.brackets(row)
        raised, sunk = self.stacked(above), self.stacked(below)
        axis, user = self.y + 12, self.y + 29 + _LABEL * (max(raised, default=-1) + 1)
        agent = user + _LANE + _GAP
        calls = [call for call in self.timeline.tool_calls if row.shows(call, call)]
        under = agent + _LANE + (20 if calls else 8)
        self.axis(row, axis, agent + _LANE)
        for one in self.overlaps:
            self.bar(row, one, "both", user - 3, 2 * _LANE + _GAP + 6, f"both speak, {_times(one)}")
        self.lane(row, "user", self.timeline.user, self.timeline.sentences, user)
        self.lane(row, "agent", self.timeline.agent, self.timeline.words, agent)
        for call in calls:
            title = f"<title>tool call at {call:.2f} s</title>"
            self.parts.append(self.diamond(f"{self.x(row, call):.1f}", agent + _LANE + 9, title))
        for label, level in zip(above, raised, strict=True):
            self.bracket(label, user - 9 - level * _LABEL, 5, -5)
        for mark, level in zip(below, sunk, strict=True):  # before the words, which would be crossed out
            for x, cut in zip((mark.left, mark.right), mark.opened, strict=True):
                if not cut:
                    down = f"M{x:.1f} {user:.0f}V{under + 8 + level * _BRACKET:.0f}"
                    self.parts.append(f'<path class="{mark.colour} guide" d="{down}"/>')
        for mark, level in zip(below, sunk, strict=True):
            self.bracket(mark, under + 8 + level * _BRACKET, -6, 19)
        self.y = under + _BRACKET * (max(sunk, default=-1) + 1) + 20
        if self.bare:
            ends = (
                f'data-from="{row.start:.3f}" data-to="{row.end:.3f}" data-length="{self.x(row, row.end) - LEFT:.1f}"'
            )
            place = f'x1="{LEFT}" x2="{LEFT}" y1="{axis + 4:.0f}" y2="{agent + _LANE + 4:.0f}"'
            self.parts.append(f'<line class="ink cursor" {place} {ends}/>')

    def axis(self, row: System, top: float, bottom: float) -> None:
        for moment in lanes.ticks(row, self.plot / 80):
            x = self.x(row, moment)
            self.parts.append(f'<path class="line" d="M{x:.1f} {top + 4:.0f}V{bottom:.0f}"/>')
            said = clock(moment, self.end)
            self.text(min(x, self.width - 2 - _room(said, _SMALL) / 2), top, said, "soft", "middle")

    def lane(
        self, row: System, name: str, side: Sequence[Segment] | None, parts: Sequence[Segment] | None, top: float
    ) -> None:
        self.text(LEFT - 8, top + 19, name, "name", "end")
        long = self.x(row, row.end) - LEFT
        self.parts.append(f'<rect class="bed" x="{LEFT}" y="{top:.0f}" width="{long:.1f}" height="{_LANE}"/>')
        if note := lanes.lane_note(side):
            self.text(LEFT + 8, top + 19, self.clipped(note, self.plot, _SMALL), "soft")
        for one in side or ():
            said = spoken(one, parts)
            if self.bar(row, one, name, top, _LANE, f"{name}, {_times(one)}{said and ': ' + said}"):
                left, right = self.x(row, one.start), self.x(row, one.end)
                if inside := self.clipped(said, right - left - 10, _SMALL):
                    self.text(left + 6, top + 19, inside, "inside")

    def bar(self, row: System, one: Segment, style: str, top: float, height: float, title: str) -> bool:
        """A stretch of time as a rectangle, if it is in this row; of no length, it is still a line."""
        if not row.shows(one.start, one.end):
            return False
        left, right = self.x(row, one.start), self.x(row, one.end)
        self.parts.append(
            f'<rect class="{style}" x="{left:.1f}" y="{top:.0f}" width="{max(1.5, right - left):.1f}" '
            f'height="{height:.0f}" rx="2"><title>{text(title)}</title></rect>'
        )
        return True

    def labels(self, row: System) -> list[_Bracket]:
        shown = [one for one in self.timeline.labels if row.shows(one.start, one.end)]
        return [self.spanned(row, one[:2], lanes.label_words(one), one.text, "user") for one in shown]

    def brackets(self, row: System) -> list[_Bracket]:
        shown = [(mark, lanes.ordered(mark)) for mark in self.marks if row.shows(*lanes.ordered(mark))]
        return [
            self.spanned(row, span, lanes.mark_words(mark), mark.kind, _KINDS.get(mark.kind, "ink"), mark.seconds < 0)
            for mark, span in shown
        ]

    def spanned(
        self, row: System, span: tuple[float, float], said: str, more: str, colour: str, early: bool = False
    ) -> _Bracket:
        start, end = span
        title = f"{said}, {start:.2f} to {end:.2f} s{more and ': ' + more}"
        style = f"{colour} bracket{' early' if early else ''}"
        opened = (start < row.start, end > row.end)
        said = self.clipped(said, self.plot)
        return _Bracket(self.x(row, start), self.x(row, end), said, title, colour, style, opened)

    def middle(self, one: _Bracket) -> float:
        """Where the words of a bracket are centred: below it, but inside the picture."""
        return min(self.width - 4 - one.room / 2, max(4 + one.room / 2, (one.left + one.right) / 2))

    def stacked(self, brackets: Sequence[_Bracket]) -> list[int]:
        spans = []
        for one in brackets:
            middle = self.middle(one)
            spans.append((min(one.left, middle - one.room / 2), max(one.right, middle + one.room / 2)))
        return lanes.levels(spans, 8)

    def bracket(self, one: _Bracket, y: float, tick: int, words: int) -> None:
        """A line with ends that point `tick` pixels up or down, and its words `words` pixels from it."""
        begin = f"M{one.left:.1f} {y:.0f}" if one.opened[0] else f"M{one.left:.1f} {y + tick:.0f}V{y:.0f}"
        finish = f"H{one.right:.1f}" if one.opened[1] else f"H{one.right:.1f}V{y + tick:.0f}"
        title = f"<title>{text(one.title)}</title>"
        self.parts.append(f'<path class="{one.style}" d="{begin}{finish}">{title}</path>')
        self.text(self.middle(one), y + words, one.said, one.colour, "middle", one.title)

    def x(self, row: System, moment: float) -> float:
        return LEFT + row.share(moment) * self.plot

    def text(self, x: float, y: float, said: str, style: str, anchor: str = "start", title: str = "") -> None:
        tip = f"<title>{text(title)}</title>" if title else ""
        self.parts.append(
            f'<text class="{style}" x="{x:.1f}" y="{y:.0f}" text-anchor="{anchor}">{tip}{text(said)}</text>'
        )

    @staticmethod
    def clipped(said: str, pixels: float, size: int = _SIZE) -> str:
        """As much as there is room for; nothing where that is too little to be read."""
        cells = int(pixels / _room("n", size))
        if cell_len(said) <= cells:
            return said
        return f"{set_cell_size(said, cells - 1).rstrip()}…" if cells > 3 else ""

    @staticmethod
    def diamond(x: str, y: float, inside: str = "") -> str:
        return f'<polygon class="ink" transform="translate({x} {y:.0f})" points="0,-5 5,0 0,5 -5,0">{inside}</polygon>'


def _room(said: str, size: int = _SIZE) -> float:
    return cell_len(said) * size * _EM


def _times(one: Segment) -> str:
    return f"{one.start:.2f} to {one.end:.2f} s ({one.seconds:.2f} s)"


def _style() -> str:
    light, dark = (
        f".duplex text{{fill:{_COLOURS['ink'][n]};stroke:{_COLOURS['card'][n]}}}"
        + "".join(
            f".duplex text.{name},.duplex rect.{name},.duplex polygon.{name}{{fill:{pair[n]}}}"
            f".duplex path.{name},.duplex line.{name}{{stroke:{pair[n]}}}"
            for name, pair in _COLOURS.items()
        )
        for n in (0, 1)
    )
    return f"{_SHAPES}{light}@media (prefers-color-scheme:dark){{{dark}}}"
