"""The metrics of the dialogue room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "dialogue"
METRICS = {
    "domain_accuracy": "turnwise.dialogue.metrics.routing:DomainAccuracy",
    "intent_accuracy": "turnwise.dialogue.metrics.routing:IntentAccuracy",
    "action_type_accuracy": "turnwise.dialogue.metrics.acts:ActionTypeAccuracy",
    "act_slot_accuracy": "turnwise.dialogue.metrics.acts:ActSlotAccuracy",
    "slot_accuracy": "turnwise.dialogue.metrics.slot_accuracy:SlotAccuracy",
    "joint_goal_accuracy": "turnwise.dialogue.metrics.joint_goal_accuracy:JointGoalAccuracy",
    "joint_goal_accuracy_without_dontcare": (
        "turnwise.dialogue.metrics.joint_goal_accuracy:JointGoalAccuracyWithoutDontcare"
    ),
    "slot_hallucination": "turnwise.dialogue.metrics.slot_hallucination:SlotHallucination",
    "entity_hallucination": "turnwise.dialogue.metrics.entity_hallucination:EntityHallucination",
    "memory_transfer": "turnwise.dialogue.metrics.memory_transfer:MemoryTransfer",
    "policy_compliance": "turnwise.dialogue.metrics.policy_compliance:PolicyCompliance",
    "system_correctness": "turnwise.dialogue.metrics.system_correctness:SystemCorrectness",
    "task_completion": "turnwise.dialogue.metrics.task_completion:TaskCompletion",
    "inform": "turnwise.dialogue.metrics.inform:Inform",
    "success": "turnwise.dialogue.metrics.inform:Success",
    "task_reward": "turnwise.dialogue.metrics.task_reward:TaskReward",
    "response_quality": "turnwise.dialogue.metrics.response_quality:ResponseQuality",
    "system_latency_ms": "turnwise.dialogue.metrics.operations:SystemLatency",
    "system_tokens": "turnwise.dialogue.metrics.operations:SystemTokens",
    "system_cost": "turnwise.dialogue.metrics.operations:SystemCost",
}

REGISTRY.add_lazy(ROOM, METRICS)
