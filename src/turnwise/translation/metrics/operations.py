"""Latency, tokens and cost of the translation system, as recorded with its translations."""

from __future__ import annotations

from turnwise.kernel.operations import OperationMetric, operation_spec
from turnwise.translation.metrics import ROOM
from turnwise.translation.records import UNIT


class SystemLatency(OperationMetric):
    """`latency_ms` of each sample."""

    operation = "latency_ms"
    spec = operation_spec(
        ROOM, UNIT, "system_latency_ms", "latency_ms", "How long did a translation take?", summed=False
    )


class SystemTokens(OperationMetric):
    """`tokens` of each sample."""

    operation = "tokens"
    spec = operation_spec(ROOM, UNIT, "system_tokens", "tokens", "How many tokens did a translation take?", summed=True)


class SystemCost(OperationMetric):
    """`cost` of each sample."""

    operation = "cost"
    spec = operation_spec(ROOM, UNIT, "system_cost", "cost", "What did a translation cost?", summed=True)
