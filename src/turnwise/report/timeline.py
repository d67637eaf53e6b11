"""The arithmetic that every picture of a conversation shares: rows, levels, the ticks of the axis, how a time is told.

A long conversation is broken into systems, as sheet music is: a tenth of a second has to stay visible. What is in a
row, and how it is drawn, is not decided here. All times are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, isfinite
from typing import NamedTuple

from turnwise.kernel.spans import Span

_LENGTHS = (0.5, 1, 2, 5, 10, 15, 20, 30, 40)
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_STRETCH = 1.25
"""A conversation a little too long for one system is squeezed into it rather than left with a stub."""


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


def broken_into_systems(spans: Sequence[Span], seconds: float | None, longest: float) -> list[System]:
    """The rows of a picture, all of one scale; those in which nothing happens are joined.

    Args:
        spans: from when to when something is drawn.
        seconds: the length of the conversation, if it is known; what lies outside makes the picture longer.
        longest: seconds that a row may show, about.
    """
    moments = [0.0, seconds or 0.0, *(moment for span in spans for moment in span if isfinite(moment))]
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


def levels(spans: Sequence[Span], gap: float) -> list[int]:
    """A level for each span, the lowest on which it keeps the gap to those before it."""
    ends: list[float] = []
    found = [0] * len(spans)
    for n in sorted(range(len(spans)), key=spans.__getitem__):
        left, right = spans[n]
        found[n] = next((level for level, end in enumerate(ends) if left - end >= gap), len(ends))
        ends[found[n] : found[n] + 1] = [right]
    return found


def count(found: Iterable[int]) -> int:
    """How many levels there are, among those that were given."""
    return max(found, default=-1) + 1


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


def quiet_words(system: System, total: float) -> str:
    """What stands in place of a row in which nothing happens."""
    start, end = (clock(round(moment, 2), total) for moment in (system.start, system.end))
    return f"{start} to {end}: nobody speaks"
