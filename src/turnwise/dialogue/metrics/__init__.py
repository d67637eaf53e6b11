"""The metrics of the dialogue room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "dialogue"
METRICS = {
    "slot_accuracy": "turnwise.dialogue.metrics.slot_accuracy:SlotAccuracy",
    "joint_goal_accuracy": "turnwise.dialogue.metrics.joint_goal_accuracy:JointGoalAccuracy",
    "joint_goal_accuracy_without_dontcare": (
        "turnwise.dialogue.metrics.joint_goal_accuracy:JointGoalAccuracyWithoutDontcare"
    ),
    "slot_hallucination": "turnwise.dialogue.metrics.slot_hallucination:SlotHallucination",
    "system_latency_ms": "turnwise.dialogue.metrics.operations:SystemLatency",
    "system_tokens": "turnwise.dialogue.metrics.operations:SystemTokens",
    "system_cost": "turnwise.dialogue.metrics.operations:SystemCost",
}

REGISTRY.add_lazy(ROOM, METRICS)
