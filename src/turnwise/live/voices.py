"""Who is speaking: the turns of a scenario as frames, each begun when its moment has come."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from turnwise.live.scenario import Scenario, Turn
from turnwise.live.transports.base import FRAME_MS

START, END = "start", "end"
FIRST_AUDIO, FIRST_TEXT, LAST_AUDIO = "first_audio", "first_text", "last_audio"
HANGUP, SILENCE = "hangup", "silence"
Pcm = NDArray[np.int16]


@dataclass
class Speaking:
    """A turn that is being played."""

    turn: Turn
    audio: Pcm
    place: int = 0


@dataclass
class Voices:
    """Every participant's audio, frame by frame; and the moments that turns wait for."""

    scenario: Scenario
    audio: Mapping[str, Pcm]
    rate: int
    moments: dict[tuple[str, str], float] = field(default_factory=dict)
    """When something happened to a turn: it began, it ended, its answer was first heard ..."""
    begun: list[Turn] = field(default_factory=list)
    hung_up: bool = False
    last_end: float = 0.0
    """When the last turn ended, so far."""

    def __post_init__(self) -> None:
        self._waiting = list(self.scenario.turns)
        self._speaking: dict[str, Speaking] = {}
        self._ended: list[Turn] = []
        self._soonest, self._known = 0.0, -1
        self._before = dict(zip([turn.id for turn in self.scenario.turns[1:]], self.scenario.turns, strict=False))
        self._frame = self.rate * FRAME_MS // 1000
        self.silence = bytes(2 * self._frame)

    @property
    def done(self) -> bool:
        """Whether every turn has ended."""
        return not self._waiting and not self._speaking

    def waits_for(self) -> str:
        """What the first turn that has not begun is waiting for."""
        if not self._waiting:
            return ""
        turn = self._waiting[0]
        on = f"{turn.after.event} of turn {turn.after.turn}" if turn.after else f"{turn.start_at_ms} ms"
        return f"turn {turn.id} waits for {on}"

    def begin(self, now: float) -> list[Turn]:
        """Begin every turn whose moment has come."""
        if now < self._soonest and len(self.moments) == self._known:
            return []
        begun, self._soonest = [], math.inf
        for turn in list(self._waiting):
            at = self._moment(turn)
            if at is None or at > now:
                self._soonest = min(self._soonest, math.inf if at is None else at)
                continue
            self._waiting.remove(turn)
            if turn.type == HANGUP:
                self.hung_up = True
            # Nobody says two things at once: who begins anew breaks off what they were saying.
            if turn.participant in self._speaking:
                self._end(self._speaking[turn.participant], now)
            self.moments[turn.id, START] = now
            self._speaking[turn.participant] = Speaking(turn, self.audio.get(turn.id, np.zeros(0, np.int16)))
            begun.append(turn)
        self.begun += begun
        self._known = len(self.moments)  # nothing begins before another moment is known, or has come
        return begun

    def _moment(self, turn: Turn) -> float | None:
        if turn.start_at_ms is not None:
            return turn.start_at_ms
        if turn.after is not None:
            at = self.moments.get((turn.after.turn, turn.after.event))
            return None if at is None else at + turn.after.delay_ms
        before = self._before.get(turn.id)
        return 0.0 if before is None else self.moments.get((before.id, END))

    def frame(self, participant: str, now: float) -> tuple[bytes, Turn | None]:
        """20 ms of a participant: audio, and the turn it belongs to."""
        speaking = self._speaking.get(participant)
        if speaking is None:
            return self.silence, None
        piece = speaking.audio[speaking.place : speaking.place + self._frame]
        speaking.place += self._frame
        if speaking.place >= len(speaking.audio):
            self._end(speaking, now + 1000 * len(piece) / self.rate)
        pcm = piece.tobytes()
        return pcm + self.silence[len(pcm) :], speaking.turn if len(piece) else None

    def just_ended(self) -> list[Turn]:
        """The turns that have ended, or were broken off, since this was asked last."""
        if not self._ended:
            return []
        ended, self._ended = self._ended, []
        return ended

    def _end(self, speaking: Speaking, at: float) -> None:
        self.moments[speaking.turn.id, END] = at
        self.last_end = max(self.last_end, at)
        self._ended.append(speaking.turn)
        if self._speaking.get(speaking.turn.participant) is speaking:
            del self._speaking[speaking.turn.participant]
