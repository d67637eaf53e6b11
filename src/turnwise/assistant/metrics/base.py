"""What the metrics of replies share: how they go over a batch, and how each is declared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics import ROOM
from turnwise.assistant.reading import Reading
from turnwise.assistant.records import RESPONSE, UNIT
from turnwise.kernel.metric import SPEC, Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, Unit, measured, skipped

DOCUMENT = "ERA Response Metrics Framework Specification 1.0"
PATTERNS, EMBEDDING, EMBEDDING_FOLDER = "patterns", "embedding", "embedding_folder"
"""Settings of the run that values depend on."""
CLARIFYING = "a first reply that asks before it guides"
"""Why length, citation and structure are not asked for (decision 002-7)."""

Found = tuple[Unit, str, Measurement]


def turn_spec(name: str, question: str, statistic: str, component: str, **more: Any) -> MetricSpec:
    """The declaration of a metric with one value from 0 to 1 per turn."""
    return MetricSpec(
        **{
            "room": ROOM,
            "name": name,
            "version": 1,
            "question": question,
            "unit": UNIT,
            "outputs": (Output(statistics=(statistic,), range=(0.0, 1.0)),),
            "needs": (RESPONSE,),
            "context": (PATTERNS,),
            "components": (component,),
            "source": DOCUMENT,
            **more,
        }
    )


class TurnMetric(Metric):
    """A metric that judges each turn for itself."""

    def measure(self, batch: TurnBatch) -> Iterable[Found]:
        """One measurement per turn."""
        for reading in batch.readings(self.settings.profile):
            yield reading.unit, "value", self.judge(reading, batch)

    def judge(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The measurement of one turn."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")

    @property
    def is_spec(self) -> bool:
        """Whether the document is followed to the letter."""
        return self.settings.profile == SPEC


class ReplyMetric(TurnMetric):
    """A metric that reads the reply; one that is not there, or that the patterns cannot read, is skipped."""

    def judge(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The verdict, where the reply can be read."""
        return skipped(reading.lacking) if reading.lacking else self.verdict(reading, batch)

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The measurement of a reply that can be read."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")

    def excused(self, reading: Reading) -> bool:
        """Whether the reply is one of those that are not asked: under `spec` none is."""
        return not self.is_spec and reading.clarifies


def yes_or_no(answer: bool, **evidence: Any) -> Measurement:
    """1 or 0, with what it was decided by; evidence that is empty is left out."""
    known = {name: value for name, value in evidence.items() if value not in (None, [], {}, "")}
    return measured((float(answer),), evidence=known or None)
