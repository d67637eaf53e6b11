"""Did the reply come in time?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import TurnMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading
from turnwise.assistant.records import TIME
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, skipped


class ProcessingTimeAcceptable(TurnMetric):
    """1 if the reply came in less than the limit, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "processing_time_acceptable", "Did the reply come in time?", "acceptable", "speed", needs=(TIME,)
    )

    def judge(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The time is the evidence."""
        time = reading.turn.processing_time_ms
        if time is None:
            return skipped("no processing time recorded")
        return yes_or_no(time < reading.profile.processing_time_ms, processing_time_ms=time)
