"""Measure how often the 95 % intervals of turnwise.stats.intervals contain the true value.

Replicates are laid along the group axis, so that one call makes hundreds of intervals. Sizes of clusters are
redrawn in every replicate and independent of the clusters' effects: every estimand is its population value.
Run `python benchmarks/coverage.py`; the tables go into docs/intervals.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from turnwise.stats.intervals import Bounds, Interval, Resampler, pooled_intervals
from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.woodruff import percentile_intervals

LARGEST = 20
CHUNK = 250  # replicates per call; each call gets a resampler of its own seed
GOAL = (0.93, 0.97)
QUANTILES = (0.5, 0.9)

Sizes = Callable[[np.random.Generator, int, int], FloatArray]
Draw = Callable[[np.random.Generator, FloatArray, float], FloatArray]


def uniform_sizes(rng: np.random.Generator, clusters: int, replicates: int) -> FloatArray:
    """1 to 20 items, all equally likely."""
    return rng.integers(1, LARGEST + 1, size=(clusters, replicates)).astype(np.float64)


def geometric_sizes(rng: np.random.Generator, clusters: int, replicates: int) -> FloatArray:
    """Many short clusters and few long ones: mean 6, at most 20."""
    return np.minimum(rng.geometric(0.15, size=(clusters, replicates)), LARGEST).astype(np.float64)


def dominated_sizes(rng: np.random.Generator, clusters: int, replicates: int) -> FloatArray:
    """One cluster of 20 items among clusters of 1 to 5."""
    n = rng.integers(1, 6, size=(clusters, replicates)).astype(np.float64)
    n[0] = LARGEST
    return n


SIZES: dict[str, Sizes] = {
    "uniform": uniform_sizes,
    "geometric": geometric_sizes,
    "dominated": dominated_sizes,
}


def items(rng: np.random.Generator, n: FloatArray, icc: float) -> tuple[FloatArray, FloatArray]:
    """Standard normal items with intra-cluster correlation icc, and which of the 20 places are filled."""
    shared = rng.normal(scale=math.sqrt(icc), size=(*n.shape, 1))
    own = rng.normal(scale=math.sqrt(1 - icc), size=(*n.shape, LARGEST))
    return shared + own, (np.arange(LARGEST) < n[..., None]).astype(np.float64)


def continuous(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
    x, filled = items(rng, n, icc)
    return np.stack([(x * filled).sum(-1), n], axis=-1)


def skewed(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
    """Lognormal, sigma 0.7, mean exp(0.245): what latencies look like."""
    x, filled = items(rng, n, icc)
    return np.stack([(np.exp(0.7 * x) * filled).sum(-1), n], axis=-1)


def macro(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
    totals = continuous(rng, n, icc)
    return np.stack([totals[..., 0] / n, np.ones_like(n)], axis=-1)


def ratio_of_sums(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
    """Each item has a denominator 1 + Poisson(4) and a rate of 2 plus noise; the ratio of sums is 2."""
    x, filled = items(rng, n, icc)
    den = (1 + rng.poisson(4, size=x.shape)) * filled
    return np.stack([((2 + x) * den).sum(-1), den.sum(-1)], axis=-1)


def binary(rate: float) -> Draw:
    """Beta-binomial counts with a + b = 1 / icc - 1."""

    def draw(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
        ab = 1 / icc - 1
        p = rng.beta(rate * ab, (1 - rate) * ab, size=n.shape)
        return np.stack([rng.binomial(n.astype(np.int64), p).astype(np.float64), n], axis=-1)

    return draw


def macro_binary(rate: float) -> Draw:
    def draw(rng: np.random.Generator, n: FloatArray, icc: float) -> FloatArray:
        return np.stack([binary(rate)(rng, n, icc)[..., 0] / n, np.ones_like(n)], axis=-1)

    return draw


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    draw: Draw
    truth: float
    bounds: Bounds = (None, None)


SETTINGS = (
    Setting("mean, continuous", continuous, 0.0),
    Setting("mean, skewed (lognormal)", skewed, math.exp(0.245), (0.0, None)),
    Setting("mean, binary 0.5", binary(0.5), 0.5, (0.0, 1.0)),
    Setting("mean, binary 0.8", binary(0.8), 0.8, (0.0, 1.0)),
    Setting("mean, binary 0.9", binary(0.9), 0.9, (0.0, 1.0)),
    Setting("mean, binary 0.98", binary(0.98), 0.98, (0.0, 1.0)),
    Setting("macro mean, continuous", macro, 0.0),
    Setting("macro mean, binary 0.9", macro_binary(0.9), 0.9, (0.0, 1.0)),
    Setting("ratio of sums", ratio_of_sums, 2.0),
)


@dataclass(frozen=True, slots=True)
class Options:
    replicates: int
    icc: float
    seed: int


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def contains(interval: Interval, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def pooled_coverage(setting: Setting, sizes: Sizes, clusters: int, options: Options, seed: int) -> float:
    rng = np.random.default_rng(seed)
    hits = 0
    for start in range(0, options.replicates, CHUNK):
        lot = min(CHUNK, options.replicates - start)
        totals = setting.draw(rng, sizes(rng, clusters, lot), options.icc)
        resampler = Resampler(clusters, seed=seed + start)
        present = np.ones(totals.shape[:2], dtype=np.bool_)
        found = pooled_intervals(totals, present, ratio, resampler, bounds=setting.bounds)
        hits += sum(contains(interval, setting.truth) for interval in found)
    return hits / options.replicates


def percentile_coverage(sizes: Sizes, clusters: int, options: Options) -> list[float]:
    """Coverage for the QUANTILES of the lognormal items."""
    rng = np.random.default_rng(options.seed + clusters)
    truths = [math.exp(0.7 * NormalDist().inv_cdf(q)) for q in QUANTILES]
    hits = np.zeros(len(QUANTILES))
    resampler = Resampler(clusters)
    for _ in range(options.replicates):
        n = sizes(rng, clusters, 1)[:, 0]
        x, filled = items(rng, n, options.icc)
        index = np.repeat(np.arange(clusters), n.astype(np.int64))
        values = np.exp(0.7 * x[filled > 0])
        found = percentile_intervals(values, index, QUANTILES, resampler, bounds=(0.0, None))
        hits += [contains(interval, truth) for interval, truth in zip(found, truths, strict=True)]
    return list(hits / options.replicates)


def cell(share: float) -> str:
    mark = "" if GOAL[0] <= share <= GOAL[1] else " *"  # judged before rounding
    return f"{100 * share:.1f}{mark}"


def line(name: str, shares: list[float]) -> str:
    return f"| {name} | " + " | ".join(map(cell, shares)) + " |"


def table(sizes: Sizes, clusters: list[int], options: Options) -> None:
    print("| value | " + " | ".join(f"{k} clusters" for k in clusters) + " |")
    print("|---|" + "---:|" * len(clusters))
    for row, setting in enumerate(SETTINGS, start=1):
        seeds = [options.seed + 1_000_000 * row + 10_000 * k for k in clusters]
        cells = zip(clusters, seeds, strict=True)
        shares = [pooled_coverage(setting, sizes, k, options, seed) for k, seed in cells]
        print(line(setting.name, shares), flush=True)
    columns = [percentile_coverage(sizes, k, options) for k in clusters]
    for i, quantile in enumerate(QUANTILES):
        print(line(f"percentile {100 * quantile:.0f}, skewed", [column[i] for column in columns]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["uniform", "geometric"])
    parser.add_argument("--icc", type=float, default=0.3, help="intra-cluster correlation")
    parser.add_argument("--replicates", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20261115)
    given = parser.parse_args()
    options = Options(given.replicates, given.icc, given.seed)
    began = time.perf_counter()
    for name in given.sizes:
        print(f"\nSizes {name}: {SIZES[name].__doc__}\n")
        table(SIZES[name], given.clusters, options)
    print(f"\nICC {options.icc}, {options.replicates} replicates; * outside {GOAL[0]:.0%} to {GOAL[1]:.0%}.")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
