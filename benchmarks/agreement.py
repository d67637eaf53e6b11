"""Measure how often the 95 % intervals of turnwise.stats.agreement contain the true coefficient.

Two raters see the same latent quality, each with noise, and both quality and noise are alike within a cluster; ratings
are cut to five points. True coefficients come from a million pairs. `python benchmarks/agreement.py`; the table goes
into docs/agreement.md.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from turnwise.stats.agreement import PairAgreement, Statistic, pair_agreement
from turnwise.stats.leave_one_out import FloatArray

CLUSTERS = (10, 20, 50, 200)
NAMES = ("exact", "within_one", "kappa", "weighted_kappa", "alpha", "spearman", "bias")
CUTS = (-1.5, -0.8, 0.0, 1.0)
ICC = 0.3
NOISE = 0.6
BIAS = 0.2
GOAL = (0.93, 0.97)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261116)
    given = parser.parse_args()
    began = time.perf_counter()
    truth = true_coefficients(given.seed)
    print("| coefficient | true value | " + " | ".join(f"{k} clusters" for k in CLUSTERS) + " |")
    print("|---|---:|" + "---:|" * len(CLUSTERS))
    columns = [coverage(k, given.replicates, given.seed + k, truth) for k in CLUSTERS]
    for i, name in enumerate(NAMES):
        cells = " | ".join(cell(column[i]) for column in columns)
        print(f"| {name.replace('_', ' ')} | {truth[name]:.3f} | {cells} |")
    print(f"\n{given.replicates} data sets each, {time.perf_counter() - began:.0f} s")


def cell(share: float) -> str:
    return f"{100 * share:.1f}" + ("" if GOAL[0] <= share <= GOAL[1] else " *")


def true_coefficients(seed: int) -> dict[str, float]:
    """Of single pairs, which is what every cluster is made of."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=1_000_000)
    x, y = (rated(quality + NOISE * rng.normal(size=len(quality)) + shift) for shift in (BIAS, 0.0))
    found = pair_agreement(x.tolist(), y.tolist(), ["all"] * len(x), scale=(1, 5))
    values = {name: statistic(found, name).value for name in NAMES}
    return {name: value for name, value in values.items() if value is not None}


def statistic(found: PairAgreement, name: str) -> Statistic:
    one = getattr(found, name)
    assert isinstance(one, Statistic)
    return one


def rated(latent: FloatArray) -> FloatArray:
    return np.asarray(1 + np.searchsorted(CUTS, latent), dtype=np.float64)


def coverage(clusters: int, replicates: int, seed: int, truth: dict[str, float]) -> list[float]:
    rng = np.random.default_rng(seed)
    hits = dict.fromkeys(NAMES, 0)
    for i in range(replicates):
        index = np.repeat(np.arange(clusters), rng.integers(1, 21, size=clusters))
        quality = alike(rng, index, clusters)
        x, y = (rated(quality + NOISE * alike(rng, index, clusters) + shift) for shift in (BIAS, 0.0))
        found = pair_agreement(x.tolist(), y.tolist(), index.tolist(), scale=(1, 5), seed=i)
        for name in NAMES:
            low, high = statistic(found, name).interval.low, statistic(found, name).interval.high
            hits[name] += low is not None and high is not None and low <= truth[name] <= high
    return [hits[name] / replicates for name in NAMES]


def alike(rng: np.random.Generator, index: np.ndarray, clusters: int) -> FloatArray:
    """Standard normal numbers with the intra-cluster correlation."""
    return np.sqrt(ICC) * rng.normal(size=clusters)[index] + np.sqrt(1 - ICC) * rng.normal(size=len(index))


if __name__ == "__main__":
    main()
