"""Measure how often the tests of turnwise.stats reject a true null, and how often the intervals contain the truth.

Two systems that are alike answer clusters of 1 to 20 items. Half of the variance of a value is shared by both systems
(some items are harder), half is a system's own; both halves, and so the differences, have the intra-cluster correlation
0.3. `python benchmarks/comparison.py`; the tables go into docs/comparison.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from turnwise.stats.difference import Difference
from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.paired import mcnemar_test, paired_difference
from turnwise.stats.percentiles import percentile_difference
from turnwise.stats.power import minimum_detectable_effect
from turnwise.stats.unpaired import unpaired_difference

CLUSTERS = (10, 20, 50, 200)
LARGEST = 20
ICC = 0.3
DRAWS = 999
REJECTS, COVERS = (0.03, 0.07), (0.93, 0.97)
UNIT = (0.0, 1.0)
OPEN = (None, None)


@dataclass(frozen=True, slots=True)
class Items:
    """Latent standard normal values of A and B (clusters, places), of which only some places are filled."""

    a: FloatArray
    b: FloatArray
    filled: FloatArray

    @property
    def sizes(self) -> FloatArray:
        return self.filled.sum(axis=1)


def items(rng: np.random.Generator, clusters: int, icc: float = ICC) -> Items:
    sizes = rng.integers(1, LARGEST + 1, size=clusters)

    def alike() -> FloatArray:
        shared = rng.normal(scale=math.sqrt(icc), size=(clusters, 1))
        return shared + rng.normal(scale=math.sqrt(1 - icc), size=(clusters, LARGEST))

    common = alike()
    return Items(*((common + alike()) / math.sqrt(2) for _ in range(2)), (np.arange(LARGEST) < sizes[:, None]) * 1.0)


Transform = Callable[[FloatArray, float], FloatArray]
"""Latent values and an effect to observed values."""
Compare = Callable[[np.random.Generator, int, float], Difference]
"""One data set of so many clusters with a true effect, compared."""


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def continuous(x: FloatArray, effect: float) -> FloatArray:
    return x + effect


def skewed(x: FloatArray, effect: float) -> FloatArray:
    """Lognormal, sigma 0.7: what latencies look like."""
    return np.exp(0.7 * x) + effect


def binary(rate: float) -> Transform:
    return lambda x, effect: (x < NormalDist().inv_cdf(min(rate + effect, 0.999))) * 1.0


def totals(values: FloatArray, weights: FloatArray) -> FloatArray:
    return np.stack([(values * weights).sum(axis=1), weights.sum(axis=1)], axis=-1)


def latent_icc(rate: float) -> float:
    """The correlation of latent values at which their being below the limit correlates by ICC, by bisection."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    limit, phi = NormalDist().inv_cdf(rate), np.vectorize(NormalDist().cdf)
    low, high = 0.0, 0.99
    for _ in range(40):
        r = (low + high) / 2
        both = (phi((limit - math.sqrt(r) * nodes) / math.sqrt(1 - r)) ** 2 * weights).sum() / weights.sum()
        low, high = (r, high) if (both - rate**2) / (rate * (1 - rate)) < ICC else (low, r)
    return low


def pairs(transform: Transform, bounds: tuple[float | None, float | None] = OPEN, icc: float = ICC) -> Compare:
    def compare(rng: np.random.Generator, clusters: int, effect: float) -> Difference:
        found = items(rng, clusters, icc)
        a, b = totals(transform(found.a, 0.0), found.filled), totals(transform(found.b, effect), found.filled)
        return paired_difference(a, b, ratio, sizes=found.sizes, bounds=bounds, draws=DRAWS, seed=seed_of(rng))

    return compare


def macro_pairs(rng: np.random.Generator, clusters: int, effect: float) -> Difference:
    """The mean over clusters of the cluster's mean."""
    found = items(rng, clusters)
    a, b = (totals(x, found.filled) for x in (found.a, found.b + effect))
    ones = np.ones(clusters)
    a, b = (np.column_stack([ratio(side), ones]) for side in (a, b))
    return paired_difference(a, b, ratio, draws=DRAWS, seed=seed_of(rng))


def ratio_pairs(more: float) -> Compare:
    """Ratios of sums around 2; B's denominators are so many times A's."""

    def compare(rng: np.random.Generator, clusters: int, effect: float) -> Difference:
        found = items(rng, clusters)
        sides = [
            totals(2 + x + shift, (1 + rng.poisson(times * 4, size=x.shape)) * found.filled)
            for x, times, shift in ((found.a, 1.0, 0.0), (found.b, more, effect))
        ]
        return paired_difference(*sides, ratio, sizes=found.sizes, draws=DRAWS, seed=seed_of(rng))

    return compare


def sides(
    transform: Transform, bounds: tuple[float | None, float | None] = OPEN, icc: float = ICC, spread: float = 1.0
) -> Compare:
    """Unpaired, so many clusters a side; B's values spread so many times as much."""

    def compare(rng: np.random.Generator, clusters: int, effect: float) -> Difference:
        first, second = items(rng, clusters, icc), items(rng, clusters, icc)
        a = totals(transform(first.a, 0.0), first.filled)
        b = totals(transform(spread * second.b, effect), second.filled)
        return unpaired_difference(a, b, ratio, bounds=bounds, draws=DRAWS, seed=seed_of(rng))

    return compare


def percentiles(quantile: float, paired: bool) -> Compare:
    def compare(rng: np.random.Generator, clusters: int, effect: float) -> Difference:
        first = items(rng, clusters)
        second = first if paired else items(rng, clusters)
        values = [skewed(x, 0.0)[f > 0] for x, f in ((first.a, first.filled), (second.b, second.filled))]
        index = [np.repeat(np.arange(clusters), one.sizes.astype(int)) for one in (first, second)]
        return percentile_difference(
            values[0], index[0], values[1] + effect, index[1], quantile, paired=paired, bounds=(0.0, None), draws=DRAWS
        )

    return compare


def seed_of(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def settings() -> dict[str, Compare]:
    half, nine = latent_icc(0.5), latent_icc(0.9)
    return {
        "paired: mean, continuous": pairs(continuous),
        "paired: mean, skewed (lognormal)": pairs(skewed),
        "paired: mean, binary 0.5": pairs(binary(0.5), UNIT, half),
        "paired: mean, binary 0.9": pairs(binary(0.9), UNIT, nine),
        "paired: macro mean, continuous": macro_pairs,
        "paired: ratio of sums": ratio_pairs(1.0),
        "paired: ratio of sums, B divides by twice as much": ratio_pairs(2.0),
        "paired: percentile 50, skewed": percentiles(0.5, True),
        "paired: percentile 90, skewed": percentiles(0.9, True),
        "unpaired: mean, continuous": sides(continuous),
        "unpaired: mean, B spreads twice as much": sides(continuous, spread=2.0),
        "unpaired: mean, skewed (lognormal)": sides(skewed),
        "unpaired: mean, binary 0.5": sides(binary(0.5), UNIT, half),
        "unpaired: mean, binary 0.9": sides(binary(0.9), UNIT, nine),
        "unpaired: percentile 90, skewed": percentiles(0.9, False),
    }


POWERED = (
    "paired: mean, continuous",
    "paired: mean, binary 0.5",
    "paired: ratio of sums",
    "unpaired: mean, continuous",
)


def mcnemar_on_turns(rate: float, clusters: int, replicates: int, seed: int) -> float:
    """How often McNemar's test rejects a true null when turns are taken for independent items."""
    rng, icc, one = np.random.default_rng(seed), latent_icc(rate), binary(rate)
    rejected = 0
    for _ in range(replicates):
        found = items(rng, clusters, icc)
        p = mcnemar_test(*(one(x, 0.0)[found.filled > 0] for x in (found.a, found.b))).p
        rejected += p is not None and p <= 0.05
    return rejected / replicates


@dataclass(slots=True)
class Tally:
    rejected: int = 0
    covered: int = 0
    detectable: float = 0.0


def tally(compare: Compare, clusters: int, replicates: int, seed: int, effect: float = 0.0) -> Tally:
    rng, found = np.random.default_rng(seed), Tally()
    for _ in range(replicates):
        one = compare(rng, clusters, effect)
        low, high = one.interval.low, one.interval.high
        found.rejected += one.test.p is not None and one.test.p <= 0.05
        found.covered += low is not None and high is not None and low <= effect + 1e-12 and high >= effect - 1e-12
        found.detectable += minimum_detectable_effect(one.error, one.df) or 0.0
    return found


def marked(share: float, goal: tuple[float, float]) -> str:
    return f"{100 * share:.1f}" + ("" if goal[0] <= share <= goal[1] else " *")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261116)
    given = parser.parse_args()
    n, began = given.replicates, time.perf_counter()
    chosen = settings()
    heads = " | ".join(f"{k} clusters" for k in CLUSTERS)
    print(f"Rejected by the 5 % test / covered by the 95 % interval, in percent of {n} null comparisons\n")
    print(f"| compared | {heads} |\n|---|" + "---:|" * len(CLUSTERS))
    reach: dict[tuple[str, int], float] = {}
    for row, (name, compare) in enumerate(chosen.items()):
        cells = []
        for k in CLUSTERS:
            found = tally(compare, k, n, given.seed + 1000 * row + k)
            reach[name, k] = found.detectable / n
            cells.append(f"{marked(found.rejected / n, REJECTS)} / {marked(found.covered / n, COVERS)}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    shares = [mcnemar_on_turns(rate, k, n, given.seed + k) for rate in (0.5, 0.9) for k in CLUSTERS]
    print(f"\nMcNemar on turns, rates 0.5 and 0.9: {', '.join(f'{100 * share:.1f}' for share in shares)} % rejected")
    print("\nRejected where the true difference is the mean minimum detectable effect (80 % promised)\n")
    print(f"| compared | {heads} |\n|---|" + "---:|" * len(CLUSTERS))
    for row, name in enumerate(POWERED):
        cells = []
        for k in CLUSTERS:
            found = tally(chosen[name], k, n, given.seed + 77 + 1000 * row + k, reach[name, k])
            cells.append(f"{100 * found.rejected / n:.0f} (at {reach[name, k]:.3f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
