"""Does the reply cite a policy?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import CLARIFYING, ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, not_applicable


class HasPolicyCitation(ReplyMetric):
    """1 if a pattern of citations matches, else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "has_policy_citation", "Does the reply cite a specific policy?", "cited", "policy"
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The first citation is the evidence."""
        if self.excused(reading):
            return not_applicable(CLARIFYING)
        found = reading.citations
        return yes_or_no(bool(found), citation=found[0].shown if found else None)
