"""Where a series of version means changed its level: binary segmentation of values with known standard errors.

Made for short series (versions, weekly runs), whose errors are known from the items, so that even a change between
two points can be judged. Formulas and limits stand in docs/comparison.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.randomisation import BLOCK, DRAWS, SEED

SCATTER_STEPS = 8
"""From so many steps between neighbours on, scatter beyond the standard errors can be told from chance."""
# The median of a squared standard normal number.
MEDIAN_SQUARE = 0.454936


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The level changed between the version before `index` and this one."""

    index: int
    """Position of the first version of the new level, in the series as given."""
    before: float
    after: float
    """The level of the versions up to the neighbouring change points, weighted by 1 / error^2."""
    error: float
    """Standard error of after - before."""
    p: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Changes:
    """What was found in a series."""

    points: tuple[ChangePoint, ...]
    """In the order of the series."""
    left_out: tuple[int, ...] = ()
    """Positions without a value or without an error."""
    scatter: float = 1.0
    """Factor by which errors were widened because neighbours scatter more than the errors say."""
    reason: str | None = None
    """Why nothing could be tested."""


def change_points(
    values: Sequence[float | None],
    errors: Sequence[float | None],
    *,
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Changes:
    """Split the series where its two sides differ most, as long as chance would rarely differ as much.

    For a split after t versions, Z_t = (mean after - mean before) / sqrt(1/W_before + 1/W_after), with weights
    w_i = 1 / error_i^2 and their sums W. The largest |Z_t| is compared with the largest of series that have one level
    and the same errors, p = (1 + hits) / (1 + draws); where p <= alpha both sides are searched again (Scott and Knott
    1974). A series without any change is so split with a chance of at most alpha. From eight steps on, errors are
    widened by sqrt(median of step^2 / (error_i^2 + error_(i+1)^2) / 0.455) where that is above 1: a series that
    scatters more than its errors say has other causes than the choice of items. An error of 0 is replaced by the
    largest one of the series.

    Args:
        values: in order of time; None where a version has none.
        errors: their standard errors.
        alpha: chance of a false alarm in a series without a change.
        draws: simulated series.
        seed: of these.
    """
    if len(values) != len(errors):
        raise ValueError(f"needs an error for each value, got {len(errors)} for {len(values)}")
    if any(e is not None and isfinite(e) and e < 0 for e in errors):
        raise ValueError(f"standard errors cannot be negative, got {[e for e in errors if e is not None and e < 0]}")
    pairs = [(v, e) for v, e in zip(values, errors, strict=True)]
    kept = [i for i, (v, e) in enumerate(pairs) if v is not None and e is not None and isfinite(v) and isfinite(e)]
    left_out = tuple(i for i in range(len(pairs)) if i not in set(kept))
    if len(kept) < 2:
        return Changes((), left_out, reason=f"{len(kept)} versions with a value and an error: at least 2 are needed")
    y = np.array([pairs[i][0] for i in kept], dtype=np.float64)
    e = np.array([pairs[i][1] for i in kept], dtype=np.float64)
    if not e.any():
        return Changes((), left_out, reason="all standard errors are 0: nothing says what chance would do")
    e = np.where(e > 0, e, e.max())
    scatter = _scatter(y, e)
    e *= scatter
    splits = _splits(y, e, 0, alpha, draws, np.random.default_rng(seed))
    found = _levels(y, e, sorted(splits))
    points = [ChangePoint(kept[at], before, after, error, p) for at, before, after, error, p in found]
    return Changes(tuple(points), left_out, scatter)


def _scatter(y: FloatArray, e: FloatArray) -> float:
    """How much more neighbours differ than their errors say, at least 1; a change of level is one step of many."""
    if len(y) - 1 < SCATTER_STEPS:
        return 1.0
    squares = np.diff(y) ** 2 / (e[1:] ** 2 + e[:-1] ** 2)
    return max(1.0, float(np.sqrt(np.median(squares) / MEDIAN_SQUARE)))


def _splits(
    y: FloatArray, e: FloatArray, offset: int, alpha: float, draws: int, random: np.random.Generator
) -> list[tuple[int, float]]:
    """The positions (of the first version after) and p-values of all splits of this stretch."""
    if len(y) < 2:
        return []
    z = _contrasts((y - y.mean())[None], e)[0]
    at = int(z.argmax()) + 1
    hits, size = 0, max(1, BLOCK // len(y))
    for start in range(0, draws, size):
        noise = random.standard_normal((min(size, draws - start), len(y))) * e
        hits += int((_contrasts(noise, e).max(axis=1) >= z.max()).sum())
    p = (1 + hits) / (1 + draws)
    if p > alpha:
        return []
    left = _splits(y[:at], e[:at], offset, alpha, draws, random)
    right = _splits(y[at:], e[at:], offset + at, alpha, draws, random)
    return [*left, (offset + at, p), *right]


def _contrasts(series: FloatArray, e: FloatArray) -> FloatArray:
    """|Z_t| of every split of each series (b, n) -> (b, n - 1)."""
    w = 1 / e**2
    sums, weights = np.cumsum(series * w, axis=1), np.cumsum(w)
    before, after = weights[:-1], weights[-1] - weights[:-1]
    gap = (sums[:, -1:] - sums[:, :-1]) / after - sums[:, :-1] / before
    return np.asarray(np.abs(gap) / np.sqrt(1 / before + 1 / after), dtype=np.float64)


def _levels(
    y: FloatArray, e: FloatArray, splits: list[tuple[int, float]]
) -> list[tuple[int, float, float, float, float]]:
    """Each split with the levels of the stretches on its two sides and the error of their difference."""
    edges = [0, *(at for at, _ in splits), len(y)]
    w = 1 / e**2
    weights = [float(w[a:b].sum()) for a, b in pairwise(edges)]
    means = [float((w[a:b] * y[a:b]).sum()) / total for (a, b), total in zip(pairwise(edges), weights, strict=True)]
    return [
        (at, means[i], means[i + 1], float(np.sqrt(1 / weights[i] + 1 / weights[i + 1])), p)
        for i, (at, p) in enumerate(splits)
    ]
