"""The statistics of BLEU and chrF against sacrebleu's public interface, doing the same: `name  ratio  goal` per line.

10,000 distinct segments of about 20 words: both scores of the corpus with 1,000-resample intervals, and both scores of
every segment. One process on either side, the same text, nothing kept from one turn to the next. First it is checked
that both give the same numbers. The intervals of the corpus are ours as a run makes them (`pooled_intervals`); those
of the means of the sentence scores, which sacrebleu does not make, come on top. The second line is the whole run, from
files to a store.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import turnwise
from turnwise.kernel.rollup import FloatArray
from turnwise.stats.intervals import Interval, Resampler, pooled_intervals
from turnwise.translation.text import bleu_statistics, bleu_value, chrf_statistics, chrf_value

SEGMENTS = 10_000
RESAMPLES = 1000
REPEATS = 3
FREQUENT = "e" * 12 + "t" * 9 + "a" * 8 + "o" * 8 + "i" * 7 + "n" * 7 + "shr" * 6 + "dl" * 4 + "cumwfgypbvkjxqz" * 2


class Scores(NamedTuple):
    """All that either side has to find out."""

    corpus: tuple[float, float]
    sentences: tuple[FloatArray, FloatArray]
    widths: tuple[float, float]
    """Half the width of the 95% interval of either corpus score."""


def main() -> None:
    hypotheses, references = generated()
    same_numbers(ours(hypotheses, references), peer(hypotheses, references))
    own: list[float] = []
    runs: list[float] = []
    peers: list[float] = []
    for _ in range(REPEATS):  # alternately, so that all meet the same machine
        for side, seconds in ((peer, peers), (ours, own), (whole_run, runs)):
            start = time.perf_counter()
            side(hypotheses, references)
            seconds.append(time.perf_counter() - start)
    report("translation: sacrebleu / BLEU and chrF, all", min(peers) / min(own), ">= 3")
    report("translation: sacrebleu / the whole run", min(peers) / min(runs), ">= 3")


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:45} {ratio:6.2f}  {goal}", flush=True)


def ours(hypotheses: list[str], references: list[str]) -> Scores:
    each = [[text] for text in references]
    bleu, chrf = bleu_statistics(hypotheses, each), chrf_statistics(hypotheses, each)
    sentences = bleu_value(bleu, effective_order=True), chrf_value(chrf)
    resampler = Resampler(len(hypotheses), RESAMPLES)
    present = np.ones((len(hypotheses), 1), dtype=np.bool_)
    widths = []
    for statistics, value, scores in ((bleu, bleu_value, sentences[0]), (chrf, chrf_value, sentences[1])):
        totals = statistics[:, None, :]
        widths.append(half(pooled_intervals(totals, present, value, resampler, bounds=(0.0, 100.0))[0]))
        means = np.stack([scores, np.ones(len(scores))], axis=1)[:, None, :]
        pooled_intervals(means, present, lambda s: s[..., 0] / s[..., 1], resampler, bounds=(0.0, 100.0))
    corpus = float(bleu_value(bleu.sum(axis=0))), float(chrf_value(chrf.sum(axis=0)))
    return Scores(corpus, sentences, (widths[0], widths[1]))


def whole_run(hypotheses: list[str], references: list[str]) -> turnwise.Result:
    """The same as a user gets it: files read and checked, every sentence a row in a store, all groups and roll-ups."""
    with TemporaryDirectory() as folder:
        paths = []
        for name, texts in (("hypotheses", hypotheses), ("references", references)):
            paths.append(Path(folder) / name)
            paths[-1].write_text("".join(f"{text}\n" for text in texts), "utf-8")
        data = {"hypotheses": paths[0], "references": [paths[1]]}
        return turnwise.evaluate(
            data,
            suite="translation",
            metrics=["bleu", "chrf"],
            db=str(Path(folder) / "run.sqlite"),
            resamples=RESAMPLES,
        )


def half(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return (interval.high - interval.low) / 2


def peer(hypotheses: list[str], references: list[str]) -> Scores:
    bleu, chrf = BLEU(), CHRF()
    corpus = [metric.corpus_score(hypotheses, [references], n_bootstrap=RESAMPLES) for metric in (bleu, chrf)]
    sentences = [
        np.array([metric.sentence_score(h, [r]).score for h, r in zip(hypotheses, references, strict=True)])
        for metric in (BLEU(effective_order=True), chrf)
    ]
    widths = corpus[0]._ci, corpus[1]._ci
    return Scores((corpus[0].score, corpus[1].score), (sentences[0], sentences[1]), widths)


def same_numbers(own: Scores, peers: Scores) -> None:
    """Scores to 1e-9; intervals are drawn and closed in differently, so only their widths are alike."""
    np.testing.assert_allclose(own.corpus, peers.corpus, rtol=0, atol=1e-9)
    for mine, theirs in zip(own.sentences, peers.sentences, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(own.widths, peers.widths, rtol=0.15)


def generated() -> tuple[list[str], list[str]]:
    """Distinct sentences in words as frequent and as long as those of a language, and translations like them."""
    draw = random.Random(7)
    words = ["".join(draw.choices(FREQUENT, k=max(1, round(draw.gauss(5.5, 2.5))))) for _ in range(20_000)]
    chances = [1 / (rank + 2.7) for rank in range(len(words))]
    hypotheses, references = [], []
    for _ in range(SEGMENTS):
        reference = draw.choices(words, chances, k=max(3, round(draw.gauss(20, 7))))
        other = iter(draw.choices(words, chances, k=len(reference)))
        hypothesis = [next(other) if draw.random() < 0.3 else word for word in reference if draw.random() < 0.95]
        references.append(sentence(reference, draw))
        hypotheses.append(sentence(hypothesis or reference[:1], draw))
    assert len(set(hypotheses)) == len(set(references)) == SEGMENTS
    return hypotheses, references


def sentence(words: list[str], draw: random.Random) -> str:
    text = " ".join(word + "," if draw.random() < 0.06 else word for word in words)
    return text[0].upper() + text[1:] + draw.choice(".....?!")


if __name__ == "__main__":
    main()
