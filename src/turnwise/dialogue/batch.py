"""A batch of exchange pairs with their states encoded once for all metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.pairing import dialogues
from turnwise.dialogue.pieces import dialogue_pieces
from turnwise.dialogue.records import DIALOGUE, Dialogue, Exchange, Pair, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.states import StateTable, encode
from turnwise.judge.records import Judged, Pieces
from turnwise.kernel.metric import Item
from turnwise.kernel.score import Unit

MISSING = "missing prediction"


@dataclass
class ExchangeBatch:
    """Exchanges of whole dialogues."""

    index: int
    pairs: Sequence[Pair]
    normaliser: Normaliser
    submitted_only: bool = False
    resources: Resources = field(default_factory=Resources)
    delexicalised: bool = True
    """Whether responses have placeholders where values would be; False where they turned out to have names."""

    judged: Judged = field(default_factory=dict, repr=False)
    """What a judge said about its exchanges and dialogues."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What several metrics work out together, once."""

    @property
    def files(self) -> list[Path]:
        """Those of the database, if there is one."""
        return [] if self.resources.database is None else self.resources.database.files

    def items(self) -> Iterable[Item]:
        """Every exchange, with both sides as they were read, and after the exchanges of a dialogue the dialogue."""
        for dialogue in self.dialogues:
            for pair in dialogue.pairs:
                content: dict[str, Any] = {"reference": pair.reference.content()}
                if pair.prediction is not None:
                    content["prediction"] = pair.prediction.content()
                yield Item(pair.unit, content)
            yield Item(dialogue.unit, None)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, ExchangeBatch]]:
        """One batch per exchange, or per dialogue."""
        if unit_kind == DIALOGUE:
            yield from ((dialogue.unit, self.with_pairs(dialogue.pairs)) for dialogue in self.dialogues)
        else:
            yield from ((pair.unit, self.with_pairs([pair])) for pair in self.pairs)

    def with_pairs(self, pairs: Sequence[Pair]) -> ExchangeBatch:
        """The same batch with other pairs."""
        return replace(self, pairs=pairs, memo={})

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """What a judge can be shown of each exchange, or of each dialogue."""
        for dialogue in self.dialogues:
            yield from dialogue_pieces(dialogue, unit_kind, self.resources, self.normaliser)

    @cached_property
    def dialogues(self) -> list[Dialogue]:
        """The pairs, dialogue by dialogue."""
        return dialogues(self.pairs)

    @cached_property
    def states(self) -> StateTable:
        """Both sides' states as encoded arrays."""
        return encode(self.pairs, self.normaliser)

    def operations(self) -> Iterator[tuple[Unit, dict[str, float]]]:
        """What each exchange cost the system under test."""
        for pair in self.pairs:
            yield pair.unit, dict(pair.prediction.operations) if pair.prediction is not None else {}

    def __getstate__(self) -> dict[str, Any]:
        # What is worked out is worked out anew where the batch is measured: it is larger than what it is made from.
        kept = {name: value for name, value in self.__dict__.items() if name not in ("states", "dialogues")}
        return {**kept, "memo": {}}


def empty_system(batch: ExchangeBatch) -> ExchangeBatch:
    """What a system that says nothing would have predicted."""

    def silence(pair: Pair) -> Exchange:
        return Exchange(
            dialogue_id=pair.reference.dialogue_id, response="", state={}, domains=(), intents=(), acts=(), act_slots=()
        )

    return _with_predictions(batch, silence)


def oracle(batch: ExchangeBatch) -> ExchangeBatch:
    """What a system that knows the references would have predicted."""
    found = _with_predictions(batch, lambda pair: _first_choice(pair.reference, batch.normaliser))
    found.delexicalised = False  # people answer in words
    return found


def _first_choice(reference: Exchange, normaliser: Normaliser) -> Exchange:
    state: dict[str, str | list[str]] = {}
    for slot, value in (reference.state or {}).items():
        acceptable = normaliser.values(normaliser.slot(slot), value)
        state[slot] = acceptable[0] if acceptable else ""
    known = state if reference.state is not None else None
    return replace(reference, state=known, domains=reference_domains(reference))


def _with_predictions(batch: ExchangeBatch, predict: Callable[[Pair], Exchange]) -> ExchangeBatch:
    pairs = []
    for pair in batch.pairs:
        prediction = predict(pair)
        pairs.append(Pair(pair.unit, pair.reference, prediction, prediction.domains or ()))
    # Nobody was asked about these: what a judge said is about the system's own.
    return replace(batch, pairs=pairs, delexicalised=True, judged={}, memo={})


BASELINES = {"empty": empty_system, "oracle": oracle}
