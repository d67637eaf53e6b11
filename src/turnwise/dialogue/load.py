"""From two sides to a checked source of exchange pairs: join, batch, and say what the normaliser rewrote.

Nothing is dropped silently: what has no partner is counted in the findings, and what cannot be meant is refused
(`hygiene.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.booked import Booked, with_booked
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.formats.streamed import same_fingerprint
from turnwise.dialogue.hygiene import check_sides
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.pairing import Joined, match_ids, pair_up
from turnwise.dialogue.records import FIELDS, UNIT, Exchange, Pair, folded_id
from turnwise.dialogue.resources import Resources
from turnwise.engine.plan import Finding
from turnwise.kernel.signature import digest

BATCH_EXCHANGES = 1024


@dataclass
class DialogueSource:
    """References and predictions, joined and checked; an engine source."""

    references: Dialogues
    predictions: Dialogues
    normaliser: Normaliser
    submitted_only: bool = False
    allow_constant_state: bool = False
    resources: Resources = field(default_factory=Resources)
    booked: Booked | None = None
    """Which domains were booked when; without it, what the references say themselves."""
    findings: list[Finding] = field(default_factory=list)
    unit = UNIT

    def __post_init__(self) -> None:
        self._predicted = match_ids(self.references, self.predictions)
        exchanges = self.references.facts.exchanges
        self.n_items = int(exchanges.sum())
        self._ends = _batch_ends(exchanges.tolist())
        joined = Joined(self.references, self.predictions, self._predicted, self.normaliser, self.resources)
        checked = check_sides(
            joined,
            self.booked,
            submitted_only=self.submitted_only,
            allow_constant_state=self.allow_constant_state,
        )
        self._n_predicted, self._delexicalised = checked.n_predicted, checked.delexicalised
        self.findings += checked.findings

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked: two runs on the same references can be compared."""
        return digest([self.references.sha256])

    @property
    def input_fingerprint(self) -> str:
        """What was asked and what was answered: a resumed run must find the same."""
        return digest([self.references.sha256, self.predictions.sha256, BATCH_EXCHANGES])

    @property
    def fields(self) -> dict[str, int]:
        """How many exchanges carry each field, by side."""
        found = {"--database": self.n_items if self.resources.database is not None else 0}
        for side, dialogues in (("reference", self.references), ("prediction", self.predictions)):
            counted = dialogues.tally.fields
            found |= {f"{side}.{name}": counted[name] for name in FIELDS}
            # What stands on the first exchange holds for the whole dialogue.
            found |= {f"{side}.{name}": self.n_items for name in ("goal", "rewards") if counted[name]}
        return found

    @property
    def dimensions(self) -> set[str]:
        """The domain and every metadata column of either side."""
        return {"domain", *self.references.tally.metadata, *self.predictions.tally.metadata}

    @property
    def coverage(self) -> dict[str, int]:
        """How much of the data set was answered."""
        return {
            "dialogues": len(self.references.facts),
            "dialogues_predicted": int(np.count_nonzero(self._predicted >= 0)),
            "exchanges": self.n_items,
            "exchanges_predicted": self._n_predicted,
        }

    def batches(self, done: Set[int] = frozenset()) -> Iterator[ExchangeBatch]:
        """The batches that are not done yet."""
        for index, (first, end) in enumerate(pairwise([0, *self._ends])):
            if index not in done:
                pairs = [pair for own in self._pairs(range(first, end)) for pair in own]
                yield ExchangeBatch(
                    index, pairs, self.normaliser, self.submitted_only, self.resources, self._delexicalised
                )

    def pairs(self, dialogue_id: str) -> list[Pair]:
        """The exchanges of a dialogue with what was predicted for them."""
        (found,) = self._pairs([self.references.index.find(dialogue_id)])
        return found

    def _pairs(self, places: Iterable[int]) -> Iterator[list[Pair]]:
        """The exchanges of some dialogues of the references with what was predicted for them."""
        known = list(places)
        matched = self._predicted[known].tolist()
        predictions = self.predictions.at([place for place in matched if place >= 0])
        for references, place in zip(self.references.at(known), matched, strict=True):
            predicted: list[Exchange] = next(predictions) if place >= 0 else []
            if not references:
                yield []
                continue
            name = references[0].dialogue_id
            if predicted and folded_id(predicted[0].dialogue_id) != folded_id(name):
                raise same_fingerprint(self.predictions.path, {name, predicted[0].dialogue_id})
            own = references if self.booked is None else with_booked(references, self.booked)
            yield pair_up(name, own, predicted, self.normaliser)

    def rewrites(self) -> list[tuple[str, str, str, str | None, int]]:
        """Every rewrite of the normaliser: side, slot, value as written, normal form, how often."""
        found = []
        for side, dialogues in (("reference", self.references), ("prediction", self.predictions)):
            written: Counter[tuple[str, str]] = Counter()
            for (raw_slot, raw), count in dialogues.tally.values.items():
                slot = self.normaliser.slot(raw_slot)
                pieces = self.normaliser.pieces(raw) if side == "reference" else [raw]
                written.update(dict.fromkeys(((slot, piece) for piece in pieces), count))
            for (slot, piece), count in sorted(written.items()):
                normal = self.normaliser.value(slot, piece)
                if normal != piece:
                    found.append((side, slot, piece, normal, count))
        return found


def _batch_ends(exchanges: Iterable[int]) -> list[int]:
    """The place after the last dialogue of each batch: full once it has enough exchanges, a dialogue never split."""
    ends: list[int] = []
    size = BATCH_EXCHANGES
    for place, n in enumerate(exchanges):
        if size >= BATCH_EXCHANGES:
            ends.append(place)
            size = 0
        ends[-1] = place + 1
        size += n
    return ends
