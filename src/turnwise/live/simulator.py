"""A live system on loopback with known faults at known times, to see what scores mean and to test against.

It hears an utterance by its energy, answers with a buzz and with words, and sends both faster than they can be heard,
as real services do. What it says comes from the expected texts of a scenario, where one is named.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from turnwise.kernel.extras import import_extra
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.live.behaviours import Behaviour
from turnwise.live.scenario import load_scenarios
from turnwise.live.transports.base import Transport

LOUD = 10 ** (-45 / 20)
"""A frame from here on is speech."""
PAUSE_MS = 400.0
"""Silence that ends an utterance."""
CHUNK_MS = 100
FASTER = 10
"""Audio is sent so many times as fast as it is heard."""
DEFAULT_TEXTS = (
    "the first thing that was said goes here in other words",
    "this is what was said instead of it a moment later",
    "and here is the next thing to be heard",
)


@dataclass
class Utterance:
    """What one participant said, and what became of the answer."""

    speaker: Interpreter
    start: float
    text: str
    audible_from: float = 0.0
    audible_to: float = 0.0
    sent_ms: float = 0.0
    response_id: str = ""
    task: asyncio.Task[None] | None = None


@dataclass
class Interpreter:
    """The system's side of one participant in one connection."""

    participant: str
    behaviour: Behaviour
    transport: Transport
    send: Callable[[list[dict[str, Any]]], Any]
    texts: Sequence[str]
    chance: random.Random
    call: list[Utterance]
    """What everybody in the call has said: who speaks up interrupts whatever is being heard."""
    spoken: int = 0
    _quiet_since: float | None = None
    _speaking: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def hear(self, pcm: bytes) -> None:
        """A frame of the caller."""
        now = asyncio.get_running_loop().time()
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768
        loud = bool(len(samples)) and float(np.sqrt(np.mean(samples**2))) >= LOUD
        if loud and not self._speaking:
            self._speaking = True
            self._begin(now)
        if loud:
            self._quiet_since = None
        elif self._speaking:
            self._quiet_since = self._quiet_since or now
            if 1000 * (now - self._quiet_since) >= PAUSE_MS:
                self._speaking, self._quiet_since = False, None

    def _begin(self, now: float) -> None:
        behaviour = self.behaviour
        before = max(self.call, key=lambda said: said.audible_to, default=None)
        if before is not None and before.audible_to <= now:
            before = None  # it has been heard to its end
        text = self.texts[self.spoken % len(self.texts)]
        self.spoken += 1
        if before is not None and behaviour.mixes:
            words = zip_longest(before.text.split(), text.split())
            text = " ".join(word for word in chain.from_iterable(words) if word)
        said = Utterance(self, now, text, response_id=f"{self.participant}-{self.spoken}")
        self.call.append(said)
        respond = behaviour.response_ms
        if before is not None and behaviour.cutoff_ms is not None:
            self._start(before.speaker.cut(before, now + behaviour.cutoff_ms / 1000))
            # What is sent before the cut would be cut off with the rest.
            respond = max(respond, behaviour.cutoff_ms + 20)
        if behaviour.answers_interruptions or before is None:
            begin = now + respond / 1000
            same = before is not None and before.speaker is self and behaviour.cutoff_ms is None
            queued = before.audible_to if before is not None and same else 0.0
            said.audible_from = max(begin, queued)
            said.audible_to = said.audible_from + behaviour.answer_ms / 1000
            said.task = self._start(self._answer(said, begin, 0.0))

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _until(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))

    async def _answer(self, said: Utterance, begin: float, skip_ms: float) -> None:
        """Audio and words of an answer, from some place in it, faster than they are heard."""
        await self._until(begin)
        rate = self.transport.in_rate
        length = self.behaviour.answer_ms
        words = said.text.split()
        chunks = int(length // CHUNK_MS)
        spoken = int(len(words) * skip_ms / length)
        for n in range(int(skip_ms // CHUNK_MS), chunks):
            sent = n - int(skip_ms // CHUNK_MS)
            await self._until(begin + sent * CHUNK_MS / FASTER / 1000 + self._delay())
            pcm = buzz(rate, CHUNK_MS, n)
            await self.send(self.transport.system_audio(self.participant, pcm, said.response_id))
            said.sent_ms += CHUNK_MS
            due = round(len(words) * (n + 1) / chunks)
            for word in words[spoken:due]:
                at = 1000 * (asyncio.get_running_loop().time() - said.start)
                await self.send(self.transport.system_text(self.participant, f"{word} ", said.response_id, at))
            spoken = max(spoken, due)
        await self.send(self.transport.system_done(self.participant, said.response_id, said.text, cancelled=False))

    def _delay(self) -> float:
        faulty = self.behaviour.faults and self.chance.random() < self.behaviour.faults
        return self.chance.uniform(0.05, 0.3) if faulty else 0.0

    async def cut(self, before: Utterance, moment: float) -> None:
        """Throw away what of an answer has not been heard; some systems bring it back."""
        await self._until(moment)
        if before.task is not None:
            before.task.cancel()
        heard = max(0.0, min(moment, before.audible_to) - before.audible_from) * 1000
        left_from = before.audible_from
        before.audible_to = min(before.audible_to, moment)
        await self.send(self.transport.system_stop(self.participant, before.response_id, heard))
        if self.behaviour.resumes_ms is not None and left_from < moment:
            begin = moment + self.behaviour.resumes_ms / 1000
            await self._answer(before, begin, CHUNK_MS * (heard // CHUNK_MS))
        else:
            await self.send(self.transport.system_done(self.participant, before.response_id, before.text, True))


@cache
def buzz(rate: int, length_ms: int, number: int) -> bytes:
    """A piece of a voice-like sound as PCM16: harmonics of 140 Hz that swell and fade five times a second."""
    number %= 10
    at = (np.arange(rate * length_ms // 1000) + number * rate * length_ms // 1000) / rate
    tone = sum(np.sin(2 * np.pi * 140 * k * at) / k for k in range(1, 9))
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * 5 * at)
    pcm: bytes = (np.clip(0.2 * tone * swell, -1, 1) * 32767).astype("<i2").tobytes()
    return pcm


@dataclass
class Simulator:
    """A WebSocket server that behaves as it is told."""

    transport: type[Transport]
    behaviour: Behaviour
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """What is answered, by the last part of the address's path and by participant."""
    seed: int = 0
    connections: int = 0

    async def serve(self, host: str, port: int) -> Any:
        """Begin to listen; the server object has the address, and ends as a context manager."""
        serve = import_extra("websockets.asyncio.server", "live", "simulating a live system").serve
        return await serve(self._call, host, port, compression=None, max_size=16 << 20, ping_interval=None)

    async def _call(self, socket: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        self.connections += 1
        chance = random.Random(f"{self.seed}/{self.connections}")  # noqa: S311  (faults that can be had again)
        transport = self.transport([])
        name = unquote(socket.request.path.partition("?")[0].rpartition("/")[2])
        interpreters: dict[str, Interpreter] = {}
        call: list[Utterance] = []

        async def send(messages: list[dict[str, Any]]) -> None:
            for message in messages:
                if self.behaviour.faults and chance.random() < self.behaviour.faults:
                    await self._misbehave(socket, chance)
                await socket.send(json.dumps(message))

        with suppress(ConnectionClosed):
            await send(transport.system_hello())
            async for raw in socket:
                try:
                    message = loads(raw)
                except (JSONDecodeError, ValueError):
                    continue
                for participant, pcm in transport.system_read(message) if isinstance(message, dict) else ():
                    if participant not in interpreters:
                        interpreters[participant] = Interpreter(
                            participant, self.behaviour, transport, send, self._texts(name, participant), chance, call
                        )
                    interpreters[participant].hear(pcm)
        for interpreter in interpreters.values():
            for task in list(interpreter.tasks):
                task.cancel()

    def _texts(self, scenario: str, participant: str) -> Sequence[str]:
        """What somebody is answered; a protocol that does not name them gets everybody's texts."""
        known = self.texts.get(scenario, {})
        return known.get(participant) or [text for texts in known.values() for text in texts] or DEFAULT_TEXTS

    async def _misbehave(self, socket: Any, chance: random.Random) -> None:
        """One of the things that a bad network or a bad service does."""
        match chance.randrange(4):
            case 0:
                await socket.send('{"kind": "AudioData", "audioData": {"data": ')
            case 1:
                await socket.send("\x00 not json at all")
            case 2:
                await asyncio.sleep(chance.uniform(0.1, 0.4))
            case _ if chance.random() < 0.1:
                await socket.close(1011, "simulated failure")
            case _:
                await socket.send(json.dumps({"type": "error", "error": {"message": "simulated failure"}}))


def texts_of(paths: Sequence[Path]) -> dict[str, dict[str, list[str]]]:
    """The expected texts of scenarios, by scenario and participant, in the order of the turns."""
    found: dict[str, dict[str, list[str]]] = {}
    for scenario in load_scenarios(list(paths)) if paths else ():
        own = found.setdefault(scenario.id, {})
        for turn in scenario.turns:
            if turn.speaks:
                text = turn.expected_text or turn.source_text or turn.text or turn.id
                own.setdefault(turn.participant, []).append(text)
    return found
