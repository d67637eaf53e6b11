"""Target language: is the translation in the language that was asked for?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any, ClassVar

from turnwise.interpreting.metrics.base import TurnMetric, declared
from turnwise.interpreting.records import TURN
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.extras import import_extra, remedy
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import MEAN
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

PACKAGE, EXTRA = "pycld2", "interpreting"
NOT_NAMED = "no language is expected"
NO_TEXT = "no translated text came"
UNKNOWN = "the language of the text cannot be told: too short, or none that is known"
NOT_KNOWN = "the detector does not know {}"
_UNKNOWN_CODE = "un"
_SAME = {
    "iw": "he",
    "in": "id",
    "ji": "yi",
    "nb": "no",
    "nn": "no",
    "tl": "fil",
    "cmn": "zh",
    "mo": "ro",
    "sh": "sr",
    "prs": "fa",
    "arz": "ar",
}
"""Codes of the same language, as detectors and scenarios write them."""


def primary(code: str) -> str:
    """The language of a tag, without script and region.

    >>> primary("zh-Hant"), primary("pt_BR"), primary("nb")
    ('zh', 'pt', 'no')
    """
    plain = code.strip().lower().replace("_", "-").partition("-")[0]
    return _SAME.get(plain, plain)


@cache
def _detector() -> tuple[Any, frozenset[str]]:
    cld2 = import_extra(PACKAGE, EXTRA, "telling languages apart")
    return cld2, frozenset(primary(code) for _, code in cld2.LANGUAGES)


def languages_of(text: str) -> list[dict[str, Any]]:
    """The languages of a text with their shares, the largest first; empty where it cannot be told."""
    cld2, _ = _detector()
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    _, _, found = cld2.detect(plain, isPlainText=True)
    return [{"language": primary(code), "percent": percent} for _, code, percent, _ in found if code != _UNKNOWN_CODE]


class TargetLanguage(TurnMetric):
    """Whether most of the translation is in the expected language."""

    spec: ClassVar[MetricSpec] = declared(
        "target_language",
        "Is the translation in the language that was asked for?",
        (Output(statistics=("right",), range=(0.0, 1.0), rollups=(MEAN,)),),
        TURN,
        needs=("expected_language",),
        source="CLD2",
    )

    def judge_turn(self, summary: TurnSummary) -> Iterable[tuple[str, Measurement]]:
        """One translation."""
        expected = summary.turn.expected_language
        if not expected:
            yield "value", not_applicable(NOT_NAMED)
        elif not summary.text.strip():
            yield "value", skipped(NO_TEXT)
        elif not find_spec(PACKAGE):
            yield "value", skipped(f"{PACKAGE} is not installed: {remedy(EXTRA)}")
        elif primary(expected) not in _detector()[1]:
            yield "value", not_applicable(NOT_KNOWN.format(expected))
        else:
            found = languages_of(summary.text)
            right = bool(found) and found[0]["language"] == primary(expected)
            evidence = {"expected": expected, "found": found}
            yield "value", measured((float(right),), evidence=evidence) if found else not_applicable(UNKNOWN)
