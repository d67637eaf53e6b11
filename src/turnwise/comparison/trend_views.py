"""A trend to look at: a table with a sparkline, an SVG picture, one HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from turnwise.comparison.tables import p_value
from turnwise.comparison.trend import Point, Trend
from turnwise.comparison.verdicts import plural
from turnwise.report.html import (
    Cell,
    Column,
    bullets,
    facts,
    figure_cell,
    page_head,
    page_tail,
    section,
    table,
    text,
    words,
)
from turnwise.report.html import number as page_number
from turnwise.report.tables import Table, interval, number

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-=+*#@"
_STEP, _LEFT, _TOP, _TALL, _FOOT = 96, 60, 26, 200, 40
_STYLE = (
    "svg{font:12px system-ui,sans-serif} .line{fill:none;stroke:#0072b2;stroke-width:2} .point{fill:#0072b2}"
    ".error{stroke:#0072b2;stroke-width:1.5;opacity:.55} .axis{stroke:#8a939c;stroke-width:1} text{fill:#59636e}"
    ".change{stroke:#8a939c;stroke-dasharray:4 3} .worse{fill:#c24a00;font-weight:600}"
    ".better{fill:#0072b2;font-weight:600} .higher,.lower{font-weight:600}"
    "@media(prefers-color-scheme:dark){text{fill:#a2acb6}.worse{fill:#ff8f4d}.better{fill:#7cc0ff}"
    ".line,.error{stroke:#56b4e9}.point{fill:#56b4e9}}"
)


def sparkline(values: Sequence[float | None], *, unicode: bool = True) -> str:
    """A character for each value, from the lowest to the highest; a blank for what is missing.

    >>> sparkline([1.0, 2.0, None, 8.0])
    '▁▂ █'
    """
    blocks = BLOCKS if unicode else ASCII_BLOCKS
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    steps = len(blocks) - 1

    def block(value: float | None) -> str:
        if value is None:
            return " "
        return blocks[steps // 2 if high == low else round((value - low) / (high - low) * steps)]

    return "".join(block(value) for value in values)


def trend_table(trend: Trend, *, unicode: bool = True) -> Table:
    """A line for each version, changes marked."""
    rows = []
    for point in trend.points:
        found = point.found
        limits = {"low": found.interval.low, "high": found.interval.high}
        n = f"{found.n_scored}/{found.n_total}"
        cells = [point.label, point.started[:16].replace("T", " "), number(found.value), interval(limits), n]
        rows.append([*cells, change_words(trend, point, unicode=unicode)])
    header = ["version", "started", "value", "95 % interval", "n", "change"]
    notes = [f"{sparkline([p.found.value for p in trend.points], unicode=unicode)}  {summary(trend)}"]
    notes += [f"WARNING: {warning}" for warning in trend.warnings]
    title = f"{trend.room}: {trend.system}, {trend.label}, {trend.output.direction.value}"
    return Table(title, header, rows, notes, (2, 4))


def change_words(trend: Trend, point: Point, *, unicode: bool = True) -> str:
    """What began with a version; empty where nothing did."""
    change = point.change
    if change is None:
        return ""
    arrow = ("▲" if unicode else "^") if change.change > 0 else ("▼" if unicode else "v")
    signed = f"{'+' if change.change > 0 else ''}{number(change.change)}"
    return f"{arrow} {trend.word(change)}: {signed} (p {p_value(change.p)})"


def summary(trend: Trend) -> str:
    """One line for the whole series."""
    changes = trend.changes
    if changes.reason:
        return f"no change could be looked for: {changes.reason}"
    found = f"{plural(len(changes.points), 'change')} in {plural(len(trend.points), 'version')}"
    left = f"; {len(changes.left_out)} without an interval left out" if changes.left_out else ""
    wide = f"; errors widened by {changes.scatter:.2f}, for neighbours scatter more" if changes.scatter > 1 else ""
    return found + left + wide


def trend_svg(trend: Trend) -> str:
    """The picture, as a file of its own."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_picture(trend, styled=True)}\n'


def trend_page(trend: Trend) -> str:
    """One HTML page."""
    columns = [
        Column("version", sortable=False),
        Column("started", sortable=False),
        Column("value", numeric=True),
        Column("95 % interval", sortable=False),
        Column("n", numeric=True),
        Column("change", sortable=False),
    ]
    wide = f'<div style="overflow-x:auto">{_picture(trend)}</div>'
    about = [("room", trend.room), ("system", trend.system), ("direction", trend.output.direction.value)]
    return "".join(
        [
            page_head(f"{trend.label}: {trend.system}"),
            f"<style>{_STYLE}</style><h1>{text(trend.label)}</h1>\n",
            facts(about),
            f'<p class="bad-news">{text(summary(trend))}</p>',
            section("Warnings", bullets(text(warning) for warning in trend.warnings)),
            section("Over versions", wide),
            section("Numbers", table(columns, [_cells(trend, p) for p in trend.points], name="versions")),
            page_tail(),
        ]
    )


def _cells(trend: Trend, point: Point) -> list[Cell]:
    low, high = point.found.interval.low, point.found.interval.high
    between = "–" if low is None else f"[{page_number(low)}, {page_number(high)}]"
    return [
        words(point.label),
        words(point.started[:16].replace("T", " ")),
        figure_cell(point.found.value),
        Cell(text(between), inline="white-space:nowrap"),
        Cell(str(point.found.n_scored), float(point.found.n_scored), "number"),
        words(change_words(trend, point)),
    ]


def _picture(trend: Trend, *, styled: bool = False) -> str:
    """Points with their intervals, joined by a line, a dashed line where a change began."""
    points = trend.points
    ends = [end for p in points for end in (p.found.value, p.found.interval.low, p.found.interval.high)]
    known = [end for end in ends if end is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    span = (high - low) or 1.0
    width = _LEFT + _STEP * max(1, len(points)) + 20

    def x(i: int) -> float:
        return _LEFT + _STEP * (i + 0.5)

    def y(value: float) -> float:
        return _TOP + _TALL * (1 - (value - low) / span)

    pieces = [f"<style>{_STYLE}</style>"] if styled else []
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        pieces.append(
            f'<line class="axis" x1="{_LEFT}" x2="{width - 20}" y1="{y(value):.1f}" y2="{y(value):.1f}" opacity=".35"/>'
        )
        pieces.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{page_number(value)}</text>')
    joined = [f"{x(i):.1f},{y(p.found.value):.1f}" for i, p in enumerate(points) if p.found.value is not None]
    pieces.append(f'<polyline class="line" points="{" ".join(joined)}"/>')
    for i, point in enumerate(points):
        pieces += _marks(trend, point, x(i), y)
    said = f"{trend.label} over {plural(len(points), 'version')}: {summary(trend)}"
    height = _TOP + _TALL + _FOOT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'style="min-width:{min(width, 1200)}px" aria-label="{text(said)}">{"".join(pieces)}</svg>'
    )


def _marks(trend: Trend, point: Point, x: float, y: object) -> list[str]:
    assert callable(y)
    found, foot = point.found, _TOP + _TALL
    label = point.label if len(point.label) <= 13 else f"{point.label[:12]}…"
    marks = [f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle">{text(label)}</text>']
    if found.interval.low is not None and found.interval.high is not None:
        ends = f'y1="{y(found.interval.low):.1f}" y2="{y(found.interval.high):.1f}"'
        marks.append(f'<line class="error" x1="{x:.1f}" x2="{x:.1f}" {ends}/>')
    if found.value is not None:
        said = f"{point.label}: {page_number(found.value)}"
        marks.append(
            f'<circle class="point" cx="{x:.1f}" cy="{y(found.value):.1f}" r="4.5"><title>{text(said)}</title></circle>'
        )
    if point.change is not None:
        left = x - _STEP / 2
        word = trend.word(point.change)
        marks.append(f'<line class="change" x1="{left:.1f}" x2="{left:.1f}" y1="{_TOP - 6}" y2="{foot}"/>')
        marks.append(
            f'<text class="{word}" x="{left + 4:.1f}" y="{_TOP - 10}">{text(change_words(trend, point))}</text>'
        )
    return marks
