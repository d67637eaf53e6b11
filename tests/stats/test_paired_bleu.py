"""Approximate randomisation of corpus BLEU against sacrebleu's own paired test."""

from __future__ import annotations

import random
from math import sqrt

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from turnwise.stats.paired import paired_difference
from turnwise.translation.text import bleu_statistics, bleu_value


def corpora() -> tuple[list[str], list[str], list[str]]:
    draw = random.Random(7)
    words = [f"w{i}" for i in range(60)]
    references = [" ".join(draw.choices(words, k=12)) for _ in range(120)]
    spoil = [
        [" ".join(w if draw.random() > rate else draw.choice(words) for w in r.split()) for r in references]
        for rate in (0.31, 0.26)
    ]
    return references, spoil[0], spoil[1]


def test_bleu_agrees_with_sacrebleus_approximate_randomisation() -> None:
    references, first, second = corpora()
    theirs = PairedTest(
        [("a", first), ("b", second)], {"BLEU": BLEU()}, [references], test_type="ar", n_samples=2000
    )()[1]["BLEU"]
    each = [[r] for r in references]
    a, b = bleu_statistics(first, each), bleu_statistics(second, each)
    mine = paired_difference(a, b, bleu_value, bounds=(0.0, 100.0))
    assert mine.a == pytest.approx(theirs[0].score, abs=1e-9)
    assert mine.b == pytest.approx(theirs[1].score, abs=1e-9)
    p = mine.test.p
    assert p is not None
    assert theirs[1].p_value is not None
    assert 0.01 < p < 0.5
    assert abs(p - theirs[1].p_value) < 4 * sqrt(p * (1 - p) * (1 / 2000 + 1 / 10_000))
