"""What a reply cost the system under test: time, tokens, money."""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.metrics import ROOM
from turnwise.assistant.records import UNIT
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.operations import OperationMetric, operation_spec


class SystemLatency(OperationMetric):
    """Milliseconds, as recorded."""

    operation = "latency_ms"
    spec: ClassVar[MetricSpec] = operation_spec(ROOM, UNIT, "latency_ms", "a reply")


class SystemTokens(OperationMetric):
    """Tokens, as recorded."""

    operation = "tokens"
    spec: ClassVar[MetricSpec] = operation_spec(ROOM, UNIT, "tokens", "a reply")


class SystemCost(OperationMetric):
    """Money, as recorded."""

    operation = "cost"
    spec: ClassVar[MetricSpec] = operation_spec(ROOM, UNIT, "cost", "a reply")
