"""What the values of each assistant metric come from beside its own class: functions, modules and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from turnwise.assistant import batch, closeness, composites, embedding, names, patterns, profile, reading, records, text
from turnwise.assistant import pieces as turn_pieces
from turnwise.assistant.metrics import appropriate_action_suggested, base, rag_similarity_score
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE
from turnwise.judge import combine, prompt, verdict
from turnwise.judge import metric as judged
from turnwise.kernel import operations

Sources = tuple[Callable[..., Any] | type | ModuleType | Path, ...]

OPERATION_METRICS = ("system_latency_ms", "system_tokens", "system_cost")
_DATA = Path(profile.__file__).with_name("data")
_TURN: Sources = (base.yes_or_no, records.Turn, records.Chunk, batch.TurnBatch.readings)
_REPLY: Sources = (
    *(*_TURN, reading.Reading, reading.prepared, reading.unreadable, patterns, profile._made, profile._title),
    *(text, _DATA / "hr.yaml", _DATA / "spec.yaml"),
)
_CLARIFYING: Sources = (*_REPLY, reading.active_because, reading.asks_without_guidance, names)
_ACTIONS: Sources = (*_REPLY, reading.without_masks)
_JUDGED: Sources = (judged.question, judged.unanswered, judged._measurement, combine, prompt, verdict, turn_pieces)
_RUBRICS = Path(prompt.__file__).parent / "rubrics" / "assistant"

SOURCES: dict[str, Sources] = {
    "has_policy_citation": (*_CLARIFYING, reading.find_citations),
    "appropriate_action_suggested": (*_ACTIONS, reading.find_actions, appropriate_action_suggested.not_allowed),
    "response_structure_complete": (*_CLARIFYING, reading.missing_structure, reading._prefix),
    "citation_accuracy": (*_REPLY, reading.find_citations, reading.cited_sentences, closeness, embedding),
    "response_length_appropriate": _CLARIFYING,
    "asks_clarifying_questions": _CLARIFYING,
    "sequential_action_correct": (*_ACTIONS, reading.find_offers),
    "rag_similarity_score": (*_TURN, rag_similarity_score.outside_range),
    "processing_time_acceptable": (*_TURN, _DATA / "hr.yaml", _DATA / "spec.yaml"),
    **{name: (_DATA / "scales.yaml", *_JUDGED, _RUBRICS / f"{name}.yaml") for name in SUBJECTIVE},
    COMPOSITES[0]: (composites._weighted, composites.weights_of, composites._weights_text),
    COMPOSITES[1]: (composites._weighted, composites.weights_of, composites._weights_text, composites._stood_in),
    COMPOSITES[2]: (),
    **dict.fromkeys(OPERATION_METRICS, (operations.operation_spec, batch.TurnBatch.operations, records.Turn)),
}
assert set(OBJECTIVE) <= set(SOURCES)
