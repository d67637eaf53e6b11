"""What speaking and listening share while a scenario is played: the connections, the clock, and all that is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turnwise.live.answers import Answers
from turnwise.live.capture import Capture
from turnwise.live.clock import FrameClock
from turnwise.live.connection import Connection
from turnwise.live.messages import Inbound
from turnwise.live.voices import Voices
from turnwise.live.wire import NOTE, OUT, Line, Sounds, WireLog


@dataclass
class Call:
    """A scenario that is being played."""

    capture: Capture
    log: WireLog
    sounds: Sounds
    clock: FrameClock
    voices: Voices
    connections: Mapping[str | None, Connection]
    """By participant; one for all of them under None."""
    marks: list[tuple[float, str | None, Inbound]] = field(default_factory=list)
    """When each mark of a system will have been heard, and on which connection it came."""
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where the audio of each turn lies, in bytes: begin and length."""

    def __post_init__(self) -> None:
        self.answers = Answers(self.voices.moments, self.voices.scenario.turns)
        self.out_files = {name: self.capture.file("out", name) for name in self.capture.header.participants}

    def say(self, name: str | None, messages: list[dict[str, Any]]) -> None:
        """Send messages that are no audio."""
        for message in messages:
            text = json.dumps(message)
            if self.connections[name].send(text):
                self.log.write_text(OUT, self.clock.now, name, text)

    def note(self, now: float, note: dict[str, Any]) -> None:
        """Write into the log what the driver knows and no message says."""
        self.log.write(Line(NOTE, now, None, note))

    def turn_over(self, turn_id: str, at: float) -> None:
        """A turn has ended, or was broken off; once is enough."""
        if self.capture.turn(turn_id).end_ms is None:
            place = self._place(turn_id)
            self.capture.turn_ended(turn_id, at, place)
            self.note(at, {"turn_ended": turn_id, "audio": place})

    def all_over(self, at: float) -> None:
        """The call has ended: so has whoever was still speaking."""
        for turn in self.voices.begun:
            self.turn_over(turn.id, at)

    def _place(self, turn_id: str) -> dict[str, Any] | None:
        if turn_id not in self.places:
            return None
        per_ms = 2 * self.voices.rate / 1000
        begin, length = self.places[turn_id]
        name = f"audio/{self.out_files[self.capture.turn(turn_id).participant_id]}"
        return {"file": name, "offset_ms": round(begin / per_ms, 3), "duration_ms": round(length / per_ms, 3)}
