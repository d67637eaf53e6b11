"""Do raters agree, does a judge agree with people? Coefficients with intervals over clusters, or reasons for none.

`pair_agreement` compares a rater with a reference on an ordered scale, `label_agreement` where they give names,
`rater_agreement` any number of raters who each rated some of the items. Formulas stand in coefficients.py, what to
make of them in docs/agreement.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from turnwise.stats.coefficients import Cells, Coincidences, IntArray, mean_quadratic_kappa, quadratic_kappa
from turnwise.stats.counted import NO_PAIR, Clustered, Entries, Statistic, missing
from turnwise.stats.leave_one_out import BoolArray, FloatArray

__all__ = ["Confusion", "LabelAgreement", "PairAgreement", "RaterAgreement", "Statistic"]
__all__ += ["label_agreement", "pair_agreement", "rater_agreement"]

SEED = 20240229
UNIT = (0.0, 1.0)
COEFFICIENT = (-1.0, 1.0)

ONE_CATEGORY = "all ratings are the same, so there is no disagreement to expect"
CONSTANT = "one side gave the same rating to all items, so there is no order to compare"
NO_SCALE = "the ends of the scale are not known"


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each pair occurred: a row for each rating, a column for each reference, in the order of categories."""

    categories: tuple[float, ...] | tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """A rater and a reference on an ordered scale."""

    pairs: int
    left_out: int
    """Items without a rating on at least one side."""
    clusters: int
    exact: Statistic
    within_one: Statistic
    kappa: Statistic
    weighted_kappa: Statistic
    alpha: Statistic
    spearman: Statistic
    bias: Statistic
    """Mean of rating - reference."""
    ceiling: Statistic
    """Share of the ratings at the top of the scale."""
    reference_ceiling: Statistic
    confusion: Confusion


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """A rater and a reference who give names."""

    pairs: int
    left_out: int
    clusters: int
    exact: Statistic
    kappa: Statistic
    alpha: Statistic
    """Nominal."""
    confusion: Confusion


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Several raters on an ordered scale."""

    raters: int
    items: int
    """With at least two ratings; the others say nothing about agreement."""
    left_out: int
    ratings: int
    """Of those items."""
    clusters: int
    alpha: Statistic
    weighted_kappa: Statistic
    """The mean over the pairs of raters for whom there is one."""


def pair_agreement(
    ratings: Sequence[float | None],
    reference: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    scale: tuple[float, float] | None = None,
    step: float = 1.0,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> PairAgreement:
    """Compare the ratings of the same items by a rater (a judge) and a reference (people).

    Args:
        ratings: one per item; None where there is none, which leaves the item out and counts it.
        reference: of the same items.
        clusters: what each item belongs to; where not given, every item is its own cluster.
        scale: lowest and highest possible rating.
        step: how far apart "within one" may be.
        resamples: of the bootstrap, from 50 clusters on (docs/intervals.md).
        seed: of the bootstrap.
        level: confidence.
    """
    _check_lengths(ratings, reference)
    given = np.stack([_numbers(ratings, scale), _numbers(reference, scale)])
    kept, groups = _with_two(~np.isnan(given), clusters)
    x, y = given[:, kept]
    marks = _categories(given[:, kept], scale)
    codes = np.searchsorted(marks, given[:, kept])
    found = Clustered(len(x), groups, resamples, seed, level)
    cells, counted = _cells(codes[0], codes[1], len(marks))
    span = (None, None) if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    tops = [missing(NO_SCALE) if scale is None else found.mean(side >= scale[1], UNIT) for side in (x, y)]
    return PairAgreement(
        pairs=len(x),
        left_out=given.shape[1] - len(x),
        clusters=found.clusters,
        exact=found.mean(x == y, UNIT),
        within_one=found.mean(np.abs(x - y) <= step + 1e-9, UNIT),
        kappa=found.of_entries(counted, cells.kappa, COEFFICIENT, ONE_CATEGORY),
        weighted_kappa=found.of_rows(_moments(x, y), quadratic_kappa, COEFFICIENT, ONE_CATEGORY),
        alpha=_alpha(found, codes, len(marks), ordinal=True),
        spearman=found.of_entries(counted, cells.spearman, COEFFICIENT, CONSTANT),
        bias=found.mean(x - y, span),
        ceiling=tops[0],
        reference_ceiling=tops[1],
        confusion=Confusion(tuple(marks.tolist()), _table(codes, len(marks))),
    )


def label_agreement(
    labels: Sequence[str | None],
    reference: Sequence[str | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> LabelAgreement:
    """Compare the names that a rater and a reference gave to the same items; arguments as in `pair_agreement`."""
    _check_lengths(labels, reference)
    names = sorted({name for side in (labels, reference) for name in side if name is not None})
    number = {name: i for i, name in enumerate(names)} | {None: -1}
    given = np.array([[number[name] for name in side] for side in (labels, reference)], dtype=np.int64).reshape(2, -1)
    kept, groups = _with_two(given >= 0, clusters)
    codes = given[:, kept]
    found = Clustered(codes.shape[1], groups, resamples, seed, level)
    cells, counted = _cells(codes[0], codes[1], len(names))
    return LabelAgreement(
        pairs=codes.shape[1],
        left_out=given.shape[1] - codes.shape[1],
        clusters=found.clusters,
        exact=found.mean(codes[0] == codes[1], UNIT),
        kappa=found.of_entries(counted, cells.kappa, COEFFICIENT, ONE_CATEGORY),
        alpha=_alpha(found, codes, len(names), ordinal=False),
        confusion=Confusion(tuple(names), _table(codes, len(names))),
    )


def rater_agreement(
    ratings: Sequence[Sequence[float | None]],
    clusters: Sequence[Hashable] | None = None,
    *,
    scale: tuple[float, float] | None = None,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> RaterAgreement:
    """Say how well any number of raters agree: one row of ratings each, None for an item that a rater did not rate.

    The other arguments are those of `pair_agreement`.
    """
    if len({len(row) for row in ratings}) > 1:
        raise ValueError(f"every rater needs a place for every item, got {[len(row) for row in ratings]}")
    n = len(ratings[0]) if ratings else 0
    given = np.array([_numbers(row, scale) for row in ratings]).reshape(len(ratings), n)
    kept, groups = _with_two(~np.isnan(given), clusters)
    chosen = given[:, kept]
    there = ~np.isnan(chosen)
    marks = np.unique(chosen[there])
    codes = np.where(there, np.searchsorted(marks, chosen), -1)
    found = Clustered(chosen.shape[1], groups, resamples, seed, level)
    moments = [_moments(chosen[r], chosen[s]) for r, s in combinations(range(len(chosen)), 2)]
    if moments:
        rows = np.concatenate(moments, axis=1)
        kappa = found.of_rows(rows, mean_quadratic_kappa, COEFFICIENT, ONE_CATEGORY)
    else:
        kappa = missing(NO_PAIR)
    return RaterAgreement(
        raters=len(ratings),
        items=found.items,
        left_out=n - found.items,
        ratings=int(there.sum()),
        clusters=found.clusters,
        alpha=_alpha(found, codes, len(marks), ordinal=True),
        weighted_kappa=kappa,
    )


def _numbers(ratings: Sequence[float | None], scale: tuple[float, float] | None) -> FloatArray:
    """The ratings with NaN for what is missing; whatever lies outside the scale is refused."""
    numbers = np.array([np.nan if rating is None else rating for rating in ratings], dtype=np.float64)
    low, high = (-np.inf, np.inf) if scale is None else scale
    wrong = np.flatnonzero((numbers < low) | (numbers > high) | np.isinf(numbers))
    if len(wrong):
        raise ValueError(f"rating {numbers[wrong[0]]} of item {wrong[0]} is outside the scale {low} to {high}")
    return numbers


def _check_lengths(first: Sequence[object], second: Sequence[object]) -> None:
    if len(first) != len(second):
        raise ValueError(f"needs both ratings of the same items, got {len(first)} and {len(second)}")


def _with_two(there: BoolArray, clusters: Sequence[Hashable] | None) -> tuple[IntArray, list[Hashable] | None]:
    """Positions of the items with at least two ratings, and their clusters."""
    if clusters is not None and len(clusters) != there.shape[1]:
        raise ValueError(f"needs a cluster for each item, got {len(clusters)} for {there.shape[1]}")
    kept = np.flatnonzero(there.sum(axis=0) >= 2)
    return kept, None if clusters is None else [clusters[i] for i in kept.tolist()]


def _categories(ratings: FloatArray, scale: tuple[float, float] | None) -> FloatArray:
    """The ratings that occur; with a scale of whole numbers, and no other rating, all of its points."""
    marks = np.unique(ratings)
    if scale is None or scale[1] - scale[0] > 20 or not (np.append(marks, scale) % 1 == 0).all():
        return marks
    return np.arange(scale[0], scale[1] + 1, dtype=np.float64)


def _cells(x: IntArray, y: IntArray, categories: int) -> tuple[Cells, Entries]:
    """The kinds of pairs that occur, and what each item adds: one to its kind, and one to the number of pairs."""
    kinds, kind = np.unique(x * categories + y, return_inverse=True)
    n, width = len(x), len(kinds) + 1
    column = np.concatenate([kind, np.full(n, width - 1)])
    entries = Entries(np.tile(np.arange(n), 2), column, np.ones(2 * n), width)
    return Cells(kinds // max(1, categories), kinds % max(1, categories), categories), entries


def _alpha(found: Clustered, codes: IntArray, categories: int, *, ordinal: bool) -> Statistic:
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


def _moments(x: FloatArray, y: FloatArray) -> FloatArray:
    """What each item adds to (n, sum x, sum y, sum x^2, sum y^2, sum xy), from their middle; 0 where one is missing."""
    both = ~(np.isnan(x) | np.isnan(y))
    middle = float(np.mean([x[both], y[both]])) if both.any() else 0.0
    u, v = np.where(both, x - middle, 0.0), np.where(both, y - middle, 0.0)
    return np.column_stack([both.astype(np.float64), u, v, u * u, v * v, u * v])


def _table(codes: IntArray, categories: int) -> tuple[tuple[int, ...], ...]:
    counts = np.bincount(codes[0] * categories + codes[1], minlength=categories**2).reshape(categories, categories)
    return tuple(tuple(row) for row in counts.tolist())
