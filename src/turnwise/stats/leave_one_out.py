"""What leaving out one cluster at a time says about a pooled value: its error, that error's df, its skewness.

Intervals are built from this in intervals.py; formulas and sources stand together in docs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
Bounds = tuple[float | None, float | None]
Value = Callable[[FloatArray], FloatArray]
"""Pooled statistics (..., d) -> value (...), NaN where the value is undefined."""

# Sums of the same numbers in another order agree to about 1e-15 of their size; less than this is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Spread:
    """The findings for each group; every field has shape (groups,)."""

    estimate: FloatArray
    error: FloatArray
    """Standard error of the estimate."""
    df: FloatArray
    """Degrees of freedom of the standard error, at least 1."""
    acceleration: FloatArray
    """A sixth of the skewness of the estimate, as BCa intervals need it."""
    clusters: FloatArray
    rests_on_one: BoolArray
    """Without one of its clusters the value is undefined."""
    constant: BoolArray
    """No cluster moves the value."""

    def __getitem__(self, groups: BoolArray) -> Spread:
        """Return the findings for some of the groups."""
        return Spread(*(getattr(self, f.name)[groups] for f in fields(self)))

    @staticmethod
    def joined(parts: Sequence[Spread]) -> Spread:
        """Return the findings of several lots of groups as one."""
        return Spread(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Spread)))


def spread(totals: FloatArray, present: BoolArray, value: Value, bounds: Bounds) -> Spread:
    """Leave out each of the clusters (K, G, d) in turn.

    With delta_k = value - value without cluster k, and h_k the cluster's share of the items, cluster k
    contributes c_k = delta_k sqrt(1 - h_k), and the squared standard error is v = sum c_k^2: for a ratio of
    sums the CR2 estimator of Bell and McCaffrey (2002), for equal shares the jackknife. The acceleration is
    sum c_k^3 / (6 v^1.5), Efron (1987).
    """
    clusters = present.sum(axis=0).astype(np.float64)
    whole = totals.sum(axis=0)
    rest = whole - totals
    # What is left of 0.1 + 0.2 - 0.2 - 0.1 is not a denominator.
    rest[np.abs(rest) <= ROUNDING * np.abs(totals).sum(axis=0)] = 0.0
    # Rescaled to the full number of clusters: ratios stay as they are, and a plain sum gets a variance too.
    rest *= (clusters / np.maximum(clusters - 1, 1))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.asarray(value(whole), dtype=np.float64)
        delta = np.where(present, estimate - value(rest), 0.0)
    defined = np.isfinite(delta)
    delta = np.where(defined, delta, 0.0)
    largest = np.abs(delta).max(axis=0, initial=0.0)
    span = 0.0 if bounds[0] is None or bounds[1] is None else bounds[1] - bounds[0]
    constant = largest <= ROUNDING * np.fmax(np.abs(estimate), span)
    share = size_shares(totals, present)
    # In units of the largest, so that neither squares nor cubes of tiny values underflow.
    c = delta / np.where(constant, 1.0, largest) * np.sqrt(1.0 - share)
    v = np.where(constant, 1.0, (c**2).sum(axis=0))
    df = np.minimum(size_df(share, present), contribution_df(c**2, present))
    return Spread(
        estimate=estimate,
        error=np.where(constant, 0.0, largest * np.sqrt(v)),
        df=np.where(constant, np.maximum(clusters - 1, 1), df),
        # Nothing varies where a group rests on a single cluster, which has no interval anyway.
        acceleration=np.divide((c**3).sum(axis=0), 6 * v**1.5, out=np.zeros_like(v), where=v > 0),
        clusters=clusters,
        rests_on_one=np.asarray(~defined.all(axis=0)),
        constant=np.asarray(constant),
    )


def size_shares(totals: FloatArray, present: BoolArray) -> FloatArray:
    """Return each cluster's share of its group (K, G), from the statistic that measures size.

    Of two statistics that is the denominator, the last one. Of many it is the most even non-negative one,
    since the others vary with performance as well as with size. Equal shares where nothing measures size.
    """
    equal = np.asarray(present / np.maximum(present.sum(axis=0), 1), dtype=np.float64)
    if totals.shape[2] < 2 or not len(totals):
        return equal
    sizes = totals[:, :, 1:] if totals.shape[2] == 2 else totals
    sums = sizes.sum(axis=0)
    usable = (sizes >= 0).all(axis=0) & (sums > 0)
    shares = sizes / np.where(usable, sums, 1.0)
    unevenness = np.where(usable, (shares**2).sum(axis=0), np.inf)
    best = np.take_along_axis(shares, unevenness.argmin(axis=1)[None, :, None], axis=2)[:, :, 0]
    return np.where(usable.any(axis=1), best, equal)


def size_df(share: FloatArray, present: BoolArray) -> FloatArray:
    """Satterthwaite degrees of freedom of v for clusters of unequal share h (Bell and McCaffrey 2002).

    Working model: normal, the mean of cluster k with variance w_k = 1/2 + 1/(2 K h_k), so that half of the
    variance of an average cluster's mean is between clusters. Then df = (tr Q)^2 / tr(Q^2) with
    Q_kl = sqrt(D_k D_l) (w_k [k = l] + s - a_k - a_l), D = h^2 / (1 - h), a = h w, s = sum of h a. Both
    traces are written out as sums over clusters here. Equal shares give K - 1.
    """
    a = np.where(present, 0.5 / np.maximum(present.sum(axis=0), 1) + share / 2, 0.0)
    keep = np.maximum(1.0 - share, ROUNDING)
    d, dw, s = share**2 / keep, share * a / keep, (share * a).sum(axis=0)
    d0, d1, d2 = d.sum(axis=0), (d * a).sum(axis=0), (d * a**2).sum(axis=0)
    trace = dw.sum(axis=0) + s * d0 - 2 * d1
    square = s**2 * d0**2 + 2 * d0 * d2 - 4 * s * d0 * d1 + 2 * d1**2
    square += (dw**2 + 2 * dw * d * (s - 2 * a)).sum(axis=0)
    return np.asarray(np.maximum(1.0, trace**2 / np.maximum(square, 1e-300)), dtype=np.float64)


def contribution_df(squares: FloatArray, present: BoolArray) -> FloatArray:
    """Degrees of freedom from the scatter of the contributions c_k^2 themselves (Pan and Wall 2002).

    df = 2 v^2 / (K / (K - 1) sum (c_k^2 - v / K)^2). About K for normal data and equal clusters, 2 where one
    cluster makes the whole variance, as when one dialogue of many failed.
    """
    k = np.maximum(present.sum(axis=0), 2)
    v = squares.sum(axis=0)
    scatter = k / (k - 1) * np.where(present, (squares - v / k) ** 2, 0.0).sum(axis=0)
    floor = ROUNDING * v**2 + 1e-300  # equal contributions: the other rule decides
    return np.asarray(np.maximum(1.0, 2 * v**2 / np.maximum(scatter, floor)), dtype=np.float64)
