"""Who belongs to whom: predicted dialogues to reference dialogues, predicted exchanges to reference exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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
    item_id,
    reference_domains,
)
from turnwise.dialogue.resources import Resources
from turnwise.kernel.score import Unit

Places: TypeAlias = npt.NDArray[np.int64]
Prints: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Joined:
    """The two sides, and which predicted dialogue belongs to which of the references."""

    references: Dialogues
    predictions: Dialogues
    predicted: Places
    """For each dialogue of the references; -1 where nothing was predicted."""
    normaliser: Normaliser
    resources: Resources

    @property
    def both(self) -> tuple[Places, Places]:
        """The places of the dialogues that both sides have, on each side."""
        ours = np.flatnonzero(self.predicted >= 0)
        return ours, self.predicted[ours]


def match_ids(references: Dialogues, predicted: Dialogues) -> Places:
    """The predicted dialogue of each reference: the same id, or else the same but for case and a `.json` ending.

    -1 where there is none. A spelling counts only where a single dialogue on either side has it.
    """
    matched = _places(references.index.prints, predicted.index.prints)
    left = np.ones(len(predicted.index), dtype=bool)
    left[matched[matched >= 0]] = False
    alone = np.flatnonzero(matched < 0)
    if not len(alone) or not left.any():
        return matched
    folds = references.index.folds
    places = np.flatnonzero(left)
    offered = predicted.index.folds[places]
    found = _places(folds[alone], offered)
    once = _single(folds)[alone] & (found >= 0)
    once[once] = _single(offered)[found[once]]
    matched[alone[once]] = places[found[once]]
    return matched


def _places(wanted: Prints, known: Prints) -> Places:
    """Where each of `wanted` is in `known`; -1 where it is not."""
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)
    places = order[at].astype(np.int64)
    places[known[places] != wanted] = -1
    return places


def _single(prints: Prints) -> npt.NDArray[np.bool_]:
    """Which fingerprints occur once."""
    _, inverse, counts = np.unique(prints, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse.reshape(-1)] == 1)


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
