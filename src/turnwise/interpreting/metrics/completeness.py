"""Completeness without a judge: the share of the expected content words that the translation has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import ClassVar

from turnwise.interpreting.expected import KEPT, expected_words
from turnwise.interpreting.metrics.base import TurnMetric, declared
from turnwise.interpreting.metrics.error_rates import NO_EXPECTED_TEXT, NO_TEXT
from turnwise.interpreting.records import TURN
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, pool
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

NO_CONTENT = "the expected text has no content words"
MOST_NAMED = 20
_POOLED = Rollup("pooled", (pool(),))


@cache
def function_words(language: str | None) -> frozenset[str]:
    """Words without content of their own; none are known of most languages."""
    import yaml

    text = files("turnwise.interpreting").joinpath("data/function_words.yaml").read_text("utf-8")
    known = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  (plain text: `no` is a language)
    return frozenset(known.get((language or "").lower().replace("_", "-").partition("-")[0], "").split())


@lru_cache(KEPT)
def content_words(text: str, language: str | None) -> Counter[str]:
    """The words of an expected text that carry its content; all of them where nothing else is left."""
    words = Counter(expected_words(text))
    content = Counter({word: count for word, count in words.items() if word not in function_words(language)})
    return content or words


class Completeness(TurnMetric):
    """Expected content words that are found, over all of them; the same form of a word only."""

    spec: ClassVar[MetricSpec] = declared(
        "completeness",
        "How many of the content words that were expected does the translation have?",
        (Output(statistics=("found", "expected"), range=(0.0, 1.0), rollups=(MEAN, _POOLED)),),
        TURN,
        needs=("expected_text",),
    )

    def judge_turn(self, summary: TurnSummary) -> Iterable[tuple[str, Measurement]]:
        """A turn that was not translated at all has none of them."""
        turn = summary.turn
        if turn.expected_text is None:
            yield "value", not_applicable(NO_EXPECTED_TEXT)
            return
        expected = content_words(turn.expected_text, turn.expected_language)
        if not expected:
            yield "value", not_applicable(NO_CONTENT)
        elif not summary.texts and summary.has_audio:
            yield "value", skipped(NO_TEXT)
        else:
            came = Counter(summary.words)
            lacking = [(word, count - came.get(word, 0)) for word, count in expected.items()]
            missing = [word for word, count in lacking for _ in range(count)]  # nothing where there is more than enough
            total = expected.total()
            found, named = total - len(missing), missing[:MOST_NAMED]
            yield "value", measured((float(found), float(total)), evidence={"missing": named})
