"""The simulated interpreter of one speaker: what it hears, when it answers, and what becomes of an interrupted answer.

Every moment at which something is to be heard is known here: an answer begins so long after the first sound of what it
answers, and is cut off so long after the first sound of what interrupts it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from turnwise.live.behaviours import Behaviour
from turnwise.live.pieces import mixed, pieces_of
from turnwise.live.transports.base import Transport

LOUD = 10 ** (-45 / 20)
"""A frame from here on is speech."""
PAUSE_MS = 400.0
"""Silence that ends an utterance."""
LONGEST_PAUSE_MS = 1500.0
"""The same where the caller says that somebody is speaking all the while."""
CHUNK_MS = 200
FASTER = 5
"""Audio is sent so many times as fast as it is heard."""
PIECE_MS = 300.0
"""A word takes at least so long to be spoken."""
WAIT_S = 0.02
_LOUD_SQUARE = (LOUD * 32768) ** 2


@dataclass(eq=False)
class Utterance:
    """What one participant said, and what becomes of the answer; moments are seconds of the event loop."""

    speaker: Interpreter
    start: float
    pieces: list[str]
    """What the answer says, word by word."""
    own: list[str]
    """The same without what is mixed into it."""
    response_id: str
    spoken_ms: float = 0.0
    over: bool = False
    """Whether the speaker has paused."""
    answered: bool = False
    audible_from: float = 0.0
    from_ms: int = 0
    """The place in the answer that is heard at `audible_from`: not its beginning, where it was paused."""
    least_ms: int = 0
    sent_ms: int = 0
    cut_at: float | None = None
    ends_at: float | None = None
    """When the answer is over for good, if that is not when all of it was heard."""
    completed: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def length_ms(self) -> int:
        """How long the answer is: some time longer than what was said, as far as that is known."""
        behaviour = self.speaker.behaviour
        longer = 0.0 if behaviour.longer_ms is None else self.spoken_ms + behaviour.longer_ms
        return round(max(behaviour.answer_ms, longer, self.least_ms))

    @property
    def audible_to(self) -> float:
        """When the last of the answer is heard."""
        if self.ends_at is not None or not self.answered:
            return self.ends_at or 0.0
        return self.audible_from + (self.length_ms - self.from_ms) / 1000

    @property
    def all_sent(self) -> bool:
        """Whether the speaker has paused and nothing of the answer is left to be sent."""
        known = self.over or self.speaker.behaviour.longer_ms is None
        return known and self.sent_ms >= self.length_ms

    def place(self, moment: float) -> int:
        """The milliseconds of the answer that have been heard at a moment."""
        return round(self.from_ms + 1000 * max(0.0, moment - self.audible_from))


@dataclass
class Interpreter:
    """The system's side of one participant in one connection."""

    participant: str
    behaviour: Behaviour
    transport: Transport
    send: Callable[[list[dict[str, Any]]], Coroutine[Any, Any, None]]
    texts: Sequence[str]
    chance: random.Random
    call: list[Utterance]
    """What everybody in the call has said: who speaks up interrupts whatever is being heard."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _spoken: int = 0
    _quiet_ms: float = 0.0
    _hears: Utterance | None = None

    def hear(self, pcm: bytes, silent: bool | None) -> None:
        """A frame of the caller, who may say whether anybody speaks."""
        length_ms = 500 * len(pcm) / self.transport.out_rate
        if not silent and is_loud(pcm, self.transport.silence):
            if self._hears is None:
                self._hears = self._begin(asyncio.get_running_loop().time())
            self._hears.spoken_ms += self._quiet_ms + length_ms
            self._quiet_ms = 0.0
        elif self._hears is not None:
            self._quiet_ms += length_ms
            if self._quiet_ms >= (LONGEST_PAUSE_MS if silent is False else PAUSE_MS):
                self._hears.over, self._hears, self._quiet_ms = True, None, 0.0

    def _begin(self, now: float) -> Utterance:
        behaviour = self.behaviour
        heard = [said for said in self.call if said.audible_to > now]
        before = max(heard, key=lambda said: said.audible_to, default=None)
        own = pieces_of(self.texts[self._spoken % len(self.texts)])
        pieces = mixed(own, before.own) if before is not None and behaviour.mixes else own
        self._spoken += 1
        said = Utterance(self, now, pieces, own, f"{self.participant}-{self._spoken}")
        respond_ms = behaviour.response_ms
        if heard and behaviour.cutoff_ms is not None:
            # What is sent before the cut would be cut off with the rest.
            respond_ms = max(respond_ms, behaviour.cutoff_ms + 20)
            for other in heard:
                other.speaker.interrupt(other, now + behaviour.cutoff_ms / 1000)
        self.call.append(said)
        if behaviour.answers_interruptions or before is None:
            begin = now + respond_ms / 1000
            first = [one for one in heard if one.speaker is self and one.audible_to > begin]
            said.audible_from = max([begin, *(one.audible_to for one in first)])
            said.answered = True
            said.task = self._start(self._answer(said, begin, first))
        return said

    def interrupt(self, said: Utterance, moment: float) -> None:
        """Cut an answer off at a moment, until which it goes on; some systems say the rest of it after all."""
        if said.cut_at is not None:
            return
        said.cut_at = moment
        place = said.place(moment)
        if place > said.length_ms:  # it has not enough to say: a system that does not stop goes on
            said.least_ms = place
            if said.completed:
                said.task = self._start(self._more(said))
        if place > said.from_ms and self.behaviour.resumes_ms is not None:
            again = moment + self.behaviour.resumes_ms / 1000
            said.ends_at = again + (said.length_ms - place) / 1000
            self._start(self._cut(said, moment, again))
        else:
            said.ends_at = moment
            self._start(self._cut(said, moment, None))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _until(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))

    async def _answer(self, said: Utterance, begin: float, first: Sequence[Utterance]) -> None:
        """Audio and words of an answer, from some place in it, faster than they are heard."""
        await self._until(begin)
        while any(one.audible_to > begin and not one.completed for one in first):  # nobody hears two at once
            await asyncio.sleep(WAIT_S)
        said.sent_ms = said.from_ms
        each_ms = max(PIECE_MS, self.behaviour.answer_ms / max(1, len(said.pieces)))
        told = int(said.from_ms / each_ms)
        began = asyncio.get_running_loop().time()
        while not said.all_sent:
            await self._until(began + (said.sent_ms - said.from_ms) / FASTER / 1000 + self._delay())
            if not await self._send_audio(said):
                await asyncio.sleep(WAIT_S)  # who is still speaking will have more to say
            due = len(said.pieces) if said.all_sent else int(said.sent_ms / each_ms)
            for piece in said.pieces[told:due]:
                at = 1000 * (asyncio.get_running_loop().time() - said.start)
                await self.send(self.transport.system_text(self.participant, piece, said.response_id, at))
            told = max(told, due)
        await self._done(said, cancelled=False)

    async def _more(self, said: Utterance) -> None:
        """The audio of an answer that has become longer."""
        while await self._send_audio(said):
            pass

    async def _send_audio(self, said: Utterance) -> bool:
        """The next piece; False if there is not enough for one."""
        left = said.length_ms - said.sent_ms
        if left <= 0 or (left < CHUNK_MS and not said.over and self.behaviour.longer_ms is not None):
            return False
        length_ms, rate = min(CHUNK_MS, left), self.transport.in_rate
        pcm = buzz(rate, CHUNK_MS, said.sent_ms // CHUNK_MS)[: 2 * (rate * length_ms // 1000)]
        said.sent_ms += length_ms
        await self.send(self.transport.system_audio(self.participant, pcm, said.response_id))
        return True

    async def _done(self, said: Utterance, *, cancelled: bool) -> None:
        said.completed = True
        text = "".join(said.pieces)
        await self.send(self.transport.system_done(self.participant, said.response_id, text, cancelled))

    def _delay(self) -> float:
        faulty = self.behaviour.faults and self.chance.random() < self.behaviour.faults
        return self.chance.uniform(0.05, 0.3) if faulty else 0.0

    async def _cut(self, said: Utterance, moment: float, again: float | None) -> None:
        """Throw away what of an answer has not been heard; say it later, if it is to be said again."""
        await self._until(moment)
        if said.task is not None:
            said.task.cancel()
        place = min(said.place(moment), said.length_ms)
        await self.send(self.transport.system_stop(self.participant, said.response_id, place))
        if again is not None:
            said.from_ms, said.audible_from = place, again
            said.cut_at, said.ends_at, said.completed = None, None, False
            said.task = self._start(self._answer(said, again, ()))
        elif not said.completed:
            await self._done(said, cancelled=True)


def is_loud(pcm: bytes, silence: bytes) -> bool:
    """Whether the root mean square of a frame reaches -45 dB of full scale."""
    if pcm == silence or not pcm:
        return False
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32)
    return float(samples @ samples) >= _LOUD_SQUARE * len(samples)


@cache
def buzz(rate: int, length_ms: int, number: int) -> bytes:
    """A piece of a voice-like sound as PCM16: harmonics of 140 Hz that swell and fade five times a second."""
    number %= 10
    at = (np.arange(rate * length_ms // 1000) + number * rate * length_ms // 1000) / rate
    tone = sum(np.sin(2 * np.pi * 140 * k * at) / k for k in range(1, 9))
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * 5 * at)
    pcm: bytes = (np.clip(0.2 * tone * swell, -1, 1) * 32767).astype("<i2").tobytes()
    return pcm
