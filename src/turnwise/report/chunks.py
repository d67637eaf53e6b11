"""Many groups in portions that fit into memory: what is rolled up and resampled at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from turnwise.kernel.rollup import CLUSTER, BoolArray, IntArray, Rows
from turnwise.report.series import Grouped
from turnwise.stats.intervals import BOOTSTRAP_CLUSTERS, Resampler

FLOATS = 8_000_000
MANY_GROUPS = 64
"""With so many groups it pays to number the clusters of small groups anew."""


class Chunk(NamedTuple):
    """Some groups with their rows."""

    members: IntArray
    """Which groups of all."""
    rows: Rows
    groups: IntArray
    """The place of each row's group in `members`."""
    resampler: Resampler
    """For as many clusters as the rows' codes need."""


def chunks(grouped: Grouped, width: int, resampler: Resampler) -> Iterator[Chunk]:
    """All groups; so many at once that clusters (and resamples) x groups x statistics stays small.

    A group with few clusters is never resampled, so its clusters can be numbered from 0: a table of 10,000 clusters for
    each of 3,000 groups with three clusters each would be almost all zeros.
    """
    n = len(grouped.keys)
    few, codes = _few_clusters(grouped, resampler.clusters) if n > MANY_GROUPS else (np.zeros(n, dtype=bool), None)
    for small in (False, True):
        members = np.flatnonzero(few == small)
        clusters = BOOTSTRAP_CLUSTERS if small else resampler.clusters
        size = max(1, FLOATS // (max(clusters, resampler.resamples) * max(2, width)))
        for start in range(0, len(members), size):
            chosen = members[start : start + size]
            place = np.full(n, -1, dtype=np.int64)
            place[chosen] = np.arange(len(chosen))
            which = place[grouped.groups] >= 0
            rows = grouped.rows if which.all() else grouped.rows.chosen(which)
            if small and codes is not None:
                rows = Rows(rows.values, rows.statistics, {**rows.keys, CLUSTER: codes[which]}, rows.labels)
            own = Resampler(clusters, resampler.resamples) if small else resampler
            yield Chunk(chosen, rows, place[grouped.groups[which]], own)


def _few_clusters(grouped: Grouped, n_clusters: int) -> tuple[BoolArray, IntArray]:
    """Which groups have too few clusters to be resampled, and every row's cluster numbered within its group."""
    n = len(grouped.keys)
    pairs, inverse = np.unique(grouped.groups * n_clusters + grouped.rows.keys[CLUSTER], return_inverse=True)
    first = np.searchsorted(pairs, np.arange(n) * n_clusters)
    counts = np.bincount(pairs // n_clusters, minlength=n)
    return counts < BOOTSTRAP_CLUSTERS, (inverse.reshape(-1) - first[grouped.groups]).astype(np.int64)
