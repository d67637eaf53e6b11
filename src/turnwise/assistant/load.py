"""From rows to a checked source of turns: what they carry, what looks wrong, and batches of whole sessions."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.embedding import Embedding
from turnwise.assistant.metrics.rag_similarity_score import outside_range
from turnwise.assistant.profile import Profile
from turnwise.assistant.read import TurnRows
from turnwise.assistant.reading import unreadable
from turnwise.assistant.records import FIELDS, OPERATIONS, UNIT, Turn
from turnwise.assistant.turn_fields import FIELDS as KNOWN
from turnwise.assistant.turn_fields import SCORES, is_dimension, make_turn
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError

IntArray: TypeAlias = npt.NDArray[np.int64]
BATCH = 512
"""Turns measured together, at least; a session is never split."""


@dataclass
class AssistantSource:
    """Turns of a source of rows, checked; an engine source."""

    rows: TurnRows
    profile: Profile
    version: str = ""
    """Of turns that name none."""
    embedding: Embedding = field(default_factory=Embedding)
    findings: list[Finding] = field(default_factory=list)
    unit = UNIT

    def __post_init__(self) -> None:
        self.versions: dict[str, None] = {}
        """In the order of the data; the empty text for turns without one."""
        self._carried: Counter[str] = Counter()
        self._dimensions: set[str] = set()
        self._notes: Counter[str] = Counter()
        self._scan()

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked: the queries with their scenarios, in any order."""
        return self._asked

    @property
    def input_fingerprint(self) -> str:
        """Everything that is read, and into how many batches it is cut."""
        return self._given

    @property
    def fields(self) -> dict[str, int]:
        """How many turns carry each field."""
        operations = {f"prediction.{name}": self._carried[name] for name in OPERATIONS}
        return {name: self._carried[name] for name in FIELDS} | operations

    @property
    def dimensions(self) -> set[str]:
        """What the turns can be sliced by."""
        return self._dimensions

    @property
    def coverage(self) -> dict[str, int]:
        """How many turns have a reply."""
        return {"turns": self.n_items, "turns_predicted": self._carried["response"]}

    def batches(self, done: Set[int] = frozenset()) -> Iterator[TurnBatch]:
        """The batches that are not done yet."""
        for index, numbers in enumerate(self._portions):
            if index not in done:
                rows = zip(numbers.tolist(), self.rows.read(numbers.tolist()), strict=True)
                turns = [make_turn(row, self.rows.where(number), self.version) for number, row in rows]
                yield TurnBatch(index, turns, self.profile, self.embedding)

    def _scan(self) -> None:
        """Look at every turn once: check it, count what it carries, take the fingerprints."""
        asked, given = 0, hashlib.sha256()
        sessions, turns = array("q"), array("q")  # of each turn: the hash of its session, and its number there
        for number, row in enumerate(self.rows.scan()):
            turn = make_turn(row, self.rows.where(number), self.version)
            sessions.append(hash(turn.session_id))
            turns.append(turn.turn)
            question = repr((turn.query, turn.scenario)).encode("utf-8", "surrogatepass")
            asked += int.from_bytes(hashlib.sha256(question).digest())
            given.update(repr(turn).encode("utf-8", "surrogatepass"))
            self._count(turn, row)
        if not turns:
            raise InputError("there is no turn in the data", expected="a JSON object per line, or rows under a header")
        self.n_items = len(turns)
        self._portions = self._cut(_numbered(np.array(sessions)), np.array(turns))
        self._asked = f"{asked % 2**256:064x}"[:12]
        given.update(f"{len(self._portions)}".encode())
        self._given = given.hexdigest()[:12]
        self.findings += [Finding("input", message, count) for message, count in self._notes.items() if count]

    def _cut(self, sessions: IntArray, turns: IntArray) -> list[IntArray]:
        """The rows in portions of whole sessions, the turns of each in their order."""
        order = np.lexsort((turns, sessions))
        same = (np.diff(sessions[order]) == 0) & (np.diff(turns[order]) == 0)
        if same.any():
            number = int(order[1:][same].min())
            first = int(np.flatnonzero((sessions == sessions[number]) & (turns == turns[number]))[0])
            raise self._twice(number, first)
        begins = np.flatnonzero(np.diff(sessions[order], prepend=-1))
        bounds = [0]
        while bounds[-1] + BATCH <= begins[-1]:
            bounds.append(int(begins[np.searchsorted(begins, bounds[-1] + BATCH)]))
        return [order[first:end] for first, end in pairwise([*bounds, len(order)])]

    def _twice(self, number: int, first: int) -> InputError:
        (row,) = self.rows.read([number])
        turn = make_turn(row, self.rows.where(number), self.version)
        return InputError(
            f"session {turn.session_id!r} has two turns number {turn.turn}",
            where=self.rows.where(number),
            found=f"the same session and turn as in {self.rows.where(first)}",
            expected="every turn of a session once",
            remedy="number the turns anew, or give the second conversation a session_id of its own",
        )

    def _count(self, turn: Turn, row: Mapping[str, Any]) -> None:
        self.versions[turn.version] = None
        self._carried.update(name for name in FIELDS if _carries(turn, name))
        self._carried.update(turn.operations.keys())
        self._dimensions.update(turn.unit.dimensions)
        notes = self._notes
        if turn.response is not None:
            notes["replies that are empty"] += not turn.response.strip()
            notes["replies in another script than the patterns, which say nothing about them"] += unreadable(
                turn.response, self.profile
            )
        notes["turns that do not say is_first_response: the turn number 1 is taken for the first"] += (
            turn.is_first_response is None
        )
        notes["turns with a similarity outside 0 to 1: a distance, or a score without bounds?"] += bool(
            outside_range(turn.chunks or ())
        )
        notes["turns without a version (--version fills it in)"] += not turn.version
        notes["turns that came with scores: they are measured anew, and ratings are not read"] += any(
            name in SCORES and value not in (None, "") for name, value in row.items()
        )
        for name, value in row.items():
            odd = name not in KNOWN and name not in SCORES and value not in (None, "") and not is_dimension(name, value)
            notes[f"values of {name!r} that cannot be sliced by (long, or no text), left out"] += odd


def _carries(turn: Turn, name: str) -> bool:
    value = getattr(turn, name)
    return value is not None and value != ""


def _numbered(hashes: IntArray) -> IntArray:
    """Numbers for hashes, in the order in which they appear."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return np.asarray(numbers[inverse.reshape(-1)])
