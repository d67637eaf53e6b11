"""Does the assistant ask before it guides, where somebody describes a situation that is going on now?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading, unreadable
from turnwise.assistant.records import QUERY, RESPONSE
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, not_applicable, skipped

NOT_ACTIVE = "no situation that is going on now"
NOT_FIRST = "not the first reply"


class AsksClarifyingQuestions(ReplyMetric):
    """1 if the first reply to an active situation asks a question and gives no guidance yet, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "asks_clarifying_questions",
        "Does the assistant ask about a situation that is going on now before it gives guidance?",
        "asked",
        "clarifying",
        needs=(QUERY, RESPONSE),
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """What makes the situation an active one is the evidence."""
        query = reading.turn.query
        if query is None:
            return skipped("no query")
        if unreadable(query, reading.profile):
            return skipped("the query is in another script than the patterns")
        if reading.active is None:
            return not_applicable(NOT_ACTIVE)
        if not reading.turn.first:
            return not_applicable(NOT_FIRST)
        return yes_or_no(reading.clarifies, active=reading.active)
