"""BLEU, chrF, chrF++ and TER as sufficient statistics and functions of their sums, equal to sacrebleu's.

Statistics are extracted once; the same value function then gives the score of a segment, of the corpus (the sum over
its segments) and of every resample. Tokenizers, signatures and the edits of TER are sacrebleu's own. Which segments
are scored is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten
from turnwise.kernel.rollup import FloatArray
from turnwise.translation.ngrams import character_matches, ngram_counts, word_matches

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

_T = TypeVar("_T")
References = Sequence[Sequence[str | None]]
"""For each segment its references, one or more; None stands for one that is missing."""

TOKENIZERS = ("13a", "intl", "zh", "char", "none")
"""The tokenizers of BLEU that need nothing but sacrebleu; its others need a dictionary or a model."""
BLEU_ORDER = 4
CHRF_CHARACTER_ORDER = 6
CHRF_PLUS_PLUS_WORD_ORDER = 2
CHRF_BETA = 2

BLEU_STATISTICS = (
    "hypothesis_length",
    "reference_length",
    *(f"correct_{n}" for n in range(1, BLEU_ORDER + 1)),
    *(f"total_{n}" for n in range(1, BLEU_ORDER + 1)),
)
TER_STATISTICS = ("edits", "reference_words")

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def chrf_statistics_names(word_order: int = 0) -> tuple[str, ...]:
    """The names of the statistics of chrF, or of chrF++ with word order 2."""
    grams = [f"character_{n}" for n in range(1, CHRF_CHARACTER_ORDER + 1)]
    grams += [f"word_{n}" for n in range(1, word_order + 1)]
    return tuple(f"{side}_{gram}" for gram in grams for side in ("hypothesis", "reference", "match"))


def bleu_statistics(
    hypotheses: Sequence[str], references: References, *, tokenizer: str = "13a", lowercase: bool = False
) -> FloatArray:
    """The statistics of BLEU (n, 10), one row for each segment, as `BLEU_STATISTICS` names them.

    The reference length is that of the reference closest in length, the shorter one of two that are equally close.
    A match is clipped at the count in the reference that has the n-gram most often (Papineni et al. 2002).
    """
    given = _given(hypotheses, references)
    tokenize: Callable[[str], str] = _bleu(tokenizer, lowercase).tokenizer

    def words(text: str) -> list[str]:
        return tokenize((text.lower() if lowercase else text).rstrip()).split()

    segments = [[words(text) for text in texts] for texts in given]
    _forget_texts(tokenize)
    lengths = [(len(words[0]), _closest(words)) for words in segments]
    totals = ngram_counts([length for length, _ in lengths], BLEU_ORDER)
    head = np.array(lengths, dtype=np.float64).reshape(-1, 2)
    return np.hstack([head, word_matches(segments, BLEU_ORDER), totals])


def bleu_value(statistics: FloatArray, effective_order: bool = False) -> FloatArray:
    """BLEU, 0 to 100, of statistics (..., 10): of a segment, or summed over segments.

    BLEU = 100 BP exp(mean of log p_n for n = 1..4), p_n = correct_n / total_n, BP = exp(1 - r / h) where the
    hypothesis length h is below the reference length r, else 1. The k-th p_n without a match is
    1 / (2^k total_n) (Chen and Cherry 2014, method 3). Without any match BLEU is 0.

    Args:
        statistics: as `bleu_statistics` gives them.
        effective_order: where the hypothesis is too short for some n, leave these n out; otherwise BLEU is 0 then.
    """
    length, reference = statistics[..., 0], statistics[..., 1]
    correct, total = statistics[..., 2 : 2 + BLEU_ORDER], statistics[..., 2 + BLEU_ORDER :]
    present, matched = total > 0, correct > 0
    halvings = np.cumsum(present & ~matched, axis=-1)
    precision = np.where(matched, correct, 0.5**halvings) / np.where(present, total, 1.0)
    orders = present.sum(axis=-1)
    logs = np.where(present, np.log(precision), 0.0).sum(axis=-1)
    brevity = np.exp(np.minimum(0.0, 1.0 - reference / np.maximum(length, 1.0)))
    scored = matched.any(axis=-1) & (effective_order | (orders == BLEU_ORDER))
    value = 100.0 * brevity * np.exp(logs / np.maximum(orders, 1))
    return np.asarray(np.where(scored, value, 0.0), dtype=np.float64)


def chrf_statistics(
    hypotheses: Sequence[str], references: References, *, word_order: int = 0, lowercase: bool = False
) -> FloatArray:
    """The statistics of chrF (n, 18), or with word order 2 of chrF++ (n, 24), one row for each segment.

    For each order of character n-grams (1 to 6, whitespace removed), then of word n-grams, how many the hypothesis
    has, how many the reference has, and how many match. Of several references the one with the best chrF counts.
    Where the reference is too short for an order, the hypothesis counts none of that order either.
    """
    given = _given(hypotheses, references)
    if lowercase:
        given = [[text.lower() for text in texts] for texts in given]
    bare = _pairs([["".join(text.split()) for text in texts] for texts in given])
    blocks = [_compared(bare, character_matches(bare, CHRF_CHARACTER_ORDER))]
    if word_order:
        words = _pairs([[_chrf_words(text) for text in texts] for texts in given])
        blocks.append(_compared(words, word_matches(words, word_order)))
    return _best(np.hstack(blocks), [len(texts) - 1 for texts in given])


def chrf_value(statistics: FloatArray) -> FloatArray:
    """chrF, 0 to 100, of statistics (..., 3 for each order): of a segment, or summed over segments.

    chrF = 100 (1 + b^2) P R / (b^2 P + R) with b = 2; P and R are the means of match / hypothesis and of match /
    reference over the orders that both sides have (Popovic 2015, 2017). Without such an order or match it is 0.
    """
    hypothesis, reference, match = (statistics[..., k::3] for k in range(3))
    both = (hypothesis > 0) & (reference > 0)
    precisions = np.where(both, match / np.where(both, hypothesis, 1.0), 0.0)
    recalls = np.where(both, match / np.where(both, reference, 1.0), 0.0)
    orders = np.maximum(both.sum(axis=-1), 1)
    # Added one by one, in sacrebleu's order: the last bit can decide which of two references is the better one.
    precision, recall = _added(precisions) / orders, _added(recalls) / orders
    weight = CHRF_BETA**2
    below = weight * precision + recall
    return np.asarray(100 * ((1 + weight) * precision * recall / np.where(below > 0, below, 1.0)), dtype=np.float64)


def ter_statistics(
    hypotheses: Sequence[str],
    references: References,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> FloatArray:
    """The statistics of TER (n, 2): edits to the nearest reference, and the mean number of words of the references.

    Args:
        hypotheses: one for each segment.
        references: one or more for each segment.
        normalized: separate punctuation and undo XML escapes, as tercom does.
        no_punct: remove punctuation.
        asian_support: with `normalized`, split Chinese and Japanese characters; with `no_punct`, remove theirs.
        case_sensitive: keep the case; TER ignores it otherwise.
    """
    given = _given(hypotheses, references)
    metric = _ter(normalized, no_punct, asian_support, case_sensitive)
    scores = [metric.sentence_score(texts[0], texts[1:]) for texts in given]
    rows = [(score.num_edits, score.ref_length) for score in scores]
    return np.array(rows, dtype=np.float64).reshape(-1, len(TER_STATISTICS))


def ter_value(statistics: FloatArray) -> FloatArray:
    """TER, 100 edits / reference words, of statistics (..., 2); 100 for edits to empty references, 0 for none.

    Snover et al. (2006). Lower is better, and it can be above 100.
    """
    edits, words = statistics[..., 0], statistics[..., 1]
    value = np.where(words > 0, edits / np.where(words > 0, words, 1.0), edits > 0)
    return np.asarray(100 * value, dtype=np.float64)


def reference_count(references: References) -> int | None:
    """How many references every segment has, or None where the segments differ."""
    counts = {sum(text is not None for text in texts) for texts in references}
    return counts.pop() if len(counts) == 1 else None


def bleu_signature(
    references: int | None, *, tokenizer: str = "13a", lowercase: bool = False, effective_order: bool = False
) -> str:
    """What sacrebleu signs BLEU with, for so many references per segment (None: a differing number)."""
    return _signed(_bleu(tokenizer, lowercase, effective_order), references)


def chrf_signature(references: int | None, *, word_order: int = 0, lowercase: bool = False) -> str:
    """What sacrebleu signs chrF with, for so many references per segment (None: a differing number)."""
    from sacrebleu.metrics.chrf import CHRF

    return _signed(CHRF(CHRF_CHARACTER_ORDER, word_order, CHRF_BETA, lowercase=lowercase), references)


def ter_signature(
    references: int | None,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> str:
    """What sacrebleu signs TER with, for so many references per segment (None: a differing number)."""
    return _signed(_ter(normalized, no_punct, asian_support, case_sensitive), references)


def _given(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """For each segment its hypothesis, then the references that are there."""
    if len(hypotheses) != len(references):
        raise InputError(
            "hypotheses and references do not belong together",
            found=f"{len(hypotheses)} hypotheses and references for {len(references)} segments",
            expected="references for each hypothesis",
        )
    given = [
        [hypothesis, *(text for text in texts if text is not None)]
        for hypothesis, texts in zip(hypotheses, references, strict=True)
    ]
    for number, texts in enumerate(given):
        if len(texts) == 1 or isinstance(references[number], str):
            found = shorten(references[number])
            raise InputError("a segment needs a list of references", where=f"segment {number}", found=found)
    return given


def _bleu(tokenizer: str, lowercase: bool, effective_order: bool = False) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    if tokenizer not in BLEU.TOKENIZERS:
        raise UsageError(
            f"there is no tokenizer {tokenizer!r}",
            expected=", ".join(BLEU.TOKENIZERS),
            remedy=near_misses(tokenizer, BLEU.TOKENIZERS) or None,
        )
    try:
        return BLEU(tokenize=tokenizer, lowercase=lowercase, effective_order=effective_order)
    except (ImportError, RuntimeError, OSError) as error:  # a package, a dictionary or a model is not there
        raise UsageError(
            f"the tokenizer {tokenizer!r} is not installed", remedy=" ".join(str(error).split())
        ) from error


def _forget_texts(tokenize: Any) -> None:
    """Forget what sacrebleu's tokenizers remember: the last 65,536 texts, of no use here, which fill the memory."""
    for kind in (type(tokenize), type(getattr(tokenize, "_post_tokenizer", None))):
        if clear := getattr(kind.__call__, "cache_clear", None):
            clear()


def _ter(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> TER:
    from sacrebleu.metrics.ter import TER

    return TER(normalized, no_punct, asian_support, case_sensitive)


def _signed(metric: BLEU | CHRF | TER, references: int | None) -> str:
    # sacrebleu counts the references while it scores; -1 is what it calls a differing number.
    metric.num_refs = -1 if references is None else references
    return metric.get_signature().format()


def _closest(words: Sequence[Sequence[str]]) -> int:
    length = len(words[0])
    return min(map(len, words[1:]), key=lambda other: (abs(other - length), other))


def _pairs(segments: Iterable[Sequence[_T]]) -> list[tuple[_T, _T]]:
    return [(texts[0], other) for texts in segments for other in texts[1:]]


def _chrf_words(text: str) -> list[str]:
    """Words with one punctuation mark split off: the last character, or else the first."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            words += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words


def _compared(pairs: Sequence[Sequence[Sequence[str]]], matches: FloatArray) -> FloatArray:
    """Hypothesis, reference and match counts, order by order."""
    order = matches.shape[1]
    hypothesis, reference = (ngram_counts([len(pair[side]) for pair in pairs], order) for side in range(2))
    counts = np.stack([np.where(reference > 0, hypothesis, 0.0), reference, matches], axis=2)
    return counts.reshape(len(pairs), 3 * order)


def _best(statistics: FloatArray, references: Sequence[int]) -> FloatArray:
    """The row of each segment's best reference, the first of equals."""
    if len(statistics) == len(references):
        return statistics
    counts = np.array(references, dtype=np.int64)
    first = np.cumsum(counts) - counts
    segment = np.repeat(np.arange(len(counts)), counts)
    values = np.full((len(counts), int(counts.max(initial=0))), -1.0)
    values[segment, np.arange(len(segment)) - first[segment]] = chrf_value(statistics)
    best: FloatArray = statistics[first + np.argmax(values, axis=1)]
    return best


def _added(terms: FloatArray) -> FloatArray:
    """The sum over the last axis, from left to right."""
    return sum((terms[..., k] for k in range(terms.shape[-1])), np.zeros(terms.shape[:-1]))
