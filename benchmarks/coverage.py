"""Measure how often the 95 % intervals of turnwise.stats.intervals contain the true value.

Replicates are laid along the group axis, so that one call makes hundreds of intervals. Sizes of clusters are redrawn
in every replicate and independent of the clusters' effects, so that every estimand equals its population value.
Run `python benchmarks/coverage.py`; the table goes into docs/intervals.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from turnwise.stats.intervals import Bounds, Interval, Resampler, percentile_intervals, pooled_intervals
from turnwise.stats.leave_one_out import FloatArray

CLUSTERS = (10, 20, 50, 200)
ICC = 0.3
LARGEST = 20
CHUNK = 250  # replicates per call; each call gets a resampler of its own seed
GOAL = (0.93, 0.97)
QUANTILES = (0.5, 0.9)

Sizes = Callable[[np.random.Generator, int, int], FloatArray]
Draw = Callable[[np.random.Generator, FloatArray], FloatArray]


def uniform_sizes(rng: np.random.Generator, clusters: int, replicates: int) -> FloatArray:
    """1 to 20 items, all equally likely."""
    return rng.integers(1, LARGEST + 1, size=(clusters, replicates)).astype(np.float64)


def geometric_sizes(rng: np.random.Generator, clusters: int, replicates: int) -> FloatArray:
    """Many short clusters and few long ones: mean 6, at most 20."""
    return np.minimum(rng.geometric(0.15, size=(clusters, replicates)), LARGEST).astype(np.float64)


def items(rng: np.random.Generator, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard normal items with intra-cluster correlation ICC, and which of the 20 places are filled."""
    shared = rng.normal(scale=math.sqrt(ICC), size=(*n.shape, 1))
    own = rng.normal(scale=math.sqrt(1 - ICC), size=(*n.shape, LARGEST))
    return shared + own, (np.arange(LARGEST) < n[..., None]).astype(np.float64)


def continuous(rng: np.random.Generator, n: FloatArray) -> FloatArray:
    x, filled = items(rng, n)
    return np.stack([(x * filled).sum(-1), n], axis=-1)


def skewed(rng: np.random.Generator, n: FloatArray) -> FloatArray:
    """Lognormal, sigma 0.7, mean exp(0.245): what latencies look like."""
    x, filled = items(rng, n)
    return np.stack([(np.exp(0.7 * x) * filled).sum(-1), n], axis=-1)


def macro(rng: np.random.Generator, n: FloatArray) -> FloatArray:
    totals = continuous(rng, n)
    return np.stack([totals[..., 0] / n, np.ones_like(n)], axis=-1)


def ratio_of_sums(rng: np.random.Generator, n: FloatArray) -> FloatArray:
    """Each item has a denominator 1 + Poisson(4) and a rate of 2 plus noise; the ratio of sums is 2."""
    x, filled = items(rng, n)
    den = (1 + rng.poisson(4, size=x.shape)) * filled
    return np.stack([((2 + x) * den).sum(-1), den.sum(-1)], axis=-1)


def binary(rate: float) -> Draw:
    """Beta-binomial counts: a + b = 1 / ICC - 1."""

    def draw(rng: np.random.Generator, n: FloatArray) -> FloatArray:
        ab = 1 / ICC - 1
        p = rng.beta(rate * ab, (1 - rate) * ab, size=n.shape)
        return np.stack([rng.binomial(n.astype(np.int64), p).astype(np.float64), n], axis=-1)

    return draw


def macro_binary(rate: float) -> Draw:
    def draw(rng: np.random.Generator, n: FloatArray) -> FloatArray:
        return np.stack([binary(rate)(rng, n)[..., 0] / n, np.ones_like(n)], axis=-1)

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


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def contains(interval: Interval, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def pooled_coverage(setting: Setting, sizes: Sizes, clusters: int, replicates: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    hits = 0
    for start in range(0, replicates, CHUNK):
        lot = min(CHUNK, replicates - start)
        totals = setting.draw(rng, sizes(rng, clusters, lot))
        resampler = Resampler(clusters, seed=seed + start)
        present = np.ones(totals.shape[:2], dtype=np.bool_)
        found = pooled_intervals(totals, present, ratio, resampler, bounds=setting.bounds)
        hits += sum(contains(interval, setting.truth) for interval in found)
    return hits / replicates


def percentile_coverage(sizes: Sizes, clusters: int, replicates: int, seed: int) -> list[float]:
    """Coverage for the QUANTILES of the lognormal items."""
    rng = np.random.default_rng(seed)
    truths = [math.exp(0.7 * NormalDist().inv_cdf(q)) for q in QUANTILES]
    hits = np.zeros(len(QUANTILES))
    resampler = Resampler(clusters)
    for _ in range(replicates):
        n = sizes(rng, clusters, 1)[:, 0]
        x, filled = items(rng, n)
        index = np.repeat(np.arange(clusters), n.astype(np.int64))
        found = percentile_intervals(np.exp(0.7 * x[filled > 0]), index, QUANTILES, resampler, bounds=(0.0, None))
        hits += [contains(interval, truth) for interval, truth in zip(found, truths, strict=True)]
    return list(hits / replicates)


def cell(share: float) -> str:
    mark = "" if GOAL[0] <= share <= GOAL[1] else " *"
    return f"{100 * share:.1f}{mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20261115)
    options = parser.parse_args()
    began = time.perf_counter()
    for sizes in (uniform_sizes, geometric_sizes):
        print(f"\n{(sizes.__doc__ or '').rstrip('.')}\n")
        print("| value | " + " | ".join(f"{k} clusters" for k in CLUSTERS) + " |")
        print("|---|" + "---:|" * len(CLUSTERS))
        for row, setting in enumerate(SETTINGS):
            seeds = [options.seed + 1_000_000 * (row + 1) + 10_000 * k for k in CLUSTERS]
            shares = [
                pooled_coverage(setting, sizes, k, options.replicates, seed)
                for k, seed in zip(CLUSTERS, seeds, strict=True)
            ]
            print(f"| {setting.name} | " + " | ".join(map(cell, shares)) + " |", flush=True)
        columns = [percentile_coverage(sizes, k, options.replicates, options.seed + k) for k in CLUSTERS]
        for quantile, shares in zip(QUANTILES, zip(*columns, strict=True), strict=True):
            print(f"| percentile {100 * quantile:.0f}, skewed | " + " | ".join(map(cell, shares)) + " |", flush=True)
    spent = time.perf_counter() - began
    print(f"\n{options.replicates} replicates per cell, {spent:.0f} s; * outside {GOAL[0]:.0%} to {GOAL[1]:.0%}.")


if __name__ == "__main__":
    main()
