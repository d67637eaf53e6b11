"""What each item adds to the counts that coefficients of agreement are made of.

Ratings become arrays (NaN, or -1 for a code, where one is missing) and entries of counts; the coefficients themselves
are in coefficients.py, what is offered to callers in agreement.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np

from turnwise.stats.coefficients import Cells, Coincidences, IntArray, SeveralCells
from turnwise.stats.counted import NO_PAIR, Clustered, Entries, Statistic, missing
from turnwise.stats.leave_one_out import BoolArray, FloatArray

UNIT = (0.0, 1.0)
COEFFICIENT = (-1.0, 1.0)

ONE_CATEGORY = "all ratings are the same, so there is no disagreement to expect"
CONSTANT = "one side gave the same rating to all items, so there is no order to compare"
NO_SCALE = "the ends of the scale are not known"


def numbers(ratings: Sequence[float | None], scale: tuple[float, float] | None) -> FloatArray:
    """The ratings with NaN for what is missing; whatever lies outside the scale is refused."""
    numbers = np.array([np.nan if rating is None else rating for rating in ratings], dtype=np.float64)
    low, high = (-np.inf, np.inf) if scale is None else scale
    wrong = np.flatnonzero((numbers < low) | (numbers > high) | np.isinf(numbers))
    if len(wrong):
        raise ValueError(f"rating {numbers[wrong[0]]} of item {wrong[0]} is outside the scale {low} to {high}")
    return numbers


def label_codes(rows: Sequence[Sequence[str | None]]) -> tuple[list[str], IntArray]:
    """All names in order, and each rater's row as positions among them (raters, items), -1 for what is missing."""
    names = sorted({name for row in rows for name in row if name is not None})
    number = {name: i for i, name in enumerate(names)} | {None: -1}
    items = len(rows[0]) if rows else 0
    codes = np.array([[number[name] for name in row] for row in rows], dtype=np.int64)
    return names, codes.reshape(len(rows), items)


def check_lengths(first: Sequence[object], second: Sequence[object]) -> None:
    """Refuse two lists of ratings that cannot be of the same items."""
    if len(first) != len(second):
        raise ValueError(f"needs both ratings of the same items, got {len(first)} and {len(second)}")


def with_two(there: BoolArray, clusters: Sequence[Hashable] | None) -> tuple[IntArray, list[Hashable] | None]:
    """Positions of the items with at least two ratings, and their clusters."""
    if clusters is not None and len(clusters) != there.shape[1]:
        raise ValueError(f"needs a cluster for each item, got {len(clusters)} for {there.shape[1]}")
    kept = np.flatnonzero(there.sum(axis=0) >= 2)
    return kept, None if clusters is None else [clusters[i] for i in kept.tolist()]


def points(ratings: FloatArray, scale: tuple[float, float] | None) -> FloatArray:
    """The ratings that occur; with a scale of whole numbers, and no other rating, all of its points."""
    marks = np.unique(ratings)
    if scale is None or scale[1] - scale[0] > 20 or not (np.append(marks, scale) % 1 == 0).all():
        return marks
    return np.arange(scale[0], scale[1] + 1, dtype=np.float64)


def cells(x: IntArray, y: IntArray, categories: int) -> tuple[Cells, Entries]:
    """The kinds of pairs that occur, and what each item adds: one to its kind, and one to the number of pairs."""
    kinds, kind = np.unique(x * categories + y, return_inverse=True)
    n, width = len(x), len(kinds) + 1
    column = np.concatenate([kind, np.full(n, width - 1)])
    entries = Entries(np.tile(np.arange(n), 2), column, np.ones(2 * n), width)
    return Cells(kinds // max(1, categories), kinds % max(1, categories), categories), entries


def mean_kappa(found: Clustered, pairs: Sequence[tuple[IntArray, IntArray]], categories: int) -> Statistic:
    """The mean of Cohen's kappas of pairs of raters, each over the items that both rated (codes; -1: not rated)."""
    each: list[Cells] = []
    item, column, weight, width = [], [], [], 0
    for first, second in pairs:
        both = np.flatnonzero((first >= 0) & (second >= 0))
        own, counted = cells(first[both], second[both], categories)
        each.append(own)
        item.append(both[counted.item])
        column.append(counted.column + width)
        weight.append(counted.weight)
        width += counted.width
    if not any(map(len, item)):
        return missing(NO_PAIR)
    entries = Entries(np.concatenate(item), np.concatenate(column), np.concatenate(weight), width)
    return found.of_entries(entries, SeveralCells(tuple(each)).mean_kappa, COEFFICIENT, ONE_CATEGORY)


def alpha(found: Clustered, codes: IntArray, categories: int, *, ordinal: bool) -> Statistic:
    """Krippendorff's alpha of codes (raters, items), -1 where a rating is missing."""
    there = codes >= 0
    item, kind, weight = [], [], []
    for r, s in combinations(range(len(codes)), 2):
        apart = np.flatnonzero(there[r] & there[s] & (codes[r] != codes[s]))
        low, high = np.minimum(codes[r, apart], codes[s, apart]), np.maximum(codes[r, apart], codes[s, apart])
        item.append(apart)
        kind.append(low * categories + high)
        weight.append(1.0 / (there[:, apart].sum(axis=0) - 1))
    empty = np.zeros(0, dtype=np.int64)
    kinds, pair = np.unique(np.concatenate([empty, *kind]), return_inverse=True)
    by_item, who = np.nonzero(there.T)
    use = len(kinds) + codes[who, by_item]
    ones, width = np.ones(len(by_item)), len(kinds) + categories + 1
    entries = Entries(
        np.concatenate([empty, *item, by_item, by_item]),
        np.concatenate([pair, use, np.full(len(by_item), width - 1)]),
        np.concatenate([np.zeros(0), *weight, ones, ones]),
        width,
    )
    pairs = Coincidences(kinds // max(1, categories), kinds % max(1, categories), categories, ordinal)
    return found.of_entries(entries, pairs.alpha, COEFFICIENT, ONE_CATEGORY)


def moments(x: FloatArray, y: FloatArray) -> FloatArray:
    """What each item adds to (n, sum x, sum y, sum x^2, sum y^2, sum xy), from their middle; 0 where one is missing."""
    both = ~(np.isnan(x) | np.isnan(y))
    middle = float(np.mean([x[both], y[both]])) if both.any() else 0.0
    u, v = np.where(both, x - middle, 0.0), np.where(both, y - middle, 0.0)
    return np.column_stack([both.astype(np.float64), u, v, u * u, v * v, u * v])


def table(codes: IntArray, categories: int) -> tuple[tuple[int, ...], ...]:
    """How often each pair of codes (2, items) occurs."""
    counts = np.bincount(codes[0] * categories + codes[1], minlength=categories**2).reshape(categories, categories)
    return tuple(tuple(row) for row in counts.tolist())
