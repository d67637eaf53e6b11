"""Do raters agree, does a judge agree with people? Coefficients with intervals over clusters, or reasons for none.

`pair_agreement` compares a rater with a reference on an ordered scale, `label_agreement` where they give names,
`rater_agreement` any number of raters who each rated some of the items, `label_rater_agreement` the same for names, and
`kappa_with_each` one rater with each of several others. Formulas stand in coefficients.py, what to make of them in
docs/agreement.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from turnwise.stats import tallies
from turnwise.stats.coefficients import mean_quadratic_kappa, quadratic_kappa
from turnwise.stats.counted import NO_PAIR, Clustered, Statistic, missing

__all__ = ["Confusion", "LabelAgreement", "PairAgreement", "RaterAgreement", "Statistic"]
__all__ += ["label_agreement", "label_rater_agreement", "pair_agreement", "rater_agreement"]
__all__ += ["kappa_with_each", "label_kappa_with_each"]

SEED = 20240229


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


@dataclass(frozen=True, slots=True)
class LabelRaterAgreement:
    """Several raters who give names."""

    raters: int
    items: int
    """With at least two ratings."""
    left_out: int
    ratings: int
    clusters: int
    alpha: Statistic
    """Nominal."""
    kappa: Statistic
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
    tallies.check_lengths(ratings, reference)
    given = np.stack([tallies.numbers(ratings, scale), tallies.numbers(reference, scale)])
    kept, groups = tallies.with_two(~np.isnan(given), clusters)
    x, y = given[:, kept]
    marks = tallies.points(given[:, kept], scale)
    codes = np.searchsorted(marks, given[:, kept])
    found = Clustered(len(x), groups, resamples, seed, level)
    cells, counted = tallies.cells(codes[0], codes[1], len(marks))
    span = (None, None) if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    tops = [
        missing(tallies.NO_SCALE) if scale is None else found.mean(side >= scale[1], tallies.UNIT) for side in (x, y)
    ]
    return PairAgreement(
        pairs=len(x),
        left_out=given.shape[1] - len(x),
        clusters=found.clusters,
        exact=found.mean(x == y, tallies.UNIT),
        within_one=found.mean(np.abs(x - y) <= step + 1e-9, tallies.UNIT),
        kappa=found.of_entries(counted, cells.kappa, tallies.COEFFICIENT, tallies.ONE_CATEGORY),
        weighted_kappa=found.of_rows(tallies.moments(x, y), quadratic_kappa, tallies.COEFFICIENT, tallies.ONE_CATEGORY),
        alpha=tallies.alpha(found, codes, len(marks), ordinal=True),
        spearman=found.of_entries(counted, cells.spearman, tallies.COEFFICIENT, tallies.CONSTANT),
        bias=found.mean(x - y, span),
        ceiling=tops[0],
        reference_ceiling=tops[1],
        confusion=Confusion(tuple(marks.tolist()), tallies.table(codes, len(marks))),
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
    tallies.check_lengths(labels, reference)
    names, given = tallies.label_codes([labels, reference])
    kept, groups = tallies.with_two(given >= 0, clusters)
    codes = given[:, kept]
    found = Clustered(codes.shape[1], groups, resamples, seed, level)
    cells, counted = tallies.cells(codes[0], codes[1], len(names))
    return LabelAgreement(
        pairs=codes.shape[1],
        left_out=given.shape[1] - codes.shape[1],
        clusters=found.clusters,
        exact=found.mean(codes[0] == codes[1], tallies.UNIT),
        kappa=found.of_entries(counted, cells.kappa, tallies.COEFFICIENT, tallies.ONE_CATEGORY),
        alpha=tallies.alpha(found, codes, len(names), ordinal=False),
        confusion=Confusion(tuple(names), tallies.table(codes, len(names))),
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
    _check_rows(ratings)
    n = len(ratings[0]) if ratings else 0
    given = np.array([tallies.numbers(row, scale) for row in ratings]).reshape(len(ratings), n)
    kept, groups = tallies.with_two(~np.isnan(given), clusters)
    chosen = given[:, kept]
    there = ~np.isnan(chosen)
    marks = np.unique(chosen[there])
    codes = np.where(there, np.searchsorted(marks, chosen), -1)
    found = Clustered(chosen.shape[1], groups, resamples, seed, level)
    moments = [tallies.moments(chosen[r], chosen[s]) for r, s in combinations(range(len(chosen)), 2)]
    if moments:
        rows = np.concatenate(moments, axis=1)
        kappa = found.of_rows(rows, mean_quadratic_kappa, tallies.COEFFICIENT, tallies.ONE_CATEGORY)
    else:
        kappa = missing(NO_PAIR)
    return RaterAgreement(
        raters=len(ratings),
        items=found.items,
        left_out=n - found.items,
        ratings=int(there.sum()),
        clusters=found.clusters,
        alpha=tallies.alpha(found, codes, len(marks), ordinal=True),
        weighted_kappa=kappa,
    )


def label_rater_agreement(
    labels: Sequence[Sequence[str | None]],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> LabelRaterAgreement:
    """Say how well any number of raters agree who give names: one row each, None for what a rater did not rate."""
    _check_rows(labels)
    names, given = tallies.label_codes(labels)
    kept, groups = tallies.with_two(given >= 0, clusters)
    codes = given[:, kept]
    found = Clustered(codes.shape[1], groups, resamples, seed, level)
    return LabelRaterAgreement(
        raters=len(labels),
        items=found.items,
        left_out=given.shape[1] - found.items,
        ratings=int((codes >= 0).sum()),
        clusters=found.clusters,
        alpha=tallies.alpha(found, codes, len(names), ordinal=False),
        kappa=tallies.mean_kappa(found, list(combinations(codes, 2)), len(names)),
    )


def kappa_with_each(
    ratings: Sequence[float | None],
    others: Sequence[Sequence[float | None]],
    clusters: Sequence[Hashable] | None = None,
    *,
    scale: tuple[float, float] | None = None,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> Statistic:
    """The mean quadratic-weighted kappa of a rater (a judge) with each of several others, one at a time.

    What the others' own mean kappa (`rater_agreement`) may be held against: a comparison with their median flatters a
    judge, because a median is less noisy than any one person.
    """
    _check_rows([ratings, *others])
    one = tallies.numbers(ratings, scale)
    rows = [tallies.moments(one, tallies.numbers(row, scale)) for row in others]
    if not rows or not any(row[:, 0].any() for row in rows):
        return missing(NO_PAIR)
    found = Clustered(len(one), clusters, resamples, seed, level)
    joined = np.concatenate(rows, axis=1)
    return found.of_rows(joined, mean_quadratic_kappa, tallies.COEFFICIENT, tallies.ONE_CATEGORY)


def label_kappa_with_each(
    labels: Sequence[str | None],
    others: Sequence[Sequence[str | None]],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> Statistic:
    """The mean of Cohen's kappas of a rater with each of several others; as `kappa_with_each`, for names."""
    _check_rows([labels, *others])
    names, codes = tallies.label_codes([labels, *others])
    found = Clustered(codes.shape[1], clusters, resamples, seed, level)
    return tallies.mean_kappa(found, [(codes[0], row) for row in codes[1:]], len(names))


def _check_rows(rows: Sequence[Sequence[object]]) -> None:
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"every rater needs a place for every item, got {[len(row) for row in rows]}")
