"""The assistant room for the contract of metrics: what is covered, and systems whose scores are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.contract import opinions
from tests.contract.assistant_records import CITED, PERFECT, exemplary, records, stand_in
from tests.contract.assistant_sources import OPERATION_METRICS, SOURCES
from turnwise.assistant.batch import TurnBatch, canned_turn
from turnwise.assistant.embedding import Embedding
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.metrics import ratings
from turnwise.assistant.profile import built_in
from turnwise.assistant.read import open_rows
from turnwise.assistant.records import Chunk, Turn
from turnwise.assistant.scales import BY_JUDGE, OBJECTIVE, SUBJECTIVE
from turnwise.assistant.suite import run_context
from turnwise.kernel.score import Unit

__all__ = ["SOURCES", "exemplary", "records", "stand_in"]

ROOM = "assistant"
EXAMPLES = Path(__file__).parents[2] / "examples" / "assistant" / "turns.jsonl"
CONTEXT = run_context(built_in("hr"), Embedding())

OTHER_CONTEXTS = ({**CONTEXT, **opinions.CONTEXT},)
"""With a judge, which rates on the scales beside people."""

GIVEN_BY_PEOPLE = dict.fromkeys(SUBJECTIVE, "people rate; code measures nothing")
"""Metrics whose scores are added to a run, and why none is measured; tests/assistant has them, and a judge's."""

NEEDS_MODEL: dict[str, str] = {}
NO_BEST_VALUE: dict[str, str] = {}
NO_PERFECT_INPUT = dict.fromkeys(OPERATION_METRICS, "the best cost is 0, and no reply has it by being right")
NO_PERFECT_SETTINGS: dict[tuple[str, str, object], str] = {}
NOT_IN_EXAMPLES = dict.fromkeys(("system_tokens", "system_cost"), "the examples record times only")
NO_BASELINES = dict.fromkeys(OPERATION_METRICS, "a system that is no system costs nothing")
UNSCORED_BASELINES = {
    ("citation_accuracy", "silent"): "it cites nothing",
    ("rag_similarity_score", "silent"): "it retrieves nothing",
}
BATCH_VARIANTS = {name: {BY_JUDGE: "what a judge sees of the session depends on the batch"} for name in SUBJECTIVE}
OTHER_PAGES = dict.fromkeys(OPERATION_METRICS, "operations")

SCALES = (ratings.Professionalism, ratings.Empathy, ratings.Clarity, ratings.Actionability, ratings.Compliance)
COVERED = (*OBJECTIVE, *SUBJECTIVE, *OPERATION_METRICS)


def batch(turns: Sequence[Turn], index: int = 0) -> TurnBatch:
    found: TurnBatch = opinions.answered(TurnBatch(index, list(turns), built_in("hr")), SCALES, lambda _: 4.0)
    return found


def example_batch(turns: Sequence[Turn]) -> TurnBatch:
    return batch(turns)


@cache
def examples() -> tuple[Turn, ...]:
    """Both versions of examples/assistant."""
    source = AssistantSource(open_rows(EXAMPLES), built_in("hr"))
    return tuple(turn for one in source.batches() for turn in one.turns)


def asks(name: str, output: str, unit: Unit) -> bool:
    """Whether a metric is about a turn: only a first reply can ask before it guides."""
    return name != "asks_clarifying_questions" or unit.id.endswith("#1")


# --- systems ------------------------------------------------------------------------------------------------


def perfect(turns: Sequence[Turn]) -> list[Turn]:
    """Retrieves the right thing, cites it word for word, at once, and asks before it guides."""
    chunks = (Chunk(CITED, "Attendance Policy", 1.0),)
    return [replace(turn, response=PERFECT, chunks=chunks, processing_time_ms=0.0) for turn in turns]


def silent(turns: Sequence[Turn]) -> list[Turn]:
    """Says nothing, at once, and retrieves nothing."""
    return [replace(turn, response="", chunks=(), processing_time_ms=0.0) for turn in turns]


def never_silent(turns: Sequence[Turn]) -> list[Turn]:
    """Gives the same reply to everything."""
    return [canned_turn(turn) for turn in turns]
