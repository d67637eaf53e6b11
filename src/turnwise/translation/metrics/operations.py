"""Latency, tokens and cost of the translation system, as recorded with its translations."""

from __future__ import annotations

from turnwise.kernel.operations import OperationMetric, operation_spec
from turnwise.translation.metrics import ROOM
from turnwise.translation.records import UNIT


class SystemLatency(OperationMetric):
    """`latency_ms` of each sample."""

    operation = "latency_ms"
    spec = operation_spec(ROOM, UNIT, operation, "a translation")


class SystemTokens(OperationMetric):
    """`tokens` of each sample."""

    operation = "tokens"
    spec = operation_spec(ROOM, UNIT, operation, "a translation")


class SystemCost(OperationMetric):
    """`cost` of each sample."""

    operation = "cost"
    spec = operation_spec(ROOM, UNIT, operation, "a translation")
