"""Differences as a small forest plot of characters: a point and its interval on an axis that all rows share.

The axis counts shares of a metric's range, or of A's value where the range has no end; right is better for B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turnwise.comparison.compared import Compared
from turnwise.kernel.metric import Direction

WIDTH = 25
"""Characters; odd, so that 0 has one of its own."""
UNICODE = ("─", "●", "│", "◂", "▸")
ASCII = ("-", "o", "|", "<", ">")


@dataclass(frozen=True, slots=True)
class Span:
    """A difference on the common axis; None where there is none."""

    low: float
    point: float
    high: float
    bounded: bool
    """Whether it is a share of a range with two ends."""
    known: bool = True
    """Whether there is an interval."""


def span(row: Compared) -> Span | None:
    """Difference and interval as shares, so that more is better for B."""
    gap = row.difference
    if gap.difference is None:
        return None
    low, high = (gap.difference if end is None else end for end in (gap.interval.low, gap.interval.high))
    bottom, top = row.output.range
    bounded = bottom is not None and top is not None and not row.rollup.is_sum
    if bottom is not None and top is not None and bounded:
        width = top - bottom
    else:
        width = abs(gap.a or 0.0) or max(abs(low), abs(high))
    if width <= 0.0:
        return Span(0.0, 0.0, 0.0, bounded, gap.interval.low is not None)
    ends = low / width, gap.difference / width, high / width
    if row.output.direction is Direction.LOWER:
        ends = -ends[2], -ends[1], -ends[0]
    return Span(*ends, bounded, gap.interval.low is not None)


def reach(spans: Sequence[Span | None]) -> float:
    """How far the axis goes to either side: as far as the intervals of bounded metrics do."""
    known = [one for one in spans if one is not None and one.known]
    ends = [max(abs(one.low), abs(one.high)) for one in known if one.bounded]
    ends = ends or [max(abs(one.low), abs(one.high)) for one in known]
    return max(ends, default=0.0) or 1.0


def bar(one: Span | None, far: float, *, unicode: bool = True, width: int = WIDTH) -> str:
    """One row of the plot; an arrow where it goes on beyond the axis."""
    line, point, zero, left, right = UNICODE if unicode else ASCII
    cells = [" "] * width
    middle = width // 2
    cells[middle] = zero
    if one is None:
        return "".join(cells)

    def place(share: float) -> int:
        return middle + round(share / far * middle)

    first, at, last = place(one.low), place(one.point), place(one.high)
    for i in range(max(0, first), min(width - 1, last) + 1):
        cells[i] = line if i != middle or first == last else zero
    if 0 <= at < width:
        cells[at] = point
    if first < 0:
        cells[0] = left
    if last >= width:
        cells[-1] = right
    return "".join(cells)


def axis_words(far: float) -> str:
    """What the plot shows, in words."""
    return (
        f"plot: B worse left, better right of |; half of its width is {far:.3g} of a metric's range (or of A's value)"
    )
