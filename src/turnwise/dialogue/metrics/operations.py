"""Latency, tokens and cost of the dialogue system, as recorded with its predictions."""

from __future__ import annotations

from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.records import UNIT
from turnwise.kernel.operations import OperationMetric, operation_spec


class SystemLatency(OperationMetric):
    """`latency_ms` of each exchange."""

    operation = "latency_ms"
    spec = operation_spec(ROOM, UNIT, "system_latency_ms", "latency_ms", "How long did an answer take?", summed=False)


class SystemTokens(OperationMetric):
    """`tokens` of each exchange."""

    operation = "tokens"
    spec = operation_spec(ROOM, UNIT, "system_tokens", "tokens", "How many tokens did an answer take?", summed=True)


class SystemCost(OperationMetric):
    """`cost` of each exchange."""

    operation = "cost"
    spec = operation_spec(ROOM, UNIT, "system_cost", "cost", "What did an answer cost?", summed=True)
