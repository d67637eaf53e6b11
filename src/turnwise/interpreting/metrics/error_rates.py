"""Word and character error rate of translations against the text that was expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar

from rapidfuzz.distance import Levenshtein

from turnwise.interpreting.expected import expected_form, expected_words
from turnwise.interpreting.metrics.base import TurnMetric, declared
from turnwise.interpreting.records import TURN
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import MEAN, Rollup, pool
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

SPOKEN, NONE = "spoken", "none"
NORMALISER = Parameter(
    "normaliser", SPOKEN, "of both texts: lower case without punctuation, or as they are", choices=(SPOKEN, NONE)
)
NO_EXPECTED_TEXT = "no expected text"
NOTHING_EXPECTED = "nothing was to be translated, and nothing was"
TEXT_CAME = "nothing was to be translated, but text came"
NO_TEXT = "audio came without text"
_CORPUS_SECOND = Rollup("pooled", (pool(),))


def _rate(words: str) -> tuple[Output, ...]:
    rollups = (MEAN, _CORPUS_SECOND)
    return (Output(statistics=("edits", words), direction=Direction.LOWER, range=(0.0, None), rollups=rollups),)


class _ErrorRate(TurnMetric):
    """Edits from the expected text to the one that came, over the length of the expected text."""

    def expected(self, text: str) -> Sequence[str]:
        """What is counted of an expected text: words or characters."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it counts")

    def came(self, summary: TurnSummary) -> Sequence[str]:
        """The same of the text that came."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it counts")

    @cached_property
    def is_spoken(self) -> bool:
        """Whether case and punctuation are left out."""
        return bool(self.settings.values["normaliser"] == SPOKEN)

    def judge_turn(self, summary: TurnSummary) -> Iterable[tuple[str, Measurement]]:
        """A turn that should have been translated and was not has every word wrong."""
        expected_text = summary.turn.expected_text
        if expected_text is None:
            yield "value", not_applicable(NO_EXPECTED_TEXT)
            return
        expected, found = self.expected(expected_text), self.came(summary)
        evidence = {"text": summary.text, "expected": expected_text, "attribution": summary.method}
        if not expected:
            came = Measurement((1.0, 1.0), reason=TEXT_CAME, evidence=evidence)
            yield "value", came if found else not_applicable(NOTHING_EXPECTED)
        elif not summary.texts and summary.has_audio:
            yield "value", skipped(NO_TEXT)
        else:
            edits = Levenshtein.distance(expected, found)
            yield "value", measured((float(edits), float(len(expected))), evidence=evidence)


class WordErrorRate(_ErrorRate):
    """Words wrong, missing or too many, over the words that were expected."""

    spec: ClassVar[MetricSpec] = declared(
        "wer",
        "How many words of the translation are not as expected?",
        _rate("words"),
        TURN,
        needs=("expected_text",),
        parameters=(NORMALISER,),
        source="Levenshtein (1966)",
    )

    def expected(self, text: str) -> Sequence[str]:
        """Words; characters of scripts without spaces."""
        return expected_words(text) if self.is_spoken else text.split()

    def came(self, summary: TurnSummary) -> Sequence[str]:
        """The same."""
        return summary.words if self.is_spoken else summary.text.split()


class CharacterErrorRate(_ErrorRate):
    """The same with characters; for languages that are written without spaces, and for long words."""

    spec: ClassVar[MetricSpec] = declared(
        "cer",
        "How many characters of the translation are not as expected?",
        _rate("characters"),
        TURN,
        needs=("expected_text",),
        parameters=(NORMALISER,),
        source="Levenshtein (1966)",
    )

    def expected(self, text: str) -> Sequence[str]:
        """Characters, spaces among them."""
        return expected_form(text) if self.is_spoken else " ".join(text.split())

    def came(self, summary: TurnSummary) -> Sequence[str]:
        """The same."""
        return summary.spoken if self.is_spoken else " ".join(summary.text.split())
