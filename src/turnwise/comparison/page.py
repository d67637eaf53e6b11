"""A comparison as one HTML page that needs nothing else: verdict, forest plot, slices, the items that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnwise.comparison.compare import Comparison
from turnwise.comparison.compared import Compared, Flip
from turnwise.comparison.forest import Span, reach, span
from turnwise.comparison.tables import detectable, p_value, short, sides
from turnwise.comparison.verdicts import Verdict
from turnwise.kernel.metric import Direction
from turnwise.report.html import (
    Cell,
    Column,
    bullets,
    facts,
    figure_cell,
    foreign,
    number,
    page_head,
    page_tail,
    section,
    table,
    text,
    words,
)

_COLOUR = {Verdict.BETTER: "excellent", Verdict.WORSE: "poor", Verdict.HIGHER: "good", Verdict.LOWER: "fair"}
_WIDTH, _HEIGHT = 180, 22


def page(found: Comparison) -> str:
    """The whole page."""
    return "".join(_pieces(found))


def _pieces(found: Comparison) -> Iterator[str]:
    yield page_head(f"{found.a.runs[0].suite}: {sides(found)}")
    yield "<h1>Is B better than A?</h1>\n"
    yield f'<p class="bad-news">{text(found.verdict)}</p>\n'
    if found.warnings:
        yield section("Warnings", bullets(text(warning) for warning in found.warnings))
    yield facts(_facts(found))
    shown = [row for row in found.rows if row.difference.a is not None or row.difference.b is not None]
    far = reach([span(row) for row in shown])
    yield section("Metrics", _axis(far) + _table(shown, far, "metric", "Metrics"), "metrics")
    for by in dict.fromkeys(tuple(row.group) for row in found.slices):
        own = [row for row in found.slices if tuple(row.group) == by]
        name = f"By {', '.join(by)}, worst for B first"
        yield section(name, "".join(_slices(own, by)), f"by-{'-'.join(by)}")
    yield section("What is said about each metric", bullets(_said(row) for row in found.rows))
    yield section("Items that changed", "".join(_changed(row) for row in found.rows), "items")
    yield section("Notes", bullets(text(note) for note in found.notes))
    yield section("How it was measured", bullets(_signatures(found), "signatures"))
    yield page_tail()


def _facts(found: Comparison) -> list[tuple[str, str]]:
    tests = max((row.tests for row in found.rows), default=0)
    return [
        ("room", found.a.runs[0].suite),
        ("A", f"{found.a.label} ({_runs(found.a.runs)})"),
        ("B", f"{found.b.label} ({_runs(found.b.runs)})"),
        ("pairing", found.pairing),
        ("clustered by", found.cluster),
        ("tests (Holm)", str(tests)),
    ]


def _runs(runs: Sequence[object]) -> str:
    ids = [str(getattr(run, "id", run)) for run in runs]
    return ids[0] if len(ids) == 1 else f"{len(ids)} runs, {ids[0]} to {ids[-1]}"


def _axis(far: float) -> str:
    return (
        '<p class="soft">The bars are 95 % intervals of the difference: right of the line B is better, left of it '
        f"worse. Half of their width stands for {far:.3g} of a metric's range, or of A's value where the range has no "
        "end.</p>"
    )


def _slices(rows: Sequence[Compared], by: tuple[str, ...]) -> Iterator[str]:
    far = reach([span(row) for row in rows])
    yield _axis(far)
    known = [row for row in rows if row.difference.difference is not None]
    for label in dict.fromkeys(row.label for row in known):
        own = [row for row in rows if row.label == label]
        yield f"<h3>{text(label)}</h3>\n"
        yield _table(own, far, " / ".join(by), label)


def _table(rows: Sequence[Compared], far: float, first: str, name: str) -> str:
    columns = [
        Column(first),
        Column("A", numeric=True),
        Column("B", numeric=True),
        Column("B − A", numeric=True),
        Column("worse | better", sortable=False),
        Column("verdict"),
        Column("95 % interval", sortable=False),
        Column("p", numeric=True, hint="of this test alone"),
        Column("p Holm", numeric=True, hint="corrected for all tests of this table"),
        Column("won / same / lost", sortable=False, hint="items on which B did better, as well, worse"),
        Column("n", numeric=True, hint="items"),
    ]
    return table(columns, [_row(row, far) for row in rows], name=name)


def _row(row: Compared, far: float) -> list[Cell]:
    gap, counts = row.difference, row.outcomes
    limits = gap.interval
    name = " / ".join(row.group.values()) if row.group else row.label
    aside = "" if row.group else f"<small>{text(row.rollup.name)}</small>"
    between = f"[{number(limits.low)}, {number(limits.high)}]" if limits.low is not None else "–"
    return [
        Cell(_breakable(name) + aside, name),
        figure_cell(gap.a),
        figure_cell(gap.b),
        _signed(gap.difference),
        Cell(_bar(span(row), far, _COLOUR.get(row.verdict, "plain"), row.label), inline=f"min-width:{_WIDTH}px"),
        _verdict(row),
        Cell(f'<span title="{text(limits.method)}">{between}</span>', inline="white-space:nowrap"),
        Cell(f'<span title="{text(gap.test.method)}">{p_value(gap.test.p)}</span>', gap.test.p, "number"),
        Cell(p_value(row.p), row.p, "number"),
        words("–" if counts is None else f"{counts.wins} / {counts.ties} / {counts.losses}"),
        Cell(text(row.found.counted), float(row.found.n_a), "number"),
    ]


def _breakable(name: str) -> str:
    """A name that may be broken after its dots and underscores."""
    return text(name).replace("_", "_<wbr/>").replace(".", ".<wbr/>")


def _signed(value: float | None) -> Cell:
    return figure_cell(None) if value is None else Cell(f"{'+' if value > 0 else ''}{number(value)}", value, "number")


def _verdict(row: Compared) -> Cell:
    colour = _COLOUR.get(row.verdict)
    word = text(short(row))
    content = f'<span class="band {colour}">{word}</span>' if colour else word
    return Cell(content, row.verdict.value)


def _bar(one: Span | None, far: float, colour: str, label: str) -> str:
    """A point and its interval; an arrow where it goes on beyond the axis."""
    middle = _WIDTH / 2
    zero = f'<line class="axis" x1="{middle}" x2="{middle}" y1="0" y2="{_HEIGHT}"/>'
    if one is None:
        inside, said = "", f"{label}: no difference"
    else:
        ends = [middle + max(-1.0, min(1.0, share / far)) * (middle - 6) for share in (one.low, one.point, one.high)]
        thin = max(1.0, ends[2] - ends[0]) if one.known else 0.0
        inside = f'<rect class="{colour}" x="{ends[0]:.1f}" y="{_HEIGHT / 2 - 1.5}" width="{thin:.1f}" height="3"/>'
        inside += _arrow(colour, -1) if one.low < -far else ""
        inside += _arrow(colour, 1) if one.high > far else ""
        if abs(one.point) <= far:
            inside += f'<circle class="{colour}" cx="{ends[1]:.1f}" cy="{_HEIGHT / 2}" r="4.5"/>'
        said = f"{label}: {one.point:+.3g} ({one.low:+.3g} to {one.high:+.3g}) as a share; above 0 is better for B"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{text(said)}">{zero}{inside}</svg>'


def _arrow(colour: str, side: int) -> str:
    """The mark of what goes on beyond the axis."""
    tip, foot, y = (_WIDTH - 1, _WIDTH - 8, _HEIGHT / 2) if side > 0 else (1, 8, _HEIGHT / 2)
    return f'<polygon class="{colour}" points="{tip},{y} {foot},{y - 5} {foot},{y + 5}"/>'


def _said(row: Compared) -> str:
    could = detectable(row)
    return f"<strong>{text(row.label)}</strong>: {text(row.sentence)}{text(f'; {could}' if could else '')}."


def _changed(row: Compared) -> str:
    counts = row.outcomes
    if counts is None or not (counts.lost or counts.won):
        return ""
    neither = row.output.direction is Direction.NEITHER
    lots = [("lower" if neither else "worse", counts.losses, counts.lost)]
    lots += [("higher" if neither else "better", counts.wins, counts.won)]
    inside = "".join(_flips(word, n, flips) for word, n, flips in lots if flips)
    summary = f"{row.label}: {counts.losses} {lots[0][0]}, {counts.wins} {lots[1][0]}, {counts.ties} the same"
    return f"<details><summary>{text(summary)}</summary>{inside}</details>\n"


def _flips(word: str, n: int, flips: Sequence[Flip]) -> str:
    more = f" (the first {len(flips)} of {n})" if n > len(flips) else ""
    columns = [Column(f"{word} in B{more}", sortable=False), Column("A", numeric=True), Column("B", numeric=True)]
    rows = [[Cell(foreign(flip.item), flip.item), _side(flip.a), _side(flip.b)] for flip in flips]
    return table(columns, rows, name=f"items that are {word} in B")


def _side(value: float | str) -> Cell:
    return words(value) if isinstance(value, str) else figure_cell(value)


def _signatures(found: Comparison) -> list[str]:
    return [text(sign) for sign in dict.fromkeys(sign for row in found.rows for sign in row.signatures)]
