"""Coefficients of agreement as functions of summed counts, so that pooling and resampling clusters are one thing.

Every function here takes pooled statistics (..., d) and returns values (...), NaN where a coefficient is undefined.
What is counted per cluster, and why a coefficient is missing, is in agreement.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnwise.stats.leave_one_out import BoolArray, FloatArray

IntArray = npt.NDArray[np.int64]

# 1 - 1 computed from thirds and tenths; a coefficient that divides by less has nothing to divide by.
ROUNDING = 1e-12


def share(s: FloatArray) -> FloatArray:
    """Sum over number: (sum, n)."""
    return _divided(s[..., 0], s[..., 1], s[..., 1] > 0)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells (x, y) of a table of counts that occur at all; statistics are (count of each cell, n)."""

    x: IntArray
    """The category of each cell on the first side, 0 to categories - 1."""
    y: IntArray
    """On the second side."""
    categories: int

    def margins(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How often each category was used, on either side: (..., categories)."""
        onehot = np.eye(self.categories)
        return s[..., :-1] @ onehot[self.x], s[..., :-1] @ onehot[self.y]

    def kappa(self, s: FloatArray) -> FloatArray:
        """Cohen's (1960) kappa (p_o - p_e) / (1 - p_e), p_e the agreement of two who use the same margins blindly."""
        n = np.maximum(s[..., -1], ROUNDING)
        first, second = self.margins(s)
        observed = s[..., :-1][..., self.x == self.y].sum(axis=-1) / n
        expected = (first * second).sum(axis=-1) / n**2
        return _divided(observed - expected, 1 - expected, (s[..., -1] > 0) & (1 - expected > ROUNDING))

    def spearman(self, s: FloatArray) -> FloatArray:
        """Pearson's correlation of the mid-ranks, which the margins give."""
        n = np.maximum(s[..., -1:], ROUNDING)
        ranks = [mid_ranks(margin) / n - 0.5 for margin in self.margins(s)]  # their mean is 0
        u, v = ranks[0][..., self.x], ranks[1][..., self.y]
        counts = s[..., :-1]
        top = (counts * u * v).sum(axis=-1)
        below = np.sqrt((counts * u * u).sum(axis=-1) * (counts * v * v).sum(axis=-1))
        return _divided(top, below, below > ROUNDING * n[..., 0])


@dataclass(frozen=True, slots=True)
class SeveralCells:
    """The tables of several pairs of raters side by side; statistics are those of each `Cells`, one after another."""

    pairs: tuple[Cells, ...]

    def mean_kappa(self, s: FloatArray) -> FloatArray:
        """The mean of those of Cohen's kappas that are defined (Light 1971)."""
        each, start = [], 0
        for cells in self.pairs:
            stop = start + len(cells.x) + 1
            each.append(cells.kappa(s[..., start:stop]))
            start = stop
        return _mean_of_defined(np.stack(each, axis=-1))


def quadratic_kappa(s: FloatArray) -> FloatArray:
    """Cohen's (1968) kappa with weights (x - y)^2, from (n, sum x, sum y, sum x^2, sum y^2, sum xy).

    1 - sum (x - y)^2 / (sum x^2 + sum y^2 - 2 sum x sum y / n): the squared distance seen over that of two who use the
    same margins blindly. Distances are those of the ratings themselves, so a category that nobody used still counts
    as a step.
    """
    n, x, y, xx, yy, xy = np.moveaxis(s, -1, 0)
    squares = xx + yy
    expected = squares - 2 * x * y / np.maximum(n, ROUNDING)
    return 1 - _divided(squares - 2 * xy, expected, (n > 0) & (expected > ROUNDING * squares))


def mean_quadratic_kappa(s: FloatArray) -> FloatArray:
    """The mean over pairs of raters (..., 6 pairs) of those kappas that are defined (Light 1971)."""
    return _mean_of_defined(quadratic_kappa(s.reshape(*s.shape[:-1], -1, 6)))


def _mean_of_defined(each: FloatArray) -> FloatArray:
    found = np.isfinite(each)
    return _divided(np.where(found, each, 0.0).sum(axis=-1), found.sum(axis=-1), found.any(axis=-1))


@dataclass(frozen=True, slots=True)
class Coincidences:
    """Pairs of ratings of the same unit; statistics are (weight of each pair, use of each category, ratings)."""

    x: IntArray
    """The category of each kind of pair, x < y; pairs of equal ratings do not disagree and are not kept."""
    y: IntArray
    categories: int
    ordinal: bool

    def alpha(self, s: FloatArray) -> FloatArray:
        """Krippendorff's (2019, chapter 12) alpha 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck over c < k.

        A unit of m ratings adds 1 / (m - 1) to o for each of its pairs; n_c is how often c was used in units of at
        least two ratings, n the sum. Nominal: d_ck = 1. Ordinal: d_ck = (n_c / 2 + n_(c+1) + ... + n_k / 2)^2, the
        squared distance of the mid-ranks.
        """
        pairs, use, n = s[..., : len(self.x)], s[..., len(self.x) : -1], s[..., -1]
        if self.ordinal:
            rank = mid_ranks(use) / np.maximum(n, ROUNDING)[..., None]
            apart = (pairs * (rank[..., self.y] - rank[..., self.x]) ** 2).sum(axis=-1)
            expected = n * (use * rank**2).sum(axis=-1) - (use * rank).sum(axis=-1) ** 2
        else:
            apart = pairs.sum(axis=-1)
            expected = (n**2 - (use**2).sum(axis=-1)) / 2
        return 1 - _divided((n - 1) * apart, expected, (n > 1) & (expected > ROUNDING * n**2))


def mid_ranks(use: FloatArray) -> FloatArray:
    """The mean rank, less a half, of the ratings in each category (..., categories), given how often each is used."""
    return np.asarray(np.cumsum(use, axis=-1) - use / 2, dtype=np.float64)


def _divided(top: FloatArray, below: npt.ArrayLike, defined: BoolArray | np.bool_) -> FloatArray:
    return np.asarray(np.divide(top, below, out=np.full(np.shape(top), np.nan), where=defined), dtype=np.float64)
