"""What the system under test cost per turn: latency, tokens, money. Every room rolls them up beside quality.

A room registers subclasses of `OperationMetric`; a batch that knows operations has an `operations()` method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, P50, P90, P95, TOTAL, Rollup
from turnwise.kernel.score import Measurement, Unit, measured, skipped

MOST = 1e15
"""More is a mistake, and a sum of such numbers is none."""
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
            cost = found.get(self.operation)
            if cost is not None and cost > MOST:
                yield unit, "value", skipped(f"more than {MOST:.0e}, which nothing takes or costs")
            else:
                yield unit, "value", skipped("not recorded") if cost is None else measured((cost,))


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
