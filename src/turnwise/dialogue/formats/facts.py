"""The few facts of each dialogue that joining, planning and checking need, some fifty bytes a dialogue.

Neither ids nor exchanges are kept here: an id is known by its fingerprint, and read again where somebody must see it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from turnwise.dialogue.records import Exchange, State, folded_id

_64_BITS = (1 << 64) - 1
_WITH_IDS, _SEVERAL_STATES, _EMPTY, _CONSTANT = 1, 2, 4, 8


@dataclass(slots=True)
class Facts:
    """What is known of a dialogue without holding its exchanges."""

    exchanges: int = 0
    ids: int = 0
    """How many exchanges have a turn id."""
    turns: int = 0
    """Sum of the hashes of the turn ids: equal for the same set of ids in any order."""
    states: int = 0
    """How many exchanges carry a state."""
    first_state: int | None = None
    constant: bool = True
    """Whether every state so far equals the first."""
    empty: bool = True
    """Whether every state so far is empty."""
    goal: int | None = None
    reward: int | None = None
    """Fingerprints of what belongs to the dialogue as a whole."""
    second: str | None = None
    """Which of the two has another value on another exchange."""

    def add(self, exchange: Exchange) -> None:
        """Take one more exchange into account."""
        self.exchanges += 1
        if exchange.goal is not None:
            self.goal = self._once("goal", self.goal, repr(exchange.goal))
        if exchange.rewards is not None:
            self.reward = self._once("reward", self.reward, repr(exchange.rewards))
        if exchange.turn_id is not None:
            self.ids += 1
            self.turns += hash(exchange.turn_id)
        if exchange.state is None:
            return
        self.states += 1
        fingerprint = _state_print(exchange.state)
        if self.first_state is None:
            self.first_state = fingerprint
        self.constant = self.constant and fingerprint == self.first_state
        self.empty = self.empty and not exchange.state

    def _once(self, name: str, known: int | None, text: str) -> int:
        found = hash(text)
        if known not in (None, found):
            self.second = name
        return found


def _state_print(state: State) -> int:
    """The same for the same slots and values in any order."""
    try:
        return hash(frozenset(state.items()))
    except TypeError:  # a list of alternatives
        return hash(frozenset([(slot, str(value)) for slot, value in state.items()]))


def facts_of(exchanges: Sequence[Exchange]) -> Facts:
    """The facts of a whole dialogue."""
    facts = Facts()
    for exchange in exchanges:
        facts.add(exchange)
    return facts


class FactTable:
    """The facts of all dialogues as columns, by the place of the dialogue in the file."""

    def __init__(self) -> None:
        self._exchanges = array("I")
        self._turns = array("Q")
        self._flags = array("B")

    def __len__(self) -> int:
        return len(self._exchanges)

    def put(self, place: int, facts: Facts) -> None:
        """Note, or note anew, the facts of a dialogue; a new one comes at the end."""
        flags = (
            _WITH_IDS * (facts.ids == facts.exchanges)
            | _SEVERAL_STATES * (facts.states >= 2)
            | _EMPTY * facts.empty
            | _CONSTANT * facts.constant
        )
        if place == len(self):
            self._exchanges.append(facts.exchanges)
            self._turns.append(facts.turns & _64_BITS)
            self._flags.append(flags)
        else:
            self._exchanges[place] = facts.exchanges
            self._turns[place] = facts.turns & _64_BITS
            self._flags[place] = flags

    def without_states(self) -> FactTable:
        """The same dialogues as if no exchange carried a state."""
        other = FactTable()
        other._exchanges, other._turns = self._exchanges, self._turns
        ids = np.frombuffer(self._flags, dtype=np.uint8) & _WITH_IDS
        other._flags = array("B", (ids | _EMPTY | _CONSTANT).astype(np.uint8).tobytes())
        return other

    @property
    def exchanges(self) -> npt.NDArray[np.int64]:
        """How many exchanges each dialogue has."""
        return np.array(self._exchanges, dtype=np.int64)

    @property
    def turns(self) -> npt.NDArray[np.uint64]:
        """Sum of the hashes of the turn ids: equal for the same set of ids in any order."""
        return np.array(self._turns, dtype=np.uint64)

    @property
    def with_ids(self) -> npt.NDArray[np.bool_]:
        """Whether every exchange has a turn id."""
        return self._flagged(_WITH_IDS)

    @property
    def several_states(self) -> npt.NDArray[np.bool_]:
        """Whether at least two exchanges carry a state."""
        return self._flagged(_SEVERAL_STATES)

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Whether every state is empty."""
        return self._flagged(_EMPTY)

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Whether every state equals the first."""
        return self._flagged(_CONSTANT)

    def _flagged(self, flag: int) -> npt.NDArray[np.bool_]:
        return (np.array(self._flags, dtype=np.uint8) & flag) > 0


class IdTable:
    """The places of dialogues by the fingerprints of their ids: 30 bytes an id, where a dictionary takes 200.

    Two of 10 million ids have the same 64 bits once in 400,000 files; whoever reads a dialogue notices (`jsonl.py`).
    """

    def __init__(self) -> None:
        self._slots = array("i", [-1]) * 1024
        self._prints = array("Q")
        self._folds = array("Q")

    def __len__(self) -> int:
        return len(self._prints)

    @property
    def prints(self) -> npt.NDArray[np.uint64]:
        """The fingerprint of each id."""
        return np.array(self._prints, dtype=np.uint64)

    @property
    def folds(self) -> npt.NDArray[np.uint64]:
        """The fingerprint of each id without what spellings differ in."""
        return np.array(self._folds, dtype=np.uint64)

    def find(self, dialogue_id: str) -> int:
        """The place of an id; -1 where there is none."""
        return self._slots[self._slot(_fingerprint(dialogue_id))]

    def add(self, dialogue_id: str) -> int:
        """Give a new id the next place."""
        place = len(self._prints)
        self._prints.append(_fingerprint(dialogue_id))
        self._folds.append(_fingerprint(folded_id(dialogue_id)))
        self._slots[self._slot(self._prints[place])] = place
        if 2 * len(self._prints) > len(self._slots):
            self._slots = array("i", [-1]) * (2 * len(self._slots))
            for known, fingerprint in enumerate(self._prints):
                self._slots[self._slot(fingerprint)] = known
        return place

    def _slot(self, fingerprint: int) -> int:
        """Where a fingerprint is, or would be put."""
        slots, prints, mask = self._slots, self._prints, len(self._slots) - 1
        at = fingerprint & mask
        while (place := slots[at]) >= 0 and prints[place] != fingerprint:
            at = (at + 1) & mask
        return at


def _fingerprint(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
