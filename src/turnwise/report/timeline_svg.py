"""What the pictures of a conversation (SVG) share: a sheet that is filled from top to bottom, bars, brackets, axis.

A picture stands alone: colours for light and dark are inside, it has no script and reaches for nothing. A page may
take it in as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from turnwise.kernel.spans import Span
from turnwise.report.html import text
from turnwise.report.timeline import System, clock, levels, quiet_words, ticks

WIDE = 1200
"""Pixels, for a screen."""
LEFT, RIGHT = 58, 16
"""Margins; the names of the lanes stand in the left one, which may be wider."""
LANE, GAP, LABEL, BRACKET = 28, 8, 24, 40
"""Heights: a lane, the space between the lanes, a level of labels, a level of brackets."""
SIZE, SMALL, _EM = 13, 12, 0.62
"""Of letters: pixels, and the width of one as a share of them. Fonts differ; this allows for a wide one."""
_PIXELS_PER_SECOND = 55
"""At least: 0.2 s is then wide enough to be seen."""
COLOURS = {
    "card": ("#ffffff", "#1c2024"),
    "ink": ("#1b1f24", "#e6e9ec"),
    "soft": ("#59636e", "#a2acb6"),
    "line": ("#d8dde2", "#363d44"),
    "bed": ("#f1f3f5", "#252a30"),
    "inside": ("#ffffff", "#10151a"),
}
"""Light and dark, of what is in every picture."""
_SHAPES = (
    ".{0} text{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;"
    "stroke-width:4px;stroke-linejoin:round;paint-order:stroke}}.{0} text.soft,.{0} text.inside{{font-size:12px}}"
    ".{0} text.key{{font-size:18px;font-weight:600}}.{0} text.name{{font-weight:600}}"
    ".{0} text.inside{{stroke:none}}.{0} path{{fill:none}}.{0} .bracket{{stroke-width:2px}}"
    ".{0} .guide{{stroke-dasharray:2 3}}"
)


class Bracket(NamedTuple):
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
        """The width of its words."""
        return room_for(self.said)


class Sheet:
    """A picture of some width. Who makes one says what its rows (`System`) are and what is in them."""

    def __init__(self, width: int, left: int = LEFT) -> None:
        self.width, self.left, self.plot = width, left, width - left - RIGHT
        self.longest = self.plot / _PIXELS_PER_SECOND
        """Seconds that a row may show."""
        self.end = 0.0
        """Of the whole conversation."""
        self.parts: list[str] = []
        self.y = 8.0

    def svg(self, name: str, said: str, style: str, *, titled: bool) -> str:
        """The whole picture.

        Args:
            name: its class.
            said: the picture in a sentence, for who cannot see it.
            style: its rules, see `style_of`.
            titled: whether that sentence is its title, too.
        """
        height, said = round(self.y), text(said)
        named = f"<title>{said}</title>" if titled else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" viewBox="0 0 {self.width} {height}" '
            f'width="{self.width}" height="{height}" role="img" aria-label="{said}">{named}<style>{style}</style>'
            f'<rect class="card" width="{self.width}" height="{height}"/>{"".join(self.parts)}</svg>'
        )

    def head(self, key: str, facts: str) -> None:
        """The name of the conversation and what is known about it."""
        self.text(self.left, 26, clipped(key, self.plot, 18), "key")
        self.text(self.left, 46, clipped(facts, self.plot, SMALL), "soft")
        self.y = 62

    def legend(self, shown: Sequence[tuple[str, str]]) -> None:
        """What signs mean: words, and the sign as SVG with `{x}` for its place."""
        x = float(self.left)
        for said, sign in shown:
            if x > self.left and x + 18 + room_for(said, SMALL) > self.width:
                x, self.y = float(self.left), self.y + 20
            self.parts.append(sign.format(x=f"{x:.0f}", y=f"{self.y + 8:.0f}"))
            self.text(x + 18, self.y + 12, said, "soft")
            x += 34 + room_for(said, SMALL)
        self.y += 28

    def rest(self, row: System) -> None:
        """A row in which nothing happens."""
        self.parts.append(f'<path class="line" d="M{self.left} {self.y + 8:.0f}h{self.plot}"/>')
        self.text(self.left + self.plot / 2, self.y + 12, quiet_words(row, self.end), "soft", "middle")
        self.y += 36

    def axis(self, row: System, top: float, bottom: float) -> None:
        """The time, and a line through the lanes at each round moment."""
        for moment in ticks(row, self.plot / 80):
            x = self.x(row, moment)
            self.parts.append(f'<path class="line" d="M{x:.1f} {top + 4:.0f}V{bottom:.0f}"/>')
            said = clock(moment, self.end)
            self.text(min(x, self.width - 2 - room_for(said, SMALL) / 2), top, said, "soft", "middle")

    def bed(self, row: System, top: float, height: float = LANE) -> None:
        """The ground of a lane."""
        long = self.x(row, row.end) - self.left
        self.parts.append(f'<rect class="bed" x="{self.left}" y="{top:.0f}" width="{long:.1f}" height="{height:.0f}"/>')

    def bar(self, row: System, span: Span, style: str, top: float, height: float, title: str) -> bool:
        """A stretch of time as a rectangle, if it is in this row; of no length, it is still a line."""
        if not row.shows(*span):
            return False
        left, right = (self.x(row, moment) for moment in span)
        self.parts.append(
            f'<rect class="{style}" x="{left:.1f}" y="{top:.0f}" width="{max(1.5, right - left):.1f}" '
            f'height="{height:.0f}" rx="2"><title>{text(title)}</title></rect>'
        )
        return True

    def spanned(self, row: System, span: Span, said: str, title: str, colour: str, style: str = "") -> Bracket:
        """A bracket of a row, not drawn yet."""
        opened = (span[0] < row.start, span[1] > row.end)
        left, right = (self.x(row, moment) for moment in span)
        style = f"{colour} bracket{style and ' ' + style}"
        return Bracket(left, right, clipped(said, self.plot), title, colour, style, opened)

    def middle(self, one: Bracket) -> float:
        """Where the words of a bracket are centred: below it, but inside the picture."""
        return min(self.width - 4 - one.room / 2, max(4 + one.room / 2, (one.left + one.right) / 2))

    def stacked(self, brackets: Sequence[Bracket]) -> list[int]:
        """A level for each bracket, so that neither they nor their words meet."""
        spans = []
        for one in brackets:
            middle = self.middle(one)
            spans.append((min(one.left, middle - one.room / 2), max(one.right, middle + one.room / 2)))
        return levels(spans, 8)

    def guides(self, one: Bracket, top: float, bottom: float) -> None:
        """Dashed lines from the lanes to the ends of a bracket."""
        for x, cut in zip((one.left, one.right), one.opened, strict=True):
            if not cut:
                self.parts.append(f'<path class="{one.colour} guide" d="M{x:.1f} {top:.0f}V{bottom:.0f}"/>')

    def bracket(self, one: Bracket, y: float, tick: int, words: int) -> None:
        """A line with ends that point `tick` pixels up or down, and its words `words` pixels from it."""
        begin = f"M{one.left:.1f} {y:.0f}" if one.opened[0] else f"M{one.left:.1f} {y + tick:.0f}V{y:.0f}"
        finish = f"H{one.right:.1f}" if one.opened[1] else f"H{one.right:.1f}V{y + tick:.0f}"
        title = f"<title>{text(one.title)}</title>"
        self.parts.append(f'<path class="{one.style}" d="{begin}{finish}">{title}</path>')
        self.text(self.middle(one), y + words, one.said, one.colour, "middle", one.title)

    def x(self, row: System, moment: float) -> float:
        """Where a moment of a row lies."""
        return self.left + row.share(moment) * self.plot

    def text(self, x: float, y: float, said: str, style: str, anchor: str = "start", title: str = "") -> None:
        """Words; `title` is shown when they are pointed at."""
        tip = f"<title>{text(title)}</title>" if title else ""
        self.parts.append(
            f'<text class="{style}" x="{x:.1f}" y="{y:.0f}" text-anchor="{anchor}">{tip}{text(said)}</text>'
        )


def clipped(said: str, pixels: float, size: int = SIZE) -> str:
    """As much as there is room for; nothing where that is too little to be read."""
    cells = int(pixels / room_for("n", size))
    if cell_len(said) <= cells:
        return said
    return f"{set_cell_size(said, cells - 1).rstrip()}…" if cells > 3 else ""


def room_for(said: str, size: int = SIZE) -> float:
    """The width of a text in pixels."""
    return cell_len(said) * size * _EM


def style_of(name: str, colours: Mapping[str, tuple[str, str]], shapes: str = "") -> str:
    """The rules of a picture of the class `name`.

    Colours are written out in each rule, since some programs that draw SVG know no variables of CSS.

    Args:
        name: the class of the picture; every rule is for what is inside it.
        colours: of a class, for a light and for a dark screen.
        shapes: more rules, with `{0}` for the class.
    """
    light, dark = (
        f".{name} text{{fill:{colours['ink'][n]};stroke:{colours['card'][n]}}}"
        + "".join(
            f".{name} text.{one},.{name} rect.{one},.{name} polygon.{one}{{fill:{pair[n]}}}"
            f".{name} path.{one},.{name} line.{one}{{stroke:{pair[n]}}}"
            for one, pair in colours.items()
        )
        for n in (0, 1)
    )
    return f"{(_SHAPES + shapes).format(name)}{light}@media (prefers-color-scheme:dark){{{dark}}}"
