"""BLEU, chrF, chrF++ and TER: sacrebleu as the independent implementation, and some arithmetic in sight."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from turnwise.kernel.errors import InputError, UsageError
from turnwise.kernel.rollup import FloatArray
from turnwise.stats.intervals import Resampler
from turnwise.translation import ngrams
from turnwise.translation import text as t

Corpus = tuple[list[str], list[list[str | None]]]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Silence sacrebleu, which advises against sentence BLEU without effective order each time."""
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    yield
    logging.getLogger("sacrebleu").setLevel(logging.NOTSET)


HAND_MADE: Corpus = (
    [
        "The cat sat on the mat.",
        "",
        "Hello",
        "hello, world: 3.14 - 2,000 (really?)",
        "the the the the the",
        "a\tb\u00a0c\u3000d  e \n f",
        "Cafe\u0301 au lait",
        "今天天气很好,我们去公园。",
        "これはテストです",
        "👩‍👩‍👧 emoji 🇩🇪 and \U00020000",
        "&quot;quoted&quot; &amp; <skipped> end-\nof line",
        "   ",
        "x",
        "İSTANBUL straße ΣΑΣ",
        "lone \ud800 surrogate \x00 zero \x1f control",
        "one two three four .",
        "(hi) !! -- 'tis it's",
    ],
    [
        ["The cat is sitting on the mat."],
        ["A reference that the hypothesis is missing"],
        ["Hello"],
        ["Hello, world: 3.14 - 2000 (really)?", None, "hello world: 3.14"],
        ["the cat the dog", "the the the", "the"],
        ["a b c d e f"],
        ["Café au lait", "Cafe au lait"],
        ["今天的天气很好,我们去公园吧。", "今天天气不错。"],
        ["これは試験です"],
        ["👩‍👩‍👧 emoji 🇩🇪 or \U00020001"],
        ['"quoted" & end of line', None],
        [""],
        ["", "y", "x"],
        ["istanbul STRASSE σας"],
        ["lone \ud800 surrogates \x00 zeros \x1f controls"],
        ["one two three four five six seven eight.", "one two three"],
        ["(hi) !! - 'tis it is", ""],
    ],
)

LETTERS = st.text(st.sampled_from("aaabbc .,-3'(日本語\u0301é\t"), max_size=24)
ANYTHING = st.text(max_size=12)
SEGMENT = st.tuples(LETTERS | ANYTHING, st.lists(st.none() | LETTERS | ANYTHING, min_size=1, max_size=3))
CORPORA = st.lists(
    SEGMENT.filter(lambda segment: any(text is not None for text in segment[1])), min_size=1, max_size=6
).map(lambda rows: ([hypothesis for hypothesis, _ in rows], [list(texts) for _, texts in rows]))
COMPARED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def agree(ours: FloatArray, expected: float | list[float]) -> None:
    np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-9)


def corpus_score(metric: Any, corpus: Corpus) -> float:
    """What sacrebleu says of the corpus; it wants one stream for each reference, filled up with None."""
    hypotheses, references = corpus
    streams = max(map(len, references))
    filled = [[*texts, *[None] * (streams - len(texts))] for texts in references]
    return float(metric.corpus_score(hypotheses, [list(stream) for stream in zip(*filled, strict=True)]).score)


def sentence_scores(metric: Any, corpus: Corpus) -> list[float]:
    return [metric.sentence_score(h, refs).score for h, refs in zip(*corpus, strict=True)]


def bleu_agrees(corpus: Corpus, tokenizer: str, lowercase: bool) -> None:
    statistics = t.bleu_statistics(*corpus, tokenizer=tokenizer, lowercase=lowercase)
    assert statistics.shape == (len(corpus[0]), len(t.BLEU_STATISTICS))
    for effective in (False, True):
        peer = BLEU(tokenize=tokenizer, lowercase=lowercase, effective_order=effective)
        agree(t.bleu_value(statistics, effective), sentence_scores(peer, corpus))
        agree(t.bleu_value(statistics.sum(axis=0), effective), corpus_score(peer, corpus))
        ours = t.bleu_signature(
            t.reference_count(corpus[1]), tokenizer=tokenizer, lowercase=lowercase, effective_order=effective
        )
        assert ours == str(peer.get_signature())


def chrf_agrees(corpus: Corpus, word_order: int, lowercase: bool) -> None:
    statistics = t.chrf_statistics(*corpus, word_order=word_order, lowercase=lowercase)
    assert statistics.shape == (len(corpus[0]), len(t.chrf_statistics_names(word_order)))
    peer = CHRF(word_order=word_order, lowercase=lowercase)
    agree(t.chrf_value(statistics), sentence_scores(peer, corpus))
    agree(t.chrf_value(statistics.sum(axis=0)), corpus_score(peer, corpus))
    ours = t.chrf_signature(t.reference_count(corpus[1]), word_order=word_order, lowercase=lowercase)
    assert ours == str(peer.get_signature())


def ter_agrees(corpus: Corpus, **options: Any) -> None:
    statistics = t.ter_statistics(*corpus, **options)
    assert statistics.shape == (len(corpus[0]), len(t.TER_STATISTICS))
    peer = TER(**options)
    agree(t.ter_value(statistics), sentence_scores(peer, corpus))
    agree(t.ter_value(statistics.sum(axis=0)), corpus_score(peer, corpus))
    assert t.ter_signature(t.reference_count(corpus[1]), **options) == str(peer.get_signature())


# --- equal to sacrebleu -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenizer", t.TOKENIZERS)
def test_bleu_of_hand_made_segments(tokenizer: str, lowercase: bool) -> None:
    bleu_agrees(HAND_MADE, tokenizer, lowercase)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("word_order", [0, 1, 2])
def test_chrf_of_hand_made_segments(word_order: int, lowercase: bool) -> None:
    chrf_agrees(HAND_MADE, word_order, lowercase)


@pytest.mark.parametrize("option", [None, "normalized", "no_punct", "case_sensitive", "asian_support"])
def test_ter_of_hand_made_segments(option: str | None) -> None:
    options = {option: True} if option else {}
    if option == "asian_support":
        options |= {"normalized": True, "no_punct": True}
    ter_agrees(HAND_MADE, **options)


@COMPARED
@given(CORPORA, st.sampled_from(t.TOKENIZERS), st.booleans())
@example((["a b c"], [["a b c"]]), "13a", False)
@example(([""], [[""]]), "13a", False)
def test_bleu_of_any_segments(corpus: Corpus, tokenizer: str, lowercase: bool) -> None:
    bleu_agrees(corpus, tokenizer, lowercase)


@COMPARED
@given(CORPORA, st.sampled_from([0, 2]), st.booleans())
@example(([""], [[""]]), 2, False)
def test_chrf_of_any_segments(corpus: Corpus, word_order: int, lowercase: bool) -> None:
    chrf_agrees(corpus, word_order, lowercase)


@COMPARED
@given(CORPORA, st.booleans())
def test_ter_of_any_segments(corpus: Corpus, case_sensitive: bool) -> None:
    ter_agrees(corpus, case_sensitive=case_sensitive)


def test_bleu_statistics_are_sacrebleus_own_numbers() -> None:
    statistics = t.bleu_statistics(*HAND_MADE)
    peer = BLEU()
    for row, hypothesis, texts in zip(statistics.tolist(), *HAND_MADE, strict=True):
        score = peer.sentence_score(hypothesis, texts)  # type: ignore[arg-type]
        assert row == [score.sys_len, score.ref_len, *score.counts, *score.totals]


def test_resamples_are_sacrebleus_resamples() -> None:
    """The same draws give sacrebleu's mean and interval; it resamples in single precision, hence the tolerance."""
    hypotheses, references = HAND_MADE[0] * 3, HAND_MADE[1] * 3
    pairs: Corpus = (hypotheses, [texts[:1] for texts in references])
    drawn = np.random.default_rng(12345).choice(len(hypotheses), size=(200, len(hypotheses)), replace=True)
    weights = np.stack([np.bincount(row, minlength=len(hypotheses)) for row in drawn]).astype(np.float64)
    for peer, statistics, value in (
        (BLEU(), t.bleu_statistics(*pairs), t.bleu_value),
        (CHRF(), t.chrf_statistics(*pairs), t.chrf_value),
    ):
        expected = peer.corpus_score(hypotheses, [[str(texts[0]) for texts in references]], n_bootstrap=200)
        ours = np.sort(value(weights @ statistics))
        assert ours.mean() == pytest.approx(expected._mean, abs=1e-4)
        assert (ours[194] - ours[5]) / 2 == pytest.approx(expected._ci, abs=1e-4)


# --- arithmetic in sight ------------------------------------------------------------------------------------


def test_bleu_by_hand() -> None:
    # 6 tokens against 7: "the cat sat on the mat" / "the cat is on the big mat".
    statistics = t.bleu_statistics(["the cat sat on the mat"], [["the cat is on the big mat"]])
    # correct: the x2, cat, on, mat = 5; "the cat", "on the" = 2; no trigram, no 4-gram.
    np.testing.assert_array_equal(statistics, [[6, 7, 5, 2, 0, 0, 6, 5, 4, 3]])
    # The first order without a match counts 1/2 of one, the second 1/4.
    mean_log = (math.log(5 / 6) + math.log(2 / 5) + math.log(1 / (2 * 4)) + math.log(1 / (4 * 3))) / 4
    assert t.bleu_value(statistics)[0] == pytest.approx(100 * math.exp(1 - 7 / 6) * math.exp(mean_log), abs=1e-9)


def test_effective_order_leaves_out_what_is_too_long() -> None:
    statistics = t.bleu_statistics(["good morning"], [["good morning"]])
    assert t.bleu_value(statistics, effective_order=True).tolist() == [100.0]
    assert t.bleu_value(statistics, effective_order=False).tolist() == [0.0]


def test_matches_are_clipped_at_the_reference_that_has_most() -> None:
    # "the" 7 times; twice in the one reference, once in the other (Papineni et al. 2002, example 2: 2/7).
    references = ["the cat is on the mat", "there is a cat on the mat"]
    statistics = t.bleu_statistics(["the the the the the the the"], [references])
    assert statistics[0, [2, 6]].tolist() == [2, 7]


def test_of_two_equally_close_reference_lengths_the_shorter_counts() -> None:
    statistics = t.bleu_statistics(["a b c"], [["a b c d", "a b"]])
    assert statistics[0, :2].tolist() == [3, 2]


def test_chrf_by_hand() -> None:
    # abc / abd: 2 of 3 characters, 1 of 2 bigrams, 0 of 1 trigram; both sides have no longer n-gram.
    statistics = t.chrf_statistics(["a bc"], [["ab d"]])
    np.testing.assert_array_equal(statistics, [[3, 3, 2, 2, 2, 1, 1, 1, 0, *[0] * 9]])
    # Precision and recall are the same mean, and so is their F.
    assert t.chrf_value(statistics)[0] == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3, abs=1e-9)


def test_chrf_counts_the_best_reference_and_the_first_of_equals() -> None:
    one = t.chrf_statistics(["abc"], [["xbc"]])
    np.testing.assert_array_equal(t.chrf_statistics(["abc"], [["zzzz", "xbc", "abx"]]), one)


def test_chrf_plus_plus_splits_one_punctuation_mark_off() -> None:
    statistics = t.chrf_statistics(["(hi) you,"], [["(hi ) you ,"]], word_order=2)
    # Words "(hi", ")", "you", "," against "(", "hi", ")", "you", ",": 4 and 5 of which 3 match; bigrams ") you" and
    # "you ," match.
    assert statistics[0, 18:].tolist() == [4, 5, 3, 3, 4, 2]


def test_ter_by_hand() -> None:
    # One shift ("d" to the end) repairs the first; the second lacks two words of three and four: min(2, 3) edits,
    # (3 + 4) / 2 words; the third has edits but no reference words.
    statistics = t.ter_statistics(["d a b c", "x", "y"], [["a b c d"], ["x y z", "x y z w"], [""]])
    np.testing.assert_array_equal(statistics, [[1, 4], [2, 3.5], [1, 0]])
    np.testing.assert_allclose(t.ter_value(statistics), [25, 200 / 3.5, 100])
    assert t.ter_value(np.zeros(2)) == 0


# --- shapes, sums and refusals ------------------------------------------------------------------------------


def test_values_take_any_leading_axes() -> None:
    for statistics, value in (
        (t.bleu_statistics(*HAND_MADE), t.bleu_value),
        (t.chrf_statistics(*HAND_MADE, word_order=2), t.chrf_value),
        (t.ter_statistics(*HAND_MADE), t.ter_value),
    ):
        drawn = Resampler(len(statistics), 20).draw(statistics[:, None, :])
        assert value(drawn).shape == (20, 1)
        assert value(drawn)[3, 0] == pytest.approx(float(value(drawn[3, 0])), abs=1e-12)
        assert np.isfinite(value(drawn)).all()
        assert value(statistics[:0]).shape == (0,)


def test_no_segment_at_all() -> None:
    assert t.bleu_statistics([], []).shape == (0, 10)
    assert t.chrf_statistics([], [], word_order=2).shape == (0, 24)
    assert t.ter_statistics([], []).shape == (0, 2)


@COMPARED
@given(CORPORA)
def test_a_segment_has_the_same_statistics_alone(corpus: Corpus) -> None:
    for extract in (t.bleu_statistics, t.chrf_statistics):
        alone = [extract([h], [refs]) for h, refs in zip(*corpus, strict=True)]
        np.testing.assert_array_equal(extract(*corpus), np.concatenate(alone))


def test_refusals_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match="2 hypotheses and references for 1 segments"):
        t.bleu_statistics(["a", "b"], [["a"]])
    with pytest.raises(InputError, match="segment 1"):
        t.chrf_statistics(["a", "b"], [["a"], [None]])
    with pytest.raises(InputError, match="segment 0\n  found: 'abc'"):
        t.ter_statistics(["abc"], ["abc"])
    with pytest.raises(UsageError, match="did you mean intl"):
        t.bleu_statistics(["a"], [["a"]], tokenizer="int")


def test_reference_count() -> None:
    assert t.reference_count([["a", "b"], ["c", "d"]]) == 2
    assert t.reference_count([["a", "b"], ["c", None]]) is None
    assert "nrefs:var" in t.bleu_signature(None)


# --- counting -----------------------------------------------------------------------------------------------


def counted(segments: Sequence[Sequence[Sequence[str]]], order: int) -> FloatArray:
    """The definition, written out: an n-gram matches min(count, greatest count in a reference) times."""
    rows = []
    for scored, *others in segments:
        row = []
        for n in range(1, order + 1):
            grams = [Counter(tuple(x[i : i + n]) for i in range(len(x) - n + 1)) for x in (scored, *others)]
            row.append(sum(min(c, max(other[gram] for other in grams[1:])) for gram, c in grams[0].items()))
        rows.append(row)
    return np.array(rows, dtype=np.float64)


SMALL = st.lists(st.lists(st.text("abc\x00\U0010ffff", max_size=9), min_size=2, max_size=5), min_size=1, max_size=8)


@COMPARED
@given(SMALL, st.integers(1, 6), st.sampled_from([4, 10, 16, 22, 64]), st.sampled_from([1, 20, 1 << 18]))
def test_matches_do_not_depend_on_how_keys_and_portions_fall(
    segments: list[list[str]], order: int, bits: int, portion: int
) -> None:
    """Short keys force local codes, halving and plain counting; small portions force many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "KEY_BITS", bits)
        patch.setattr(ngrams, "PORTION", portion)
        np.testing.assert_array_equal(ngrams.character_matches(segments, order), counted(segments, order))
        np.testing.assert_array_equal(ngrams.word_matches(segments, order), counted(segments, order))


def test_a_large_alphabet_and_a_segment_too_rich_for_any_key() -> None:
    draw = np.random.default_rng(5)
    rich = ["".join(map(chr, draw.integers(0x4E00, 0x9FA5, 3000))) for _ in range(2)]
    plain = [["".join(map(chr, draw.integers(0x4E00, 0x9FA5, 30)))] * 2 for _ in range(200)]
    segments = [*plain, [rich[0], rich[1] + rich[0][:50], rich[0][100:200]], *plain]
    np.testing.assert_array_equal(ngrams.character_matches(segments, 6), counted(segments, 6))
