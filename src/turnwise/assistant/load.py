"""From rows to a checked source of turns: what they carry, what looks wrong, and batches of whole sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.embedding import Embedding
from turnwise.assistant.profile import Profile
from turnwise.assistant.read import TurnRows
from turnwise.assistant.records import FIELDS, OPERATIONS, UNIT
from turnwise.assistant.tally import Tally, tally_block, tally_rows
from turnwise.assistant.turn_fields import make_turn
from turnwise.assistant.turns import Portion, Turns
from turnwise.engine.json_lines import JsonLines
from turnwise.engine.parallel import in_parallel
from turnwise.engine.plan import Finding
from turnwise.engine.rows import RowFile
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
    workers: int = 1
    """How many processes of this machine look at the turns."""
    sent_whole: bool = False
    """Whether the text of the turns goes to whoever measures them: workers on other machines may not reach the file."""
    unit = UNIT

    def __post_init__(self) -> None:
        self._tally = tally = self._scan()
        if not tally.turns:
            raise InputError("there is no turn in the data", expected="a JSON object per line, or rows under a header")
        self.n_items = len(tally.turns)
        self._portions = self._cut(_numbered(np.array(tally.sessions)), np.array(tally.turns))
        self.findings += [Finding("input", message, count) for message, count in tally.notes.items() if count]

    @property
    def versions(self) -> Mapping[str, None]:
        """In the order of the data; the empty text for turns without one."""
        return self._tally.versions

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked: the queries with their scenarios, in any order."""
        return f"{self._tally.asked % 2**256:064x}"[:12]

    @property
    def input_fingerprint(self) -> str:
        """Everything that is read, and into how many batches it is cut."""
        # A version that is given fills in blank ones and changes no other: what the turns have is what counts.
        given = hashlib.sha256(repr((sorted(self.versions), self._tally.given, len(self._portions))).encode())
        for order in (self._tally.sessions, self._tally.turns):
            given.update(order.tobytes())
        return given.hexdigest()[:12]

    @property
    def fields(self) -> dict[str, int]:
        """How many turns carry each field."""
        carried = self._tally.carried
        operations = {f"prediction.{name}": carried[name] for name in OPERATIONS}
        return {name: carried[name] for name in FIELDS} | operations

    @property
    def dimensions(self) -> set[str]:
        """What the turns can be sliced by."""
        return self._tally.dimensions

    @property
    def coverage(self) -> dict[str, int]:
        """How many turns have a reply."""
        return {"turns": self.n_items, "turns_predicted": self._tally.carried["response"]}

    def batches(self, done: Set[int] = frozenset()) -> Iterator[TurnBatch]:
        """The batches that are not done yet."""
        for index, numbers in enumerate(self._portions):
            if index not in done:
                turns = Turns(self._portion(numbers.tolist()), self.version)
                yield TurnBatch(index, turns, self.profile, self.embedding)

    def _portion(self, numbers: list[int]) -> Portion:
        if isinstance(self.rows, RowFile):
            return self.rows.portion(numbers, whole=self.sent_whole)
        return [(self.rows.where(n), row) for n, row in zip(numbers, self.rows.read(numbers), strict=True)]

    def _scan(self) -> Tally:
        """Look at every turn once: check it, count what it carries, take the fingerprints."""
        if not isinstance(self.rows, JsonLines):
            return tally_rows(self.rows.scan(), self.rows.where, self.version, self.profile)
        found = Tally()
        calls = [(self.rows, block, self.version, self.profile) for block in self.rows.blocks()]
        for tally, places in in_parallel(tally_block, calls, self.workers):
            found.add(tally)
            self.rows.add_places(places)
        return found

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


def _numbered(hashes: IntArray) -> IntArray:
    """Numbers for hashes, in the order in which they appear."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return np.asarray(numbers[inverse.reshape(-1)])
