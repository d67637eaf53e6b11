"""What the system under test cost: recorded numbers are passed on, others are missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turnwise.kernel.metric import Direction
from turnwise.kernel.operations import OperationMetric, operation_spec
from turnwise.kernel.score import Status, Unit


class Tokens(OperationMetric):
    operation = "tokens"
    spec = operation_spec("toys", "item", "tokens", "a move")


class Recorded:
    """A batch that knows operations."""

    def __init__(self, *found: dict[str, float]) -> None:
        self.found = found

    def operations(self) -> Iterator[tuple[Unit, dict[str, float]]]:
        for place, operations in enumerate(self.found):
            yield Unit(f"i{place}", "c"), operations


def test_what_was_recorded_is_reported_and_what_was_not_is_missing() -> None:
    batch = Recorded({"tokens": 12, "cost": 0.5}, {}, {"cost": 0.1}, {"tokens": 0}, {"tokens": 1e308})
    found = [(unit.id, output, m.status, m.statistics, m.reason) for unit, output, m in Tokens().measure(batch)]
    assert found == [
        ("i0", "value", Status.SCORED, (12,), None),
        ("i1", "value", Status.SKIPPED, None, "not recorded"),
        ("i2", "value", Status.SKIPPED, None, "not recorded"),
        ("i3", "value", Status.SCORED, (0,), None),
        ("i4", "value", Status.SKIPPED, None, "more than 1e+15, which nothing takes or costs"),
    ]


def test_nothing_recorded() -> None:
    assert list(Tokens().measure(Recorded())) == []


@pytest.mark.parametrize(
    ("field", "question", "names"),
    [
        ("latency_ms", "How long did a move take?", "mean p50 p90 p95"),
        ("tokens", "How many tokens did a move take?", "mean p50 p90 p95 total"),
        ("cost", "What did a move cost?", "mean p50 p90 p95 total"),
    ],
)
def test_the_declaration(field: str, question: str, names: str) -> None:
    spec = operation_spec("toys", "item", field, "a move")
    (output,) = spec.outputs
    assert (spec.full_name, spec.question) == (f"toys/system_{field}", question)
    assert [rollup.name for rollup in output.rollups] == names.split()
    assert output.primary.name == "mean"
    assert (output.direction, output.range, output.statistics) == (Direction.LOWER, (0.0, None), (field,))
    assert spec.optional
    assert spec.needs == (f"prediction.{field}",)
