"""The metrics of the assistant room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "assistant"
_HERE = "turnwise.assistant.metrics"
METRICS = {
    "has_policy_citation": f"{_HERE}.has_policy_citation:HasPolicyCitation",
    "appropriate_action_suggested": f"{_HERE}.appropriate_action_suggested:AppropriateActionSuggested",
    "response_structure_complete": f"{_HERE}.response_structure_complete:ResponseStructureComplete",
    "citation_accuracy": f"{_HERE}.citation_accuracy:CitationAccuracy",
    "response_length_appropriate": f"{_HERE}.response_length_appropriate:ResponseLengthAppropriate",
    "asks_clarifying_questions": f"{_HERE}.asks_clarifying_questions:AsksClarifyingQuestions",
    "sequential_action_correct": f"{_HERE}.sequential_action_correct:SequentialActionCorrect",
    "rag_similarity_score": f"{_HERE}.rag_similarity_score:RagSimilarity",
    "processing_time_acceptable": f"{_HERE}.processing_time_acceptable:ProcessingTimeAcceptable",
    "professionalism_score": f"{_HERE}.ratings:Professionalism",
    "empathy_score": f"{_HERE}.ratings:Empathy",
    "clarity_score": f"{_HERE}.ratings:Clarity",
    "actionability_score": f"{_HERE}.ratings:Actionability",
    "compliance_score": f"{_HERE}.ratings:Compliance",
    "objective_quality_score": f"{_HERE}.quality:OBJECTIVE_QUALITY",
    "subjective_quality_score": f"{_HERE}.quality:SUBJECTIVE_QUALITY",
    "overall_quality_score": f"{_HERE}.quality:OVERALL_QUALITY",
    "system_latency_ms": f"{_HERE}.operations:SystemLatency",
    "system_tokens": f"{_HERE}.operations:SystemTokens",
    "system_cost": f"{_HERE}.operations:SystemCost",
}

REGISTRY.add_lazy(ROOM, METRICS)
