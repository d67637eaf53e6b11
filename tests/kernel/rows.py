"""Rows of scores written by hand, and their roll-up, for the tests of roll-ups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turnwise.kernel.rollup import CLUSTER, ITEM, FloatArray, Rollup, Rows, Step, Value, compile_rollup


def rollup(*steps: Step) -> Rollup:
    return Rollup("r", steps)


def rows(
    values: Sequence[float],
    *,
    statistics: Sequence[Sequence[float]] | None = None,
    labels: Sequence[str | None] | None = None,
    **keys: Sequence[int],
) -> Rows:
    """Rows with their statistics (the value alone unless given); each its own item and cluster unless given."""
    n = len(values)
    column = np.array(values, dtype=np.float64)
    vectors = column[:, None] if statistics is None else np.array(statistics, dtype=np.float64).reshape(n, -1)
    codes = {CLUSTER: range(n), ITEM: range(n), **keys}
    return Rows(column, vectors, {name: np.array(code, dtype=np.int64) for name, code in codes.items()}, labels)


def first(statistics: FloatArray) -> FloatArray:
    return statistics[..., 0]


def roll_up(
    named: Rollup, data: Rows, groups: npt.ArrayLike, n_groups: int, value: Value = first, n_clusters: int | None = None
) -> FloatArray:
    """The number of each group."""
    n = n_clusters or int(data.keys[CLUSTER].max(initial=0)) + 1
    return compile_rollup(named, data, np.asarray(groups, dtype=np.int64), n_groups, n, value).point()


def number(named: Rollup, data: Rows, value: Value = first) -> float:
    """The number of all rows together."""
    return float(roll_up(named, data, np.zeros(len(data), dtype=np.int64), 1, value)[0])


def chosen(data: Rows, keep: npt.ArrayLike) -> Rows:
    """Some of the rows, in the order of `keep` (positions)."""
    at = np.asarray(keep, dtype=np.int64)
    labels = None if data.labels is None else [data.labels[i] for i in at.tolist()]
    return Rows(data.values[at], data.statistics[at], {name: codes[at] for name, codes in data.keys.items()}, labels)
