"""A batch of turns with what several metrics work out together; and two systems that are none, to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from turnwise.assistant.embedding import Embedding
from turnwise.assistant.pieces import Histories, histories, turn_pieces
from turnwise.assistant.profile import Profile, built_in
from turnwise.assistant.reading import Reading
from turnwise.assistant.records import Chunk, Turn
from turnwise.judge.records import Judged, Pieces
from turnwise.kernel.metric import SPEC, Item
from turnwise.kernel.score import Unit


@dataclass
class TurnBatch:
    """Turns of whole sessions."""

    index: int
    turns: Sequence[Turn]
    profile: Profile
    embedding: Embedding = field(default_factory=Embedding)
    judged: Judged = field(default_factory=dict, repr=False)
    """What a judge said about its turns."""
    earlier: Histories | None = field(default=None, repr=False)
    """What was said before its turns; None where the batch holds whole sessions, and so has it all."""
    memo: dict[str, list[Reading]] = field(default_factory=dict, repr=False)
    """What several metrics work out together, once, by the profile they are of."""

    def readings(self, profile: str) -> list[Reading]:
        """The turns as a profile reads them: the document's patterns under `spec`, the batch's own otherwise."""
        key = SPEC if profile == SPEC else ""
        if key not in self.memo:
            used = built_in(SPEC) if profile == SPEC else self.profile
            self.memo[key] = [Reading(turn, used) for turn in self.turns]
        return self.memo[key]

    def items(self) -> Iterable[Item]:
        """Every turn, as it was read."""
        return (Item(turn.unit, turn.content()) for turn in self.turns)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, TurnBatch]]:
        """One batch per turn."""
        alone = replace(self, earlier=self._histories(), memo={})
        yield from ((turn.unit, replace(alone, turns=[turn], memo={})) for turn in self.turns)

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """What a judge can be shown of each turn."""
        earlier = self._histories()
        yield from ((turn.unit, turn_pieces(turn, earlier[turn.id])) for turn in self.turns)

    def _histories(self) -> Histories:
        return histories(self.turns) if self.earlier is None else self.earlier

    def operations(self) -> Iterator[tuple[Unit, dict[str, float]]]:
        """What each reply cost."""
        yield from ((turn.unit, turn.operations) for turn in self.turns)

    def answered(self, answer: Callable[[Turn], Turn]) -> TurnBatch:
        """The same turns with other replies."""
        return replace(self, turns=[answer(turn) for turn in self.turns], memo={})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memo": {}}  # worked out anew where the batch is measured


CANNED_SENTENCE = "According to the policy, managers document what happened and talk to the employee."
_FACTS = (
    "Here's what usually helps. First, make sure that you have the facts: what was agreed, what happened, and when. "
    "Write them down the same day, in plain words and without opinions, so that anybody who reads them later knows "
    "what was seen and heard. Then find a quiet moment, away from the floor, and listen before you judge; there may "
    "be a reason that nobody has thought of. Say what you expect from now on, and by when. Treat everybody alike, "
    "however well you know them."
)
CANNED = "\n\n".join(
    [
        "I understand, and thanks for bringing this up.",
        CANNED_SENTENCE,
        _FACTS,
        "Next steps: keep your notes in a safe place, and come back to me if anything changes.",
    ]
)
"""A reply that fits everything and helps nobody."""


def empty(batch: TurnBatch) -> TurnBatch:
    """A system that says nothing, at once, and retrieves nothing."""
    return batch.answered(lambda turn: replace(turn, response="", chunks=(), processing_time_ms=0.0))


def canned(batch: TurnBatch) -> TurnBatch:
    """A system that gives the same reply to everything, at once, with one chunk that it quotes."""
    return batch.answered(canned_turn)


def canned_turn(turn: Turn) -> Turn:
    """A turn with the canned reply."""
    chunk = Chunk(CANNED_SENTENCE, "Policy", 1.0)
    return replace(turn, response=CANNED, chunks=(chunk,), processing_time_ms=0.0)


BASELINES = {"empty": empty, "canned": canned}
