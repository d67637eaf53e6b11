"""What turns carry and what looks wrong about them, counted row by row; counts of parts of the data add up."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from turnwise.assistant.metrics.rag_similarity_score import outside_range
from turnwise.assistant.profile import Profile
from turnwise.assistant.reading import unreadable
from turnwise.assistant.records import FIELDS, Turn
from turnwise.assistant.turn_fields import MEANT, SCORES, is_dimension, make_turn
from turnwise.engine.json_lines import Block, JsonLines
from turnwise.engine.rows import Places
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import fingerprinted


@dataclass
class Tally:
    """What is known of some turns, and in which order they came."""

    sessions: array[int] = field(default_factory=lambda: array("q"))
    """Of each turn, what its session's name is hashed to."""
    turns: array[int] = field(default_factory=lambda: array("q"))
    """The number of each turn in its session."""
    asked: int = 0
    given: int = 0
    """Sums of hashes, of the questions and of the rows."""
    versions: dict[str, None] = field(default_factory=dict)
    carried: Counter[str] = field(default_factory=Counter)
    dimensions: set[str] = field(default_factory=set)
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, later: Tally) -> None:
        """Turns that follow these."""
        self.sessions.extend(later.sessions)
        self.turns.extend(later.turns)
        self.asked += later.asked
        self.given += later.given
        self.versions |= later.versions
        self.carried.update(later.carried)
        self.dimensions |= later.dimensions
        self.notes.update(later.notes)

    def look_at(self, turn: Turn, row: Mapping[str, Any], profile: Profile) -> None:
        """One more turn."""
        self.sessions.append(_hashed(turn.session_id))
        self.turns.append(turn.turn)
        self.asked += _digest(repr((turn.query, turn.scenario)).encode("utf-8", "surrogatepass"))
        self.given += _digest(fingerprinted(row))
        self.versions[turn.version] = None
        for name in FIELDS:
            self.carried[name] += getattr(turn, name) not in (None, "")
        for name in turn.operations:
            self.carried[name] += 1
        self.dimensions.update(turn.unit.dimensions)
        self._note(turn, row, profile)

    def _note(self, turn: Turn, row: Mapping[str, Any], profile: Profile) -> None:
        notes = self.notes
        if turn.response is not None:
            notes["replies that are empty"] += not turn.response.strip()
            notes["replies in another script than the patterns, which say nothing about them"] += unreadable(
                turn.response, profile
            )
        notes["turns that do not say is_first_response: the turn number 1 is taken for the first"] += (
            turn.is_first_response is None
        )
        notes["turns with a similarity outside 0 to 1: a distance, or a score without bounds?"] += bool(
            outside_range(turn.chunks or ())
        )
        notes["turns without a version (--version fills it in)"] += not turn.version
        notes["turns that came with scores: they are measured anew, and ratings are not read"] += any(
            row[name] not in (None, "") for name in row.keys() & SCORES
        )
        for name in (name for name in row if name not in MEANT):
            odd = row[name] not in (None, "") and not is_dimension(name, row[name])
            notes[f"values of {name!r} that cannot be sliced by (long, or no text), left out"] += odd


def tally_rows(rows: Iterable[Mapping[str, Any]], where: Callable[[int], str], version: str, profile: Profile) -> Tally:
    """All rows of a source; `version` is that of turns that name none."""
    found = Tally()
    for number, row in enumerate(rows):
        found.look_at(make_turn(row, where(number), version), row, profile)
    return found


def tally_block(rows: JsonLines, block: Block, version: str, profile: Profile) -> tuple[Tally, Places]:
    """The rows of a block of lines, with their places in the file; runs in any process."""
    try:
        return _tallied(copy(rows), block, version, profile)
    except InputError:
        _tallied(copy(rows), rows.numbered(block), version, profile)  # again, to say in which line of the file
        raise


def _tallied(own: JsonLines, block: Block, version: str, profile: Profile) -> tuple[Tally, Places]:
    return tally_rows(own.scan_block(block), own.where, version, profile), own.places


def _digest(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest())


def _hashed(name: str) -> int:
    """64 bits of a name, the same in every process."""
    found = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, signed=True)
