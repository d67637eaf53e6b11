"""What is evaluated: a call with a live interpreter as its capture has it. All times are milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CAPTURE, TURN, PAIR = "capture", "turn", "pair"
"""What a score is about: a whole call, one turn (or one instance of a log), a barge-in and the turn before it."""
SCENARIO, LANGUAGE, PROTOCOL, PARTICIPANT, KIND = "scenario", "language", "protocol", "participant", "kind"

AUDIO, DELTA, TEXT = "translated_audio", "translated_delta", "translated_text"
TRANSLATION = (AUDIO, DELTA, TEXT)
"""The events that a translation consists of."""
LATEST = 1e10
"""Milliseconds: no call lasts four months, and times since 1970 are meant to be something else."""
Sent = tuple[int | None, float]
"""`seq` of a message that was sent, and when."""
SILENT_TURNS = ("silence", "hangup")
"""Turns in which nobody says anything that could be translated."""


class Event(NamedTuple):
    """A piece of a translation."""

    number: int
    """`seq` in the events of the capture."""
    kind: str
    """One of `TRANSLATION`."""
    arrived: float
    participant: str | None = None
    turn: str | None = None
    response: str | None = None
    text: str = ""
    audible_from: float | None = None
    """When its audio is heard; None for text."""
    audible_to: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a participant said."""

    id: str
    participant: str
    start: float | None = None
    """When its first sound was sent; None: the call ended before."""
    end: float | None = None
    barge_in: bool = False
    source_text: str | None = None
    expected_text: str | None = None
    expected_language: str | None = None
    type: str = "play_audio"
    first_sent: float | None = None
    """When the first message of it was sent, where that is logged."""
    sent: tuple[int, ...] = ()
    """`seq` of those messages."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaks(self) -> bool:
        """Whether there is something to be translated."""
        return self.type not in SILENT_TURNS


@dataclass(frozen=True, slots=True)
class Call:
    """One run of a scenario."""

    key: str
    """The folder of the capture, from the folder that was named."""
    scenario: str
    turns: tuple[Turn, ...]
    """In the order of their start; those that never began come last."""
    events: tuple[Event, ...] = ()
    """Inbound, in the order of their arrival."""
    protocol: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    metrics: frozenset[str] | None = None
    """What its scenario asks for; None is all."""
    ended: float | None = None
    reason: str | None = None
    """Why it ended before its time."""
    languages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    description: str = ""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What is odd about the files."""

    @property
    def spoken(self) -> list[Turn]:
        """The turns in which something was said, in the order of their start."""
        return [turn for turn in self.turns if turn.speaks and turn.start is not None]

    @property
    def dimensions(self) -> dict[str, str]:
        """What it can be sliced by."""
        return {SCENARIO: self.scenario, **({PROTOCOL: self.protocol} if self.protocol else {})}

    def asks_for(self, metric: str) -> bool:
        """Whether its scenario wants a metric."""
        return self.metrics is None or metric in self.metrics
