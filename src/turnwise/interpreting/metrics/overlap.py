"""Overlap: how much is heard at once, of speakers and translations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar

from turnwise.interpreting.batch import Heard
from turnwise.interpreting.metrics.base import CallMetric, Found, declared
from turnwise.interpreting.records import CAPTURE
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, pool
from turnwise.kernel.score import measured, not_applicable
from turnwise.kernel.spans import common_spans, length, merged_spans

NO_AUDIO = "no audio was heard"
_POOLED = Rollup("pooled", (pool(),))


class Overlap(CallMetric):
    """Time in which speech and translation are heard at once, over the time in which anything is."""

    spec: ClassVar[MetricSpec] = declared(
        "overlap",
        "How much of the time are a speaker and a translation heard at once?",
        (
            Output(statistics=("both", "any"), direction=Direction.NEITHER, range=(0.0, 1.0), rollups=(MEAN, _POOLED)),
            Output(
                "translations",
                ("both", "any"),
                Direction.LOWER,
                (0.0, 1.0),
                (MEAN, _POOLED),
            ),
        ),
        CAPTURE,
    )

    def judge(self, heard: Heard) -> Iterable[Found]:
        """Speakers against translations; and translations of different turns against each other."""
        summaries = heard.conversation.summaries
        translations = [span for summary in summaries for span in summary.audible]
        translated = merged_spans(translations)
        if not translated:
            yield heard.unit, "value", not_applicable(NO_AUDIO)
            yield heard.unit, "translations", not_applicable(NO_AUDIO)
            return
        spoken = [(turn.start or 0.0, turn.end) for turn in (one.turn for one in summaries) if turn.end is not None]
        speech = merged_spans(spoken)
        both = length(common_spans(speech, translated))
        either = length(speech) + length(translated) - both
        yield heard.unit, "value", measured((both, either), evidence={"overlap_ms": round(both, 1)})
        at_once = length(_twice(translations))
        yield heard.unit, "translations", measured((at_once, length(translated)))


def _twice(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where more than one of some spans is."""
    moments = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    found, running = [], 0
    for (moment, change), (following, _) in pairwise(moments):
        running += change
        if running > 1 and following > moment:
            found.append((moment, following))
    return found
