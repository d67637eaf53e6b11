"""Does the assistant offer one action at a time?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading, find_offers
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement


class SequentialActionCorrect(ReplyMetric):
    """1 if at most one of the offers (a call, an email) is made, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "sequential_action_correct", "Does the reply offer one action at a time?", "sequential", "action"
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The offers with the words that make them."""
        offers = find_offers(reading.masked, reading.profile)
        return yes_or_no(len(offers) <= 1, offers=offers)
