"""Latency, tokens and cost of the dialogue system, as recorded with its predictions."""

from __future__ import annotations

from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.records import UNIT
from turnwise.kernel.operations import OperationMetric, operation_spec


class SystemLatency(OperationMetric):
    """`latency_ms` of each exchange."""

    operation = "latency_ms"
    spec = operation_spec(ROOM, UNIT, operation, "an answer")


class SystemTokens(OperationMetric):
    """`tokens` of each exchange."""

    operation = "tokens"
    spec = operation_spec(ROOM, UNIT, operation, "an answer")


class SystemCost(OperationMetric):
    """`cost` of each exchange."""

    operation = "cost"
    spec = operation_spec(ROOM, UNIT, operation, "an answer")
