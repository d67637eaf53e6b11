"""Which answer belongs to which turn, as far as it can be told while the scenario runs.

Turns may wait for what the system does ("700 ms after the answer to the first turn is heard"). Where responses have
ids, a response that is new after a turn began answers the first turn that has no answer yet; without ids, sound after
a silence does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turnwise.audio.playout import Chunk, Playout
from turnwise.live.scenario import Turn
from turnwise.live.voices import FIRST_AUDIO, FIRST_TEXT, LAST_AUDIO, START

APART_MS = 300.0
"""Silence that separates two answers, where nothing else does."""
GIVEN_UP_MS = 10_000.0
"""So long after it began a turn is no longer expected to be answered, if another one is."""
OVER_MS = 600.0
"""So long after its last sound an answer is over."""


class Answers:
    """Fills in the moments at which answers were first and last heard."""

    def __init__(self, moments: dict[tuple[str, str], float], turns: Sequence[Turn]) -> None:
        self._moments = moments
        self._awaited = any(turn.after is not None and turn.after.event == LAST_AUDIO for turn in turns)
        self._asked: list[str] = []
        self._owner: dict[str, str] = {}
        """The turn that a response answers."""
        self._last: dict[str, Chunk] = {}
        """The last piece of the answer to a turn that is not over yet, so far."""
        self._current: str | None = None

    def asked(self, turn: Turn, now: float) -> None:
        """A turn that wants an answer has begun."""
        if turn.type in ("play_audio", "say"):
            self._asked.append(turn.id)

    def audio(self, chunk: Chunk, before: Chunk | None) -> None:
        """Audio that will be heard, after another piece or none."""
        turn = self._turn(chunk.response, chunk.arrived, before is None or chunk.start - before.end > APART_MS)
        if turn is not None:
            self._moments.setdefault((turn, FIRST_AUDIO), chunk.start)
            if self._awaited and (turn, LAST_AUDIO) not in self._moments:
                self._last[turn] = chunk

    def text(self, response: str | None, now: float) -> None:
        """Text that has arrived."""
        turn = self._turn(response, now, False, FIRST_TEXT)
        if turn is not None:
            self._moments.setdefault((turn, FIRST_TEXT), now)

    def settle(self, now: float, playouts: Mapping[str, Playout]) -> None:
        """Note the answers that are over, if any turn waits for that."""
        if not self._last or not all(playout.free + OVER_MS <= now for playout in playouts.values()):
            return
        for turn, last in list(self._last.items()):
            end = min(last.end, now) if last.cut else last.end
            if end + OVER_MS <= now:
                self._moments[turn, LAST_AUDIO] = end
                del self._last[turn]

    def _turn(self, response: str | None, now: float, anew: bool, event: str = FIRST_AUDIO) -> str | None:
        if response is not None and response in self._owner:
            return self._owner[response]
        open_turns = [turn for turn in self._asked if (turn, event) not in self._moments]
        begun = [turn for turn in open_turns if (turn, START) in self._moments]
        # A turn that has waited for too long will not be answered any more: what comes is for a later one.
        fresh = [turn for turn in begun if now - self._moments[turn, START] <= GIVEN_UP_MS]
        begun = fresh or begun[-1:]
        if response is None and self._current is not None and not anew and event == FIRST_AUDIO:
            return self._current
        if not begun:
            return self._current
        if response is not None:
            self._owner[response] = begun[0]
        self._current = begun[0]
        return begun[0]
