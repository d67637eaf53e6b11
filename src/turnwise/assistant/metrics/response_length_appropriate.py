"""Is the reply neither too short nor too long?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import CLARIFYING, ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading
from turnwise.assistant.text import count_words
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, not_applicable


class ResponseLengthAppropriate(ReplyMetric):
    """1 if the reply has as many words as it should, both ends included, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "response_length_appropriate", "Is the reply neither too short nor too long?", "appropriate", "structure"
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The number of words is the evidence."""
        if self.excused(reading):
            return not_applicable(CLARIFYING)
        words = count_words(reading.text)
        return yes_or_no(reading.profile.min_words <= words <= reading.profile.max_words, words=words)
