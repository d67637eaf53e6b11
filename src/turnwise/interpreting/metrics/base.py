"""What the metrics of the room share: how they are declared, their roll-ups, and how they go over a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnwise.interpreting.batch import Heard, InterpretingBatch
from turnwise.interpreting.metrics import ROOM
from turnwise.interpreting.records import CAPTURE, PAIR, TURN
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.metric import SPEC, Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, P50, P90, P95, Rollup
from turnwise.kernel.score import Measurement, Unit, not_applicable

Found = tuple[Unit, str, Measurement]
SPREAD = (MEAN, P50, P90, P95)
"""For times."""
NOT_WANTED = "the scenario asks for other metrics"
NO_EVENTS = "no translation came"


def declared(name: str, question: str, outputs: tuple[Output, ...], unit: str, **more: Any) -> MetricSpec:
    """A metric of this room, left out of a run on a log of delays."""
    settings = {"needs": ("capture",), "optional": True, "components": ("interpreting",), **more}
    return MetricSpec(room=ROOM, name=name, version=1, question=question, unit=unit, outputs=outputs, **settings)


def milliseconds(name: str = "value", *, least: float | None = 0.0, rollups: tuple[Rollup, ...] = SPREAD) -> Output:
    """A time, shorter is better."""
    return Output(name, statistics=("milliseconds",), direction=Direction.LOWER, range=(least, None), rollups=rollups)


class CallMetric(Metric):
    """A metric of a call, or of its turns or barge-ins."""

    def measure(self, batch: InterpretingBatch) -> Iterable[Found]:
        """Every call; one whose scenario asks for other metrics is counted once per unit."""
        for heard in batch.heard:
            if batch.wants(heard, self.spec.name):
                yield from self.judge(heard)
            else:
                first = self.outputs[0].name
                yield from ((unit, first, not_applicable(NOT_WANTED)) for unit in self.units(heard))

    def units(self, heard: Heard) -> Iterable[Unit]:
        """What of a call is scored."""
        if self.spec.unit == CAPTURE:
            return [heard.unit]
        if self.spec.unit == TURN:
            return [heard.turn_unit(summary.turn) for summary in heard.summaries]
        assert self.spec.unit == PAIR
        return [heard.pair_unit(pair.barge_in) for pair in heard.pairs() if heard.asks(pair.barge_in)]

    def judge(self, heard: Heard) -> Iterable[Found]:
        """The scores of one call."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")

    @property
    def by_the_document(self) -> bool:
        """Whether the document is followed to the letter."""
        return self.settings.profile == SPEC


class TurnMetric(CallMetric):
    """A metric of the turns of a call."""

    def judge(self, heard: Heard) -> Iterable[Found]:
        """Every turn."""
        for summary in heard.summaries:
            unit = heard.turn_unit(summary.turn)
            for output, found in self.judge_turn(summary):
                yield unit, output, found

    def judge_turn(self, summary: TurnSummary) -> Iterable[tuple[str, Measurement]]:
        """The outputs of one turn."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")
