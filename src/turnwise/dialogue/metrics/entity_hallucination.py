"""Entity hallucination: does the response name something that the database did not return?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.entities import mentions
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.placeholders import looks_delexicalised
from turnwise.dialogue.records import UNIT, Pair
from turnwise.dialogue.resources import NO_DATABASE
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import FloatArray, ratio_value
from turnwise.kernel.score import Measurement, Unit, measured, not_applicable, skipped


class EntityHallucination(Metric):
    """invented entities / named entities, per exchange; 0 where none is named."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="entity_hallucination",
        version=1,
        question="Does the response name something that the database did not return?",
        unit=UNIT,
        outputs=(Output(statistics=("invented", "named"), direction=Direction.LOWER, range=(0.0, 1.0)),),
        needs=("--database", "prediction.response"),
        context=("normaliser", "actions", "database"),
        components=("supervisor", "action"),
        source="MAS4CS evaluation choices, metrics 6 and 9",
        optional=True,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One number per response."""
        for pair in batch.pairs:
            yield pair.unit, "value", _measured(pair, batch)

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """Invented / named; nothing named is nothing invented."""
        return np.where(statistics[..., 1] == 0, 0.0, ratio_value(statistics))


def _measured(pair: Pair, batch: ExchangeBatch) -> Measurement:
    made = pair.prediction
    if batch.resources.database is None:
        return skipped(NO_DATABASE)
    if made is None or (made.response is None and not made.act_slots):
        return skipped(MISSING)
    if made.response is not None and looks_delexicalised(made.response):
        return not_applicable("the response is delexicalised")
    found = mentions(pair, batch.resources, batch.normaliser)
    wrong = [mention.evidence for mention in found if mention.invented]
    return measured((len(wrong), len(found)), evidence=wrong or None)
