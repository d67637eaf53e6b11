"""The dialogue room for the contract of metrics: what is covered, and systems whose scores are known beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.contract import opinions
from tests.contract.dialogue_records import ABSENT, NORMALISER, exemplary, records, resources
from tests.contract.dialogue_sources import OPERATION_METRICS, SOURCES, STATE_METRICS
from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.database import load_database
from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.metrics.response_quality import ResponseQuality
from turnwise.dialogue.pairing import pair_up
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import Exchange, Pair
from turnwise.dialogue.resources import Resources
from turnwise.judge.records import Question

__all__ = ["SOURCES", "exemplary", "records"]

ROOM = "dialogue"
EXAMPLES = Path(__file__).parents[2] / "examples" / "dialogue"
CONTEXT = {"normaliser": f"{NORMALISER.name}:{NORMALISER.digest}", **opinions.CONTEXT}

COPYING_IS_NOT_ENOUGH = {
    "entity_hallucination": "a reference response may itself name what the database does not return",
    "policy_compliance": "the reference's own system may have booked before everything was known",
    "system_correctness": "the right action follows from the user's intent, and the reference may have taken another",
    "task_completion": "the reference's own system may have left the user without what they came for",
    "inform": "the goal is held against the database, not against the reference, which may itself have missed it",
    "success": "as inform; and what the reference never told, its copy does not tell",
}
NO_PERFECT_INPUT = {
    **COPYING_IS_NOT_ENOUGH,
    "task_reward": "the reward was given by a simulator; no prediction has it by being equal to its reference",
    **dict.fromkeys(OPERATION_METRICS, "the best cost is 0, and no prediction has it by being equal to its reference"),
}
"""Metrics for which perfect input is not defined, and why; they are perfect on the exemplary dialogues."""

NO_PERFECT_SETTINGS = {
    ("memory_transfer", "opportunity", "held"): "users who do not want the same again leave every system below 1"
}
"""The same for single settings of a metric."""

NOT_IN_EXAMPLES = {
    "act_slot_accuracy": "in eight of the twelve dialogues the acts have no slots",
    "memory_transfer": "one dialogue of the twelve carries a value over to another domain",
}
"""Metrics that apply to less than half of the examples, and why; the exemplary dialogues take their place."""

NO_BASELINES = {
    **dict.fromkeys(("inform", "success"), "their pages have the MultiWOZ test set: tests/dialogue/test_inform.py"),
    "task_reward": "a system that is no system was never run by a simulator",
    **dict.fromkeys(OPERATION_METRICS, "a system that is no system costs nothing"),
    "response_quality": "a judge is asked about real responses only",
}
"""Metrics for which no silent or never-silent system is scored here, and why."""

NEEDS_MODEL: dict[str, str] = {}
NO_BEST_VALUE: dict[str, str] = {}
UNSCORED_BASELINES: dict[tuple[str, str], str] = {}
BATCH_VARIANTS: dict[str, dict[str, str]] = {}
"""This room needs none of these exceptions."""

OTHER_PAGES = dict.fromkeys(OPERATION_METRICS, "operations")
"""Metrics that share a page outside the room's folder."""

COVERED = (
    *("domain_accuracy", "intent_accuracy", "action_type_accuracy", "act_slot_accuracy"),
    *STATE_METRICS,
    *("entity_hallucination", "memory_transfer", "policy_compliance", "system_correctness", "task_completion"),
    *("inform", "success", "task_reward", "response_quality"),
    *OPERATION_METRICS,
)
"""Every metric of the room belongs here; the contract holds for what is listed."""


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Nothing here takes long."""


def batch(pairs: Sequence[Pair], index: int = 0) -> ExchangeBatch:
    """With a database, so that every metric can be measured."""
    return _judged(ExchangeBatch(index, list(pairs), NORMALISER, resources=resources()))


def example_batch(pairs: Sequence[Pair]) -> ExchangeBatch:
    """With the database of the examples."""
    known = Resources(database=load_database(EXAMPLES / "database"))
    return _judged(ExchangeBatch(0, list(pairs), NORMALISER, resources=known))


def _judged(found: ExchangeBatch) -> ExchangeBatch:
    """With what a judge says who likes nothing but the reference's own words."""
    judged: ExchangeBatch = opinions.answered(found, [ResponseQuality], _as_the_reference)
    return judged


def _as_the_reference(question: Question) -> float:
    return 5.0 if question.shown["response"] == question.shown.get("reference") else 1.0


@cache
def examples() -> tuple[Pair, ...]:
    """The exchanges in examples/dialogue."""
    references, predictions = (read_dialogues(EXAMPLES / f"{side}.jsonl") for side in ("references", "predictions"))
    source = DialogueSource(references, predictions, NORMALISER)
    return tuple(pair for found in source.batches() for pair in found.pairs)


# --- systems ------------------------------------------------------------------------------------------------


def perfect(pairs: Sequence[Pair]) -> list[Pair]:
    """Predicts the reference; of several acceptable values the first."""

    def predict(pair: Pair) -> Exchange:
        state = pair.reference.state
        chosen = None if state is None else {slot: _first(value) for slot, value in state.items()}
        return replace(pair.reference, state=chosen)

    return _predicted(pairs, predict)


def _first(value: str | list[str]) -> str:
    texts = [value] if isinstance(value, str) else value
    parts = [part for text in texts for part in text.split("|") if part not in ABSENT]
    return parts[0] if parts else ""


def silent(pairs: Sequence[Pair]) -> list[Pair]:
    """Understands nothing, does nothing, says nothing."""

    def predict(pair: Pair) -> Exchange:
        name = pair.unit.cluster
        return Exchange(dialogue_id=name, response="", state={}, domains=(), intents=(), acts=(), act_slots=())

    return _predicted(pairs, predict)


def never_silent(pairs: Sequence[Pair]) -> list[Pair]:
    """Understands, does and says everything in every exchange.

    It predicts every slot that any reference has, each with its most frequent value (the first of the alphabet), every
    intent and every act that any reference has, and all that the reference says in the whole dialogue.
    """
    seen: dict[str, Counter[str]] = {}
    texts: dict[str, list[str]] = {}
    for pair in pairs:
        for slot, value in (pair.reference.state or {}).items():
            seen.setdefault(slot, Counter())[_first(value)] += 1
        texts.setdefault(pair.unit.cluster, []).append(pair.reference.response or "")
    state = {slot: min(counts, key=lambda text: (-counts[text], text)) for slot, counts in seen.items()}
    said = [slot for pair in pairs for slot in pair.reference.act_slots or ()]

    def predict(pair: Pair) -> Exchange:
        return Exchange(
            dialogue_id=pair.unit.cluster,
            intents=tuple(dict.fromkeys(name for other in pairs for name in other.reference.intents or ())),
            acts=tuple(dict.fromkeys(act for other in pairs for act in other.reference.acts or ())),
            act_slots=tuple(dict.fromkeys(said)) if said else None,
            state=dict(state),
            response=" ".join(texts[pair.unit.cluster]),
        )

    return _predicted(pairs, predict)


def _predicted(pairs: Sequence[Pair], predict: Callable[[Pair], Exchange]) -> list[Pair]:
    """The same references with other predictions, joined as files are."""
    by_dialogue: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_dialogue.setdefault(pair.unit.cluster, []).append(pair)
    found: list[Pair] = []
    for name, own in by_dialogue.items():
        references = [pair.reference for pair in own]
        predictions = [replace(predict(pair), turn_id=pair.reference.turn_id) for pair in own]
        found += pair_up(name, references, predictions, NORMALISER)
    return found
