"""The dialogue room for the contract of metrics: random exchanges, and systems whose scores are known beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from turnwise.dialogue import batch as batch_module
from turnwise.dialogue import pairing, states
from turnwise.dialogue import records as records_module
from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.load import DialogueSource, read_dialogues
from turnwise.dialogue.metrics import state_metric
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.pairing import pair_up
from turnwise.dialogue.records import Exchange, Pair
from turnwise.kernel import operations

ROOM = "dialogue"
EXAMPLES = Path(__file__).parents[2] / "examples" / "dialogue"
NORMALISER = load_normaliser("multiwoz-v1")
CONTEXT = {"normaliser": f"{NORMALISER.name}:{NORMALISER.digest}"}

STATE_METRICS = (
    "slot_accuracy",
    "joint_goal_accuracy",
    "joint_goal_accuracy_without_dontcare",
    "slot_hallucination",
)
OPERATION_METRICS = ("system_latency_ms", "system_tokens", "system_cost")

NO_PERFECT_INPUT = dict.fromkeys(
    OPERATION_METRICS, "the best cost is 0, and no prediction has it by being equal to its reference"
)
"""Metrics for which perfect input is not defined, and why; also no silent or never-silent system is scored there."""

COVERED = (*STATE_METRICS, *OPERATION_METRICS)
"""Every metric of the room belongs here; the contract holds for what is listed."""

_STATE_SOURCES: tuple[Callable[..., Any] | type, ...] = (
    state_metric.parts_by_turn,
    states.encode,
    states._encode_side,
    states._predicted_values,
    states._compare,
    states.Cells,
    states.StateTable,
    states.counts,
)
SOURCES: dict[str, tuple[Callable[..., Any] | type, ...]] = {
    **dict.fromkeys(STATE_METRICS, _STATE_SOURCES),
    "slot_hallucination": (
        *_STATE_SOURCES,
        *(states.in_scope, states._codes, records_module.domain_of, records_module.reference_domains),
        *(records_module.domains_of_names, records_module.changed_domains, pairing.pair_up, pairing._normal_state),
    ),
    **dict.fromkeys(OPERATION_METRICS, (operations.operation_spec, batch_module.ExchangeBatch.operations)),
}
"""Functions beside the metric's own classes that its values come from."""


# --- records ------------------------------------------------------------------------------------------------

SLOTS = ["hotel-area", "hotel-book day", "hotel-bookday", "restaurant-food", "taxi-leaveAt", "spa-sauna"]
DOMAINS = ["hotel", "restaurant", "taxi"]
ABSENT = ["", "none", "not mentioned"]
PRESENT = ["centre", "Center", "north", "17:15", "5:15 pm", "monday", "dontcare", "don't care", "köşk", "a b"]

_present = st.sampled_from(PRESENT)
_words = st.sampled_from([*PRESENT, *ABSENT])
_alternatives = _words | st.lists(_words, max_size=3) | st.builds("{}|{}".format, _present, _present)
_states = st.dictionaries(st.sampled_from(SLOTS), _alternatives, max_size=4)
_domains = st.none() | st.lists(st.sampled_from(DOMAINS), unique=True, max_size=2).map(tuple)
_operations = st.dictionaries(
    st.sampled_from(["latency_ms", "tokens", "cost"]), st.integers(0, 3000) | st.floats(0, 3000), max_size=3
)


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Pair]:
    """Whole dialogues: some exchanges without a prediction, some sides without a state."""
    pairs: list[Pair] = []
    for number in range(draw(st.integers(min_size, 3))):
        name = f"d{number}"
        references, predictions = [], []
        for turn in range(draw(st.integers(1, 3))):
            reference = Exchange(
                dialogue_id=name,
                turn_id=str(turn),
                user="hello",
                domains=draw(_domains),
                intents=draw(st.none() | st.just(("find_hotel",))),
                state=draw(st.none() | _states | _states | _states),
                metadata=draw(st.just({}) | st.just({"scenario": "booking"})),
            )
            references.append(reference)
            if draw(st.integers(0, 4)):
                predicted = draw(st.none() | _states | _states | st.just(reference.state))
                prediction = Exchange(
                    dialogue_id=name,
                    turn_id=str(turn),
                    domains=draw(_domains),
                    state=predicted,
                    operations=draw(_operations),
                )
                predictions.append(prediction)
        pairs += pair_up(name, references, predictions, NORMALISER)
    return pairs


def batch(pairs: Sequence[Pair], index: int = 0) -> ExchangeBatch:
    return ExchangeBatch(index, list(pairs), NORMALISER)


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
    """Tracks nothing."""
    return _predicted(pairs, lambda pair: Exchange(dialogue_id=pair.unit.cluster, state={}))


def never_silent(pairs: Sequence[Pair]) -> list[Pair]:
    """Predicts every slot that any reference has, each with its most frequent value (the first of the alphabet)."""
    seen: dict[str, Counter[str]] = {}
    for pair in pairs:
        for slot, value in (pair.reference.state or {}).items():
            seen.setdefault(slot, Counter())[_first(value)] += 1
    state = {slot: min(counts, key=lambda text: (-counts[text], text)) for slot, counts in seen.items()}
    return _predicted(pairs, lambda pair: Exchange(dialogue_id=pair.unit.cluster, state=dict(state)))


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
