"""What the system under test cost per turn: latency, tokens, money. Every room rolls them up beside quality.

A room registers subclasses of `OperationMetric`; a batch that knows operations has an `operations()` method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, P50, P90, P95, TOTAL, Rollup
from turnwise.kernel.score import Measurement, Unit, measured, skipped

_SPREAD: tuple[Rollup, ...] = (MEAN, P50, P90, P95)


class BatchWithOperations(Protocol):
    """A batch that knows what each unit cost."""

    def operations(self) -> Iterator[tuple[Unit, dict[str, float]]]:
        """Per unit, the operations that were recorded."""
        ...


class OperationMetric(Metric):
    """Reports one recorded operation; measures nothing itself."""

    operation: ClassVar[str]

    def measure(self, batch: BatchWithOperations) -> Iterable[tuple[Unit, str, Measurement]]:
        """The recorded number of each unit."""
        for unit, found in batch.operations():
            known = self.operation in found
            yield unit, "value", measured((found[self.operation],)) if known else skipped("not recorded")


_QUESTIONS = {
    "latency_ms": "How long did {} take?",
    "tokens": "How many tokens did {} take?",
    "cost": "What did {} cost?",
}


def operation_spec(room: str, unit: str, field: str, thing: str) -> MetricSpec:
    """The declaration of an operation metric: mean and percentiles, and the total where adding up makes sense."""
    rollups = _SPREAD if field == "latency_ms" else (*_SPREAD, TOTAL)
    return MetricSpec(
        room=room,
        name=f"system_{field}",
        version=1,
        question=_QUESTIONS[field].format(thing),
        unit=unit,
        outputs=(Output(statistics=(field,), direction=Direction.LOWER, range=(0.0, None), rollups=rollups),),
        needs=(f"prediction.{field}",),
        optional=True,
        baselines=False,
    )
