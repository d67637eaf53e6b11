"""What the values of each dialogue metric come from beside its own classes: functions, modules, a file of words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import turnwise.dialogue
import turnwise.judge
from turnwise.dialogue import (
    acting,
    answers,
    database,
    entities,
    pairing,
    pieces,
    placeholders,
    records,
    states,
    tables,
)
from turnwise.dialogue import batch as batch_module
from turnwise.dialogue.metrics import (
    acts,
    entity_hallucination,
    inform,
    memory_transfer,
    policy_compliance,
    state_metric,
    task_completion,
)
from turnwise.dialogue.normalise import Normaliser
from turnwise.judge import combine, prompt, verdict
from turnwise.judge import metric as judged
from turnwise.kernel import operations

Sources = tuple[Callable[..., Any] | type | ModuleType | Path, ...]

STATE_METRICS = (
    "slot_accuracy",
    "joint_goal_accuracy",
    "joint_goal_accuracy_without_dontcare",
    "slot_hallucination",
)
OPERATION_METRICS = ("system_latency_ms", "system_tokens", "system_cost")

_DOMAINS: Sources = (records.domain_of, records.domains_of_names, records.reference_domains)
_PREDICTED_DOMAINS: Sources = (records.changed_domains, pairing.pair_up, Normaliser.state)
_DIALOGUES: Sources = (records.Dialogue, pairing.dialogues)
_STATES: Sources = (
    *(state_metric.parts_by_turn, states.encode, states._encode_side),
    *(states._predicted_values, states._compare, states.Cells, states.StateTable, states.counts),
)
_NAMES: Sources = (records.folded_intent, *_DOMAINS)
_ACTS: Sources = (acts._types, acts._with_slots, acting.asked_slot, Normaliser)
_ACTING: Sources = (*(acting, tables.ActionTable, tables.PolicyTable, *_DOMAINS, *_PREDICTED_DOMAINS),)
_ENTITIES: Sources = (
    *(entities, placeholders, database, tables.load_words),
    Path(turnwise.dialogue.__path__[0]) / "data" / "common.yaml",
)
_OUTCOMES: Sources = (inform, placeholders, database, *_DOMAINS, *_DIALOGUES)

_JUDGED: Sources = (
    *(judged.JudgedMetric, judged.question, judged.unanswered, judged._measurement, combine, prompt, verdict, pieces),
    Path(turnwise.judge.__path__[0]) / "rubrics" / "dialogue" / "response_quality.yaml",
)

SOURCES: dict[str, Sources] = {
    "response_quality": _JUDGED,
    "domain_accuracy": _NAMES,
    "intent_accuracy": _NAMES,
    "action_type_accuracy": _ACTS,
    "act_slot_accuracy": _ACTS,
    **dict.fromkeys(STATE_METRICS, _STATES),
    "slot_hallucination": (*_STATES, states.in_scope, states._codes, *_DOMAINS, *_PREDICTED_DOMAINS),
    "entity_hallucination": (entity_hallucination._measured, *_ENTITIES),
    "memory_transfer": (memory_transfer, tables.TransferTable, *_DOMAINS, *_DIALOGUES),
    "policy_compliance": (policy_compliance._unscored, *_ACTING),
    "system_correctness": (*_ACTING, *_ENTITIES),
    "task_completion": (task_completion, answers, *_ACTING, *_ENTITIES, *_DIALOGUES),
    "inform": _OUTCOMES,
    "success": _OUTCOMES,
    "task_reward": _DIALOGUES,
    **dict.fromkeys(OPERATION_METRICS, (operations.operation_spec, batch_module.ExchangeBatch.operations)),
}
