"""One run of a scenario against a live system: speak, listen, keep everything, whatever the system does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turnwise.kernel.extras import import_extra
from turnwise.live.address import Address
from turnwise.live.call import Call
from turnwise.live.capture import Capture, Header
from turnwise.live.clock import FrameClock, Metronome
from turnwise.live.connection import Connection, Ended, connect_to
from turnwise.live.inbox import Inbox
from turnwise.live.listening import Listener
from turnwise.live.masked import MaskedFrames
from turnwise.live.outbox import Outbox
from turnwise.live.scenario import Scenario
from turnwise.live.speaking import Speaker
from turnwise.live.transports.base import Transport
from turnwise.live.voices import Pcm, Voices
from turnwise.live.wire import NOTE, Line, Sounds, WireLog


class Office:
    """What the sessions of a process share: when it is whose turn to send, and to read."""

    def __init__(self) -> None:
        self.outbox, self.masked = Outbox(), MaskedFrames()
        self.metronome = Metronome(self.outbox)
        self.inbox = Inbox(self.metronome)


@dataclass
class Session:
    """A scenario, its audio, and where to and how it is played."""

    scenario: Scenario
    audio: Mapping[str, Pcm]
    """Of each turn, at the rate of the transport."""
    transport: type[Transport]
    address: Address
    folder: Path
    header: Header
    timeout_s: float
    office: Office
    place: int = 0
    """Among the sessions that run side by side: they should not all send at the same moment."""
    _begun: bool = False
    _call: Call | None = None

    async def run(self) -> Capture:
        """Play the scenario; the capture says in `reason` why it ended early, if it did."""
        import_extra("websockets.asyncio.client", "live", "calling a live system")  # before anything is written
        self._sounds = Sounds(self.folder / "audio")
        self._log = WireLog(self.folder / "wire.jsonl", self._sounds)
        self.capture = Capture(self.header, self.transport, self._sounds.put)
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._play()
        except TimeoutError:
            waits = self._call.voices.waits_for() if self._call else "it was never connected"
            self._end(f"the scenario was not over after {self.timeout_s:g} s; {waits}".rstrip("; "))
        except Ended as ended:
            self._end(str(ended))
        except OSError as error:  # those of the connection are reasons already
            self._end(_unwritten(error))
        except asyncio.CancelledError:
            self._end("interrupted")
            raise
        except Exception as error:  # whatever a system provokes costs its own call and no other
            self._end(f"internal error: {type(error).__name__}: {error}")
        finally:
            self._finish()
        return self.capture

    async def _play(self) -> None:
        async with AsyncExitStack() as stack:
            connections = {name: await self._connected(name, stack) for name in self.capture.transports}
            call = self._call = self._started(connections, await self.office.metronome.beginning(self.place))
            for name, transport in self.capture.transports.items():
                call.say(name, transport.hello())
            speaker = self.office.metronome.keep(call.clock.start, Speaker(call, self.scenario.tail_silence_ms).frame)
            listener = Listener(call, self.office.inbox)
            try:
                done, _ = await asyncio.wait([speaker, listener.over], return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    one.result()
                listener.read_all()
                self._end(None)
                for name, transport in self.capture.transports.items():
                    with suppress(Ended):  # whoever has gone already
                        call.say(name, transport.goodbye())
            finally:
                speaker.cancel()
                await listener.stop()

    async def _connected(self, name: str | None, stack: AsyncExitStack) -> Connection:
        address, office = self.address.for_participant(name), self.office
        return await connect_to(address, self.timeout_s, office.outbox, office.masked, stack)

    def _started(self, connections: Mapping[str | None, Connection], moment: float) -> Call:
        """Everybody is on the line: the scenario's clock shows 0."""
        clock, now = FrameClock(moment), datetime.now(UTC)
        self.header.started = now.isoformat(timespec="milliseconds")
        self._head()
        for transport in self.capture.transports.values():
            transport.begins(now)
        voices = Voices(self.scenario, self.audio, self.transport.out_rate)
        return Call(self.capture, self._log, self._sounds, clock, voices, connections)

    def _head(self) -> None:
        """The first line of the log: written when the clock starts, or when there was no call."""
        if not self._begun:
            self._begun = True
            self._log.write(Line(NOTE, 0.0, None, self.header.as_json()))

    def _end(self, reason: str | None) -> None:
        """The call is over, for this reason or as it should be."""
        capture, call = self.capture, self._call
        capture.reason = None if reason is None else self.address.hushed(reason)
        capture.ended_ms = call.clock.now if call else 0.0
        capture.clock = call.clock.summary() if call else {}
        capture.lateness = call.clock.lateness if call else []
        if call:
            with suppress(OSError):  # a full disk has been named, or will be
                call.all_over(capture.ended_ms)

    def _finish(self) -> None:
        """Write what is left to write; what cannot be written is the reason, unless there is one."""
        last = {"ended": True, "reason": self.capture.reason, "clock": self.capture.clock}
        steps: list[Callable[[], Any]] = [
            self._head,
            lambda: self._log.write(Line(NOTE, self.capture.ended_ms or 0.0, None, last)),
            self._log.close,
            self._sounds.close,
            lambda: self.capture.write(self.folder),
        ]
        for step in steps:
            try:
                step()
            except OSError as error:
                self.capture.reason = self.capture.reason or _unwritten(error)


def _unwritten(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"the capture could not be written: {error.strerror or type(error).__name__}{where}"
