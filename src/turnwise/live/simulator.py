"""A live system on loopback with known faults at known times, to see what scores mean and to test against.

It hears an utterance by its energy, answers with a buzz and with words, and sends both faster than they can be heard,
as real services do. What it says comes from the expected texts of a scenario, where one is named.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from turnwise.kernel.extras import import_extra
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads
from turnwise.live.behaviours import Behaviour
from turnwise.live.connection import Connection, Ended, prompt
from turnwise.live.interpreter import Interpreter, Utterance
from turnwise.live.outbox import Outbox
from turnwise.live.scenario import load_scenarios
from turnwise.live.transports.base import Transport

DEFAULT_TEXTS = (
    "the first thing that was said goes here in other words",
    "this is what was said instead of it a moment later",
    "and here is the next thing to be heard",
)


@dataclass
class Simulator:
    """A WebSocket server that behaves as it is told."""

    transport: type[Transport]
    behaviour: Behaviour
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """What is answered, by scenario and participant, as the end of the address's path names them."""
    seed: int = 0
    connections: int = 0
    messages: int = 0
    """How many messages were sent."""

    async def serve(self, host: str, port: int) -> Any:
        """Begin to listen; the server object has the address, and ends as a context manager."""
        server = import_extra("websockets.asyncio.server", "live", "simulating a live system")
        return await server.serve(
            self._call,
            host,
            port,
            compression=None,
            max_size=16 << 20,
            ping_interval=None,
            create_connection=prompt(server.ServerConnection),
        )

    async def _call(self, socket: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        self.connections += 1
        chance = random.Random(f"{self.seed}/{self.connections}")  # noqa: S311  (faults that can be had again)
        scenario, who = self._named(socket.request.path)
        transport = self.transport([] if who is None else [who])
        line = _Line(self, socket, chance)
        interpreters: dict[str, Interpreter] = {}
        call: list[Utterance] = []

        def hear(raw: str | bytes) -> None:
            try:
                message = loads(raw)
            except (JSONDecodeError, ValueError):
                return
            for participant, pcm, silent in transport.system_read(message) if isinstance(message, dict) else ():
                if participant not in interpreters:
                    texts = self._texts(scenario, participant)
                    interpreters[participant] = Interpreter(
                        participant, self.behaviour, transport, line.send, texts, chance, call
                    )
                interpreters[participant].hear(pcm, silent)

        with suppress(ConnectionClosed):
            await line.send(transport.system_hello())
            socket.take = hear
            async for raw in socket:
                hear(raw)
        for interpreter in interpreters.values():
            for task in list(interpreter.tasks):
                task.cancel()

    def _named(self, path: str) -> tuple[str, str | None]:
        """The scenario, and the participant if one follows it, at the end of a path."""
        *_, before, last = ("", *(unquote(part) for part in path.partition("?")[0].split("/")))
        return (before, last) if last in self.texts.get(before, {}) else (last, None)

    def _texts(self, scenario: str, participant: str) -> Sequence[str]:
        """What somebody is answered; a protocol that does not name them gets everybody's texts."""
        known = self.texts.get(scenario, {})
        return known.get(participant) or [text for texts in known.values() for text in texts] or DEFAULT_TEXTS


@dataclass
class _Line:
    """One connection, and what a bad network does to it."""

    simulator: Simulator
    socket: Any
    chance: random.Random

    def __post_init__(self) -> None:
        self._connection = Connection(self.socket, Outbox())

    async def send(self, messages: list[dict[str, Any]]) -> None:
        faults = self.simulator.behaviour.faults
        for message in messages:
            if faults and self.chance.random() < faults:
                await self._misbehave()
            self._say(dumps(message))

    async def _misbehave(self) -> None:
        """One of the things that a bad network or a bad service does."""
        match self.chance.randrange(4):
            case 0:
                self._say('{"kind": "AudioData", "audioData": {"data": ')
            case 1:
                self._say("\x00 not json at all")
            case 2:
                await asyncio.sleep(self.chance.uniform(0.1, 0.4))
            case _ if self.chance.random() < 0.1:
                await self.socket.close(1011, "simulated failure")
            case _:
                self._say(dumps({"type": "error", "error": {"message": "simulated failure"}}))

    def _say(self, text: str) -> None:
        with suppress(Ended):  # who does not read, or has gone, gets no more
            self.simulator.messages += self._connection.send(text)


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
