"""Who belongs to whom: predicted dialogues to reference dialogues, predicted exchanges to reference exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.records import (
    DIALOGUE,
    UNIT,
    Dialogue,
    Exchange,
    Pair,
    State,
    changed_domains,
    folded_id,
    item_id,
    reference_domains,
)
from turnwise.kernel.score import Unit


def match_ids(references: Dialogues, predicted: Dialogues) -> dict[str, str]:
    """Reference id to predicted id: the same text, or else the same but for case and a `.json` ending."""
    exact = {dialogue_id: dialogue_id for dialogue_id in references.facts if dialogue_id in predicted.facts}
    folded: dict[str, list[str]] = {}
    for dialogue_id in predicted.facts:
        if dialogue_id not in exact:
            folded.setdefault(folded_id(dialogue_id), []).append(dialogue_id)
    reference_folds = Counter(folded_id(dialogue_id) for dialogue_id in references.facts)
    for dialogue_id in references.facts:
        candidates = folded.get(folded_id(dialogue_id), [])
        if dialogue_id not in exact and len(candidates) == 1 and reference_folds[folded_id(dialogue_id)] == 1:
            exact[dialogue_id] = candidates[0]
    return {dialogue_id: exact[dialogue_id] for dialogue_id in references.facts if dialogue_id in exact}


def pair_up(
    dialogue_id: str, references: Sequence[Exchange], predicted: Sequence[Exchange], normaliser: Normaliser
) -> list[Pair]:
    """Join by turn id where both sides have ids, else by position."""
    by_id = {exchange.turn_id: exchange for exchange in predicted}
    with_ids = None not in by_id and all(reference.turn_id is not None for reference in references)
    pairs: list[Pair] = []
    before: State | None = None
    for position, reference in enumerate(references):
        if with_ids:
            prediction = by_id.get(reference.turn_id)
        else:
            prediction = predicted[position] if position < len(predicted) else None
        domains: tuple[str, ...] = ()
        if prediction is not None and prediction.domains is not None:
            domains = prediction.domains
        elif prediction is not None:
            states = (normaliser.state(state) for state in (prediction.state, before))
            domains = changed_domains(*states)
        if prediction is not None:
            before = prediction.state
        turn_id = reference.turn_id if reference.turn_id is not None else str(position)
        pairs.append(Pair(_unit(dialogue_id, turn_id, reference, prediction), reference, prediction, domains))
    return pairs


def _unit(dialogue_id: str, turn_id: str, reference: Exchange, prediction: Exchange | None) -> Unit:
    dimensions: dict[str, str] = dict(prediction.metadata) if prediction is not None else {}
    dimensions.update(reference.metadata)
    domains = reference_domains(reference)
    if domains:
        dimensions["domain"] = domains[0]
    return Unit(item_id(dialogue_id, turn_id), dialogue_id, dimensions, UNIT)


def dialogues(pairs: Sequence[Pair]) -> list[Dialogue]:
    """The pairs of whole dialogues, dialogue by dialogue; a dialogue has the dimensions all its exchanges share."""
    found = []
    for dialogue_id, group in groupby(pairs, key=lambda pair: pair.unit.cluster):
        own = list(group)
        shared = set(own[0].unit.dimensions.items()).intersection(*(pair.unit.dimensions.items() for pair in own))
        dimensions = {name: value for name, value in own[0].unit.dimensions.items() if (name, value) in shared}
        dimensions.pop("domain", None)  # of one exchange; a dialogue is split into its domains
        found.append(Dialogue(Unit(dialogue_id, dialogue_id, dimensions, DIALOGUE), own))
    return found
