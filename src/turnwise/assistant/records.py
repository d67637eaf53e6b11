"""What is evaluated: a turn of a session, a user's message with the assistant's reply and what was retrieved for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turnwise.kernel.score import Unit

UNIT = "turn"
VERSION = "version"
SCENARIO = "scenario"
SESSION = "session_id"
DIMENSIONS = (VERSION, SCENARIO, "tester", "category", SESSION)
"""What every turn can be sliced by, where it has it; other columns come on top."""

QUERY, RESPONSE, CHUNKS, TIME = "query", "response", "chunks", "processing_time_ms"
FIELDS = (QUERY, RESPONSE, CHUNKS, TIME, "is_first_response", SCENARIO)
"""What a turn may carry, as metrics name what they need."""
OPERATIONS = ("latency_ms", "tokens", "cost")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved passage of a policy."""

    text: str = ""
    title: str = ""
    similarity: float | None = None
    """As the retriever gave it; None where it gave none. Values outside 0 to 1 are kept, and not averaged."""

    def content(self) -> dict[str, Any]:
        """The chunk as it is kept."""
        found = {"title": self.title, "text": self.text, "similarity": self.similarity}
        return {name: value for name, value in found.items() if value not in (None, "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn. A text that is None was not recorded; an empty one was. No chunks are not the same as none recorded."""

    session_id: str
    turn: int
    version: str = ""
    tester: str = ""
    query: str | None = None
    response: str | None = None
    chunks: tuple[Chunk, ...] | None = None
    processing_time_ms: float | None = None
    is_first_response: bool | None = None
    scenario: str = ""
    """What the turn is about: attendance, discipline."""
    improvement_notes: str = ""
    category: str = ""
    """Of the note: tone, content, citation."""
    timestamp: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    tokens: float | None = None
    cost: float | None = None

    @property
    def id(self) -> str:
        """The turn's name in a run: `session#number`."""
        return turn_id(self.session_id, self.turn)

    @property
    def unit(self) -> Unit:
        """What its scores are about; the turns of a session are not independent."""
        own = {VERSION: self.version, SCENARIO: self.scenario, "tester": self.tester, "category": self.category}
        named = {**own, SESSION: self.session_id}
        dimensions = {**self.metadata, **{name: value for name, value in named.items() if value}}
        return Unit(self.id, self.session_id, dimensions, UNIT)

    @property
    def operations(self) -> dict[str, float]:
        """What the reply cost."""
        found = {"latency_ms": self.processing_time_ms, "tokens": self.tokens, "cost": self.cost}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def first(self) -> bool:
        """Whether the reply is the first of its session; the first turn, where nobody says."""
        return self.turn == 1 if self.is_first_response is None else self.is_first_response

    def content(self) -> dict[str, Any]:
        """What is kept to show the turn later; the names are those of the JSONL form."""
        found: dict[str, Any] = {
            "session_id": self.session_id,
            "turn": self.turn,
            "version": self.version or None,
            "tester": self.tester or None,
            "query": self.query,
            "response": self.response,
            "chunks": None if self.chunks is None else [chunk.content() for chunk in self.chunks],
            "processing_time_ms": self.processing_time_ms,
            "is_first_response": self.is_first_response,
            "scenario": self.scenario or None,
            "improvement_notes": self.improvement_notes or None,
            "category": self.category or None,
            "timestamp": self.timestamp or None,
            "tokens": self.tokens,
            "cost": self.cost,
        }
        return {**self.metadata, **{name: value for name, value in found.items() if value is not None}}


def turn_id(session_id: str, turn: int) -> str:
    """The name of a turn in a run."""
    return f"{session_id}#{turn}"
