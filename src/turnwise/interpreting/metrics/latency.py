"""Latency: how long after somebody begins to speak their translation is heard, read and complete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.interpreting.metrics.base import NO_EVENTS, TurnMetric, declared, milliseconds
from turnwise.interpreting.records import TURN
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, measured, skipped

NOT_HEARD = "nothing was heard"
NO_TEXT = "no text came"
NO_END = "when the speech ended is not known"


class Latency(TurnMetric):
    """First audio as it is heard, first text as it arrives, and the last of the two; from the start of the speech."""

    spec: ClassVar[MetricSpec] = declared(
        "latency",
        "How long after somebody begins to speak does their translation begin, and when is it complete?",
        (
            milliseconds("first_audio", least=None),
            milliseconds("first_text", least=None),
            milliseconds("completion", least=None),
            milliseconds("first_audio_from_end", least=None),
            milliseconds("completion_from_end", least=None),
        ),
        TURN,
    )

    def judge_turn(self, summary: TurnSummary) -> Iterable[tuple[str, Measurement]]:
        """What never came has no latency, and is counted as skipped."""
        start, end = summary.turn.start or 0.0, summary.turn.end
        first, last = summary.audible_first, summary.audible_last
        if last is None and summary.texts:
            last = summary.texts[-1].arrived
        evidence = {"attribution": summary.method}
        yield "first_audio", _between(start, first, NOT_HEARD, evidence)
        yield "first_text", _between(start, summary.first_text, NO_TEXT, evidence)
        yield "completion", _between(start, last, NO_EVENTS, evidence)
        yield "first_audio_from_end", _between(end, first, NOT_HEARD if end is not None else NO_END, evidence)
        yield "completion_from_end", _between(end, last, NO_EVENTS if end is not None else NO_END, evidence)


def _between(start: float | None, moment: float | None, without: str, evidence: object) -> Measurement:
    if start is None or moment is None:
        return skipped(without)
    return measured((moment - start,), evidence=evidence)
