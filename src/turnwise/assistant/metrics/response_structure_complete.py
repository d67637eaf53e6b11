"""Does the reply acknowledge, guide, and say what comes next?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import CLARIFYING, ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading, missing_structure
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, not_applicable


class ResponseStructureComplete(ReplyMetric):
    """1 if acknowledgment, guidance and next steps are all there, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "response_structure_complete",
        "Does the reply have an acknowledgment, guidance and next steps?",
        "complete",
        "structure",
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """What is missing is the evidence."""
        if self.excused(reading):
            return not_applicable(CLARIFYING)
        missing = missing_structure(reading.text, reading.profile)
        return yes_or_no(not missing, missing=missing)
