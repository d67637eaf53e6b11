"""Which items of A have a partner in B, for one output of one metric; what has none is counted with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from turnwise.comparison.sides import Side
from turnwise.kernel.rollup import BoolArray, IntArray, Reduction, Rollup
from turnwise.report.series import Series

ABSENT = "no such item"
NOT_MEASURED = "no score"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who is compared with whom."""

    paired: bool
    """Whether any item of one side is an item of the other, too."""
    a: BoolArray
    """The items of A that count, by place: those with a partner, or all that are scored where nothing pairs up."""
    b: BoolArray
    n_only_a: int = 0
    """Scored in A, and not in B."""
    n_only_b: int = 0
    why_only_a: dict[str, int] = field(default_factory=dict)
    """Why B has no score where A has one."""
    why_only_b: dict[str, int] = field(default_factory=dict)
    n_neither: int = 0
    """Items of both that are scored in neither."""
    why_neither: dict[str, int] = field(default_factory=dict)
    """Why not, in the words of B."""

    @property
    def n_paired(self) -> int:
        """Items scored on both sides."""
        return int(self.a.sum()) if self.paired else 0


def pair_items(a: Side, b: Side, first: Series, second: Series, *, trials: int = 1, unpaired: bool = False) -> Pairing:
    """Pair the items of two series; `trials` is how many scores of an item its roll-up takes at least."""
    n = len(a.universe)
    scored = [_count(series, series.columns.reasons.codes < 0, n) >= trials for series in (first, second)]
    known = [_count(series, np.ones(len(series.columns.items), dtype=bool), n) > 0 for series in (first, second)]
    if unpaired or not (known[0] & known[1]).any():
        return Pairing(False, scored[0], scored[1])
    both = scored[0] & scored[1]
    only = scored[0] & ~both, scored[1] & ~both
    neither = known[0] & known[1] & ~scored[0] & ~scored[1]
    return Pairing(
        True,
        both,
        both,
        int(only[0].sum()),
        int(only[1].sum()),
        _why(np.flatnonzero(only[0]), second, b, trials),
        _why(np.flatnonzero(only[1]), first, a, trials),
        int(neither.sum()),
        _why(np.flatnonzero(neither), second, b, trials),
    )


def same_repeats(first: Series, second: Series) -> tuple[Series, Series]:
    """Only repeats that both have scored, for percentiles, which go row by row."""
    size = 1 + int(max(first.columns.repeats.max(initial=0), second.columns.repeats.max(initial=0)))
    codes = [_scored_rows(series, size) for series in (first, second)]
    found = []
    for series, other in zip((first, second), reversed(codes), strict=True):
        own = series.columns.items * size + series.columns.repeats
        columns = series.columns.only(np.isin(own, other))
        found.append(replace(series, columns=columns, positions=columns.items))
    return found[0], found[1]


def goes_by_rows(rollup: Rollup) -> bool:
    """Whether it is a percentile."""
    return rollup.steps[-1].reduction is Reduction.PERCENTILE


def joined(pairings: Sequence[Pairing]) -> Pairing:
    """Of a number that is made of several series: an item counts that counts in one of them."""
    first = pairings[0]
    return Pairing(
        all(one.paired for one in pairings),
        np.logical_or.reduce([one.a for one in pairings]),
        np.logical_or.reduce([one.b for one in pairings]),
        max(one.n_only_a for one in pairings),
        max(one.n_only_b for one in pairings),
        first.why_only_a,
        first.why_only_b,
        max(one.n_neither for one in pairings),
        first.why_neither,
    )


def _scored_rows(series: Series, size: int) -> IntArray:
    scored = series.columns.reasons.codes < 0
    return np.asarray(series.columns.items[scored] * size + series.columns.repeats[scored], dtype=np.int64)


def _count(series: Series, which: BoolArray, n: int) -> IntArray:
    return np.bincount(series.columns.items[which], minlength=n).astype(np.int64)


def _why(places: IntArray, other: Series, side: Side, trials: int) -> dict[str, int]:
    """Why the other side has no score (or too few) of some items."""
    columns = other.columns
    first: dict[int, int] = {}
    for at in np.flatnonzero(np.isin(columns.items, places)).tolist():
        first.setdefault(int(columns.items[at]), at)
    found: dict[str, int] = {}
    for place in places.tolist():
        row = first.get(place)
        if row is None:
            reason = NOT_MEASURED if side.has[place] else ABSENT
        else:
            code = int(columns.reasons.codes[row])
            reason = columns.reasons.names[code] if code >= 0 else f"fewer than {trials} trials"
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
