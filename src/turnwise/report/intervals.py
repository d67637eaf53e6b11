"""The intervals of compiled roll-ups: several of the same rows are resampled together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import FloatArray, Pooled, Sample
from turnwise.stats.intervals import Interval, Resampler, pooled_intervals, resampled
from turnwise.stats.woodruff import percentile_intervals


def rollup_intervals(compiled: Sequence[Pooled | Sample], output: Output, resampler: Resampler) -> list[list[Interval]]:
    """The intervals of every group, for several roll-ups of the same rows: their statistics are resampled together."""
    pooled = [made for made in compiled if isinstance(made, Pooled)]
    joined = np.concatenate([made.totals.reshape(len(made.totals), -1) for made in pooled] or [_NO_TOTALS], axis=1)
    bootstrapped = any(resampled(made.present.sum(axis=0)).any() for made in pooled)
    drawn = resampler.draw(joined) if bootstrapped else None
    found: list[list[Interval]] = []
    used = 0
    for made in compiled:
        if isinstance(made, Sample):
            found.append(_sample_intervals(made, output, resampler))
            continue
        _, n_groups, d = made.totals.shape
        own = None if drawn is None else drawn[:, used : used + n_groups * d].reshape(len(drawn), n_groups, d)
        used += n_groups * d
        found.append(pooled_rollup_intervals(made, output, resampler, own))
    return found


_NO_TOTALS = np.zeros((0, 0))


def pooled_rollup_intervals(
    made: Pooled, output: Output, resampler: Resampler, drawn: FloatArray | None = None
) -> list[Interval]:
    """The interval of every group, inside the range of the output."""
    bounds = bounds_of(output, is_sum=made.is_sum)
    return pooled_intervals(made.totals, made.present, made.value, resampler, bounds=bounds, drawn=drawn)


def bounds_of(output: Output, *, is_sum: bool) -> tuple[float | None, float | None]:
    """The range of a roll-up: that of the output, which a sum leaves."""
    low, high = output.range
    return ((low if low == 0 else None), None) if is_sum else (low, high)


def _sample_intervals(made: Sample, output: Output, resampler: Resampler) -> list[Interval]:
    found: list[Interval] = []
    bounds = bounds_of(output, is_sum=made.is_sum)
    for group in range(made.n_groups):
        chosen = made.groups == group
        values, clusters = made.values[chosen], made.clusters[chosen]
        if len(values) == 0:
            found.append(Interval(None, None, "none: nothing scored"))
        else:
            found += percentile_intervals(values, clusters, [made.quantile], resampler, bounds=bounds)
    return found
