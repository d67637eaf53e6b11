"""Rank correlation between series that lie side by side, with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST = 3
"""Two points always lie on a line: below this many pairs a correlation says nothing."""


class Correlation(NamedTuple):
    """A coefficient, or None where there is none, and how many pairs it stands on."""

    value: float | None
    n: int

    @property
    def text(self) -> str:
        """The coefficient with two digits, or why there is none."""
        if self.n < FEWEST:
            return f"n<{FEWEST}"
        return "constant" if self.value is None else f"{self.value:.2f}".replace("-0.00", "0.00")


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Correlation:
    """Spearman's rho over the places where both series have a value: Pearson's r of the ranks, ties sharing theirs.

    There is none for fewer than 3 pairs, nor where a series does not vary.

    >>> spearman([1, 2, 3, None], [10, 30, 20, 40])
    Correlation(value=0.5, n=3)
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if _is_number(a) and _is_number(b)]
    if len(pairs) < FEWEST:
        return Correlation(None, len(pairs))
    a, b = (_centred_ranks(column) for column in np.array(pairs, dtype=np.float64).T)
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return Correlation(None if scale == 0 else min(1.0, max(-1.0, float(a @ b) / scale)), len(pairs))


def _is_number(value: float | None) -> bool:
    return value is not None and isfinite(value)


def _centred_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[group]
    centred: NDArray[np.float64] = ranks - ranks.mean()
    return centred
