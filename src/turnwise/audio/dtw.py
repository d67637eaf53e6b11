"""Exact dynamic time warping, in time of both lengths multiplied and memory of one length.

Cost, steps and a second distance are carried along with the best path to each cell, so no path has to be traced
back. The numba kernel and the numpy one do the same floating-point operations in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
_Kernel = Callable[[Matrix, Matrix, Matrix, Matrix, bool], tuple[Any, Any, Any]]


class Alignment(NamedTuple):
    """The best path through all pairs of frames, from both first to both last."""

    cost: float
    """Sum of the Euclidean distances along it."""
    length: int
    """Pairs on it."""
    measured: float
    """Sum of the Euclidean distances of the second features along it; the cost if there are none."""

    @property
    def mean(self) -> float:
        """Mean of the measured distance over the pairs."""
        return self.measured / self.length


def warp(
    a: Matrix, b: Matrix, *, measure: tuple[Matrix, Matrix] | None = None, shortest: bool = True, numba: bool = True
) -> Alignment:
    """Align two sequences of frames (rows) exactly.

    D(i, j) = d(i, j) + min(D(i-1, j), D(i, j-1), D(i-1, j-1)), D(0, 0) = d(0, 0), d Euclidean.

    Args:
        a: frames of one signal, finite numbers.
        b: frames of the other.
        measure: other features of the same frames, whose distance is summed along the path.
        shortest: between equal costs the path of fewer steps, which is the same for (a, b) and (b, a); else the
            first of: a step in a, a step in b, a step in both.
        numba: False keeps to numpy, as where numba is not installed.
    """
    first, second = measure if measure is not None else (a[:, :0], b[:, :0])
    if not (len(a) == len(first) > 0 and len(b) == len(second) > 0):
        raise ValueError(f"frames to align: {len(a)} and {len(b)}, to measure: {len(first)} and {len(second)}")
    kernel: _Kernel = (_compiled() if numba else None) or _with_numpy
    inputs = [np.ascontiguousarray(x, dtype=np.float64) for x in (a, b.T, first, second.T)]
    cost, length, measured = kernel(inputs[0], inputs[1], inputs[2], inputs[3], shortest)
    return Alignment(float(cost), int(length), float(measured) if measure is not None else float(cost))


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """The numba kernel, or None where numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    try:
        return numba.njit(cache=True, nogil=True)(_with_numba)
    except RuntimeError:  # no folder to keep the compiled code in can be written
        return numba.njit(nogil=True)(_with_numba)


def _with_numba(a: Matrix, bt: Matrix, first: Matrix, second_t: Matrix, shortest: bool) -> tuple[Any, Any, Any]:
    """Row by row. `bt` and `second_t` are transposed, so that the distances of a row are computed side by side."""
    n, m = a.shape[0], bt.shape[1]
    cost, steps, total = np.full(m + 1, np.inf), np.zeros(m + 1, np.int64), np.zeros(m + 1)
    cost[0] = 0.0
    distance, measured = np.zeros(m), np.zeros(m)
    for i in range(n):
        distance[:] = 0.0
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(m):
                distance[j] += (x - bt[k, j]) * (x - bt[k, j])
        measured[:] = 0.0
        for k in range(first.shape[1]):
            x = first[i, k]
            for j in range(m):
                measured[j] += (x - second_t[k, j]) * (x - second_t[k, j])
        for j in range(m):
            distance[j], measured[j] = np.sqrt(distance[j]), np.sqrt(measured[j])
        # Column 0 stands before the first frame of b: only the very first cell may be entered from there.
        corner_cost, corner_steps, corner_total = cost[0], steps[0], total[0]
        cost[0] = np.inf
        for j in range(m):
            d = distance[j]
            up, left, corner = cost[j + 1] + d, cost[j] + d, corner_cost + d
            best, count, carried = up, steps[j + 1], total[j + 1]
            if left < best or (shortest and left == best and steps[j] < count):
                best, count, carried = left, steps[j], total[j]
            if corner < best or (shortest and corner == best and corner_steps < count):
                best, count, carried = corner, corner_steps, corner_total
            corner_cost, corner_steps, corner_total = cost[j + 1], steps[j + 1], total[j + 1]
            cost[j + 1], steps[j + 1], total[j + 1] = best, count + 1, carried + measured[j]
    return cost[m], steps[m], total[m]


def _with_numpy(a: Matrix, bt: Matrix, first: Matrix, second_t: Matrix, shortest: bool) -> tuple[Any, Any, Any]:
    """Diagonal by diagonal: the cells with equal i + j depend on the two diagonals before, not on each other."""
    n, m = a.shape[0], bt.shape[1]
    at = np.ascontiguousarray(a.T)
    first_t = np.ascontiguousarray(first.T)
    # Indexed by i + 1; index 0 stands before the first frame of a.
    before = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64), np.zeros(n + 1)
    last = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64), np.zeros(n + 1)
    before[0][0] = 0.0
    for diagonal in range(n + m - 1):
        low, high = max(0, diagonal - m + 1), min(n, diagonal + 1)
        columns = slice(m - 1 - diagonal + low, m - 1 - diagonal + high)
        d = _distances(at[:, low:high], bt[:, ::-1][:, columns])
        here, above = slice(low + 1, high + 1), slice(low, high)
        best, count, carried = last[0][above] + d, last[1][above], last[2][above]
        for entering, part in ((last, here), (before, above)):
            offer = entering[0][part] + d
            better = offer < best
            if shortest:
                better |= (offer == best) & (entering[1][part] < count)
            best = np.where(better, offer, best)
            count = np.where(better, entering[1][part], count)
            carried = np.where(better, entering[2][part], carried)
        measured = _distances(first_t[:, low:high], second_t[:, ::-1][:, columns])
        now = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64), np.zeros(n + 1)
        now[0][here], now[1][here], now[2][here] = best, count + 1, carried + measured
        before, last = last, now
    return last[0][n], last[1][n], last[2][n]


def _distances(x: Matrix, y: Matrix) -> Matrix:
    """Distances of columns, their squares added one after the other as in the other kernel; `sum` adds in pairs."""
    if not len(x):
        return np.zeros(x.shape[1])
    distances: Matrix = np.sqrt(np.add.accumulate((x - y) * (x - y), axis=0)[-1])
    return distances
