"""The paired tests against scipy's and sacrebleu's, doing the same: `name  ratio  goal` per line.

10,000 paired items with 10,000 permutations against `scipy.stats.permutation_test`, vectorised, at the fastest of six
ways to call it. Corpus BLEU of two systems, 3,000 segments and 10,000 randomisations, from stored statistics, against
sacrebleu's paired approximate randomisation: as `--paired-ar` runs it, from text, and with its statistics extracted
beforehand. The same data, alternately. First it is checked that both sides come to the same p.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.paired import paired_test
from turnwise.translation.text import bleu_statistics, bleu_value

ITEMS, SEGMENTS, DRAWS = 10_000, 3000, 10_000
REPEATS = 3


class Extracted(BLEU):
    """sacrebleu's BLEU that remembers the statistics of a system."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int, Any] = {}

    def _extract_corpus_statistics(self, hypotheses: Sequence[str], references: Any) -> Any:
        if id(hypotheses) not in self._known:
            self._known[id(hypotheses)] = super()._extract_corpus_statistics(hypotheses, references)
        return self._known[id(hypotheses)]


def main() -> None:
    items()
    bleu()


def items() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=ITEMS)
    y = x + rng.normal(loc=0.012, size=ITEMS)
    a, b = (np.column_stack([side, np.ones(ITEMS)]) for side in (x, y))
    ways: dict[str, Callable[[], float]] = {
        f"{name}, batches of {batch}": permuted(sample, statistic, batch)
        for batch in (100, 1000, 5000)
        for name, sample, statistic in (("pairs", (x, y), gap), ("differences", (y - x,), mean))
    }
    best = min(ways, key=lambda name: seconds(ways[name])[0])  # which way is fastest, from one call of each
    own, peer = alternately(lambda: p_of(a, b, ratio), ways[best])
    check(own[1], peer[1])
    report(f"comparison: scipy ({best}) / sign flips", peer[0] / own[0], ">= 100")


def permuted(sample: tuple[FloatArray, ...], statistic: Callable[..., FloatArray], batch: int) -> Callable[[], float]:
    def run() -> float:
        found = stats.permutation_test(
            sample, statistic, permutation_type="samples", vectorized=True, n_resamples=DRAWS, batch=batch, rng=1
        )
        return float(found.pvalue)

    return run


def gap(x: FloatArray, y: FloatArray, axis: int) -> FloatArray:
    return np.asarray(np.mean(y, axis=axis) - np.mean(x, axis=axis))


def mean(x: FloatArray, axis: int) -> FloatArray:
    return np.asarray(np.mean(x, axis=axis))


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def bleu() -> None:
    references, first, second = corpora()
    each = [[text] for text in references]
    a, b = bleu_statistics(first, each), bleu_statistics(second, each)

    def peer(metric: BLEU) -> Callable[[], float]:
        def run() -> float:
            systems = [("a", first), ("b", second)]
            test = PairedTest(systems, {"BLEU": metric}, [references], test_type="ar", n_samples=DRAWS)
            return float(test()[1]["BLEU"][1].p_value)

        return run

    for name, metric in (("from text", BLEU()), ("statistics extracted", Extracted())):
        peer(metric)()
        own, theirs = alternately(lambda: p_of(a, b, bleu_value), peer(metric))
        check(own[1], theirs[1])
        report(f"comparison: sacrebleu --paired-ar ({name}) / ours", theirs[0] / own[0], ">= 10")


def corpora() -> tuple[list[str], list[str], list[str]]:
    draw = random.Random(7)
    words = [f"w{i}" for i in range(3000)]
    references = [" ".join(draw.choices(words, k=draw.randint(8, 32))) for _ in range(SEGMENTS)]
    spoiled = [
        [" ".join(w if draw.random() > rate else draw.choice(words) for w in r.split()) for r in references]
        for rate in (0.300, 0.305)
    ]
    return references, spoiled[0], spoiled[1]


def p_of(a: FloatArray, b: FloatArray, value: Callable[[FloatArray], FloatArray]) -> float:
    p = paired_test(a, b, value, draws=DRAWS, seed=1).p
    assert p is not None
    return p


def alternately(own: Callable[[], float], peer: Callable[[], float]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The shortest time and the p of either side."""
    both = [(seconds(own), seconds(peer)) for _ in range(REPEATS)]
    return min(one for one, _ in both), min(other for _, other in both)


def seconds(run: Callable[[], float]) -> tuple[float, float]:
    start = time.perf_counter()
    p = run()
    return time.perf_counter() - start, p


def check(own: float, peer: float) -> None:
    """Both are estimates from as many draws; scipy's counts one side twice, so its variance is up to twice as large."""
    error = (own * (1 - own) * 3 / DRAWS) ** 0.5
    assert abs(own - peer) < 5 * error + 2 / DRAWS, (own, peer)


def report(name: str, ratio_: float, goal: str) -> None:
    print(f"{name:75} {ratio_:7.1f}  {goal}", flush=True)


if __name__ == "__main__":
    main()
