"""Stretches of time as (start, end): put together, and where two sets of them overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[float, float]


def merged_spans(spans: Iterable[Span], gap: float = 0.0) -> list[Span]:
    """Spans in order; those no more than `gap` apart become one.

    >>> merged_spans([(3, 4), (0, 1), (1, 2)])
    [(0, 2), (3, 4)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def common_spans(these: Sequence[Span], those: Sequence[Span]) -> list[Span]:
    """Where both are; each in order and without overlaps of its own.

    >>> common_spans([(0, 2), (4, 6)], [(1, 5)])
    [(1, 2), (4, 5)]
    """
    found = []
    i = j = 0
    while i < len(these) and j < len(those):
        start, end = max(these[i][0], those[j][0]), min(these[i][1], those[j][1])
        if end > start:
            found.append((start, end))
        if these[i][1] < those[j][1]:
            i += 1
        else:
            j += 1
    return found


def length(spans: Iterable[Span]) -> float:
    """How long they are together."""
    return sum(end - start for start, end in spans)
