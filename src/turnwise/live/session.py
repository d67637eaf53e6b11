"""One run of a scenario against a live system: speak, listen, keep everything, whatever the system does."""

from __future__ import annotations

import asyncio
import json
from binascii import b2a_base64
from collections import deque
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turnwise.audio.playout import Playout
from turnwise.kernel.extras import import_extra
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads
from turnwise.live.address import Address
from turnwise.live.answers import Answers
from turnwise.live.capture import Capture, Header
from turnwise.live.clock import FrameClock
from turnwise.live.messages import AUDIO, INVALID, MARK, SPEECH_STARTED, STOP, TEXT, TEXT_DELTA, Inbound
from turnwise.live.scenario import Scenario
from turnwise.live.transports.base import Transport
from turnwise.live.voices import Pcm, Voices
from turnwise.live.wire import IN, NOTE, OUT, Line, Sounds, WireLog

MOST_INVALID = 100
"""Messages that cannot be understood, after which a system is given up."""
FLOOD, FLOOD_MS = 20_000, 5_000
"""Messages within so many milliseconds that no voice system sends."""
PING_S = 5.0
"""How often the system is asked whether it is still there, and how long it may take to say so."""
LARGEST = 16 << 20
"""Bytes of one message."""


class Ended(Exception):
    """Why a scenario ended before its time."""


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
    phase_ms: float = 0.0
    """When the first frame is due: sessions that run side by side should not all send at the same moment."""
    _waiting: list[tuple[float, str | None, Inbound]] = field(default_factory=list)
    _begun: bool = False
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where the audio of each turn lies, in bytes."""

    async def run(self) -> Capture:
        """Play the scenario; the capture says in `reason` why it ended early, if it did."""
        import_extra("websockets.asyncio.client", "live", "calling a live system")  # before anything is written
        self.folder.mkdir(parents=True, exist_ok=True)
        sounds = Sounds(self.folder / "audio")
        log = WireLog(self.folder / "wire.jsonl")
        self.capture = Capture(self.header, self.transport, sounds.put)
        self._out_names = {name: self.capture.file("out", name) for name in self.header.participants}
        self._sounds, self._log = sounds, log
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._play()
        except TimeoutError:
            self._end(f"the scenario was not over after {self.timeout_s:g} s; {self._voices_say()}".rstrip("; "))
        except Ended as ended:
            self._end(str(ended))
        except OSError as error:
            self._end(f"the connection failed: {error.strerror or type(error).__name__}")
        except asyncio.CancelledError:
            self._end("interrupted")
            raise
        except Exception as error:  # whatever a system provokes costs its own call and no other
            self._end(f"internal error: {type(error).__name__}: {error}")
        finally:
            self._head()
            log.write(Line(NOTE, self.capture.ended_ms or 0.0, None, self._last_note()))
            log.close()
            sounds.close()
            self.capture.write(self.folder)
        return self.capture

    def _head(self) -> None:
        """The first line of the log: written when the clock starts, or when there was no call."""
        if not self._begun:
            self._begun = True
            self._log.write(Line(NOTE, 0.0, None, self.header.as_json()))

    def _last_note(self) -> dict[str, Any]:
        return {"ended": True, "reason": self.capture.reason, "clock": self.capture.clock}

    def _voices_say(self) -> str:
        return self.voices.waits_for() if hasattr(self, "voices") else "it was never connected"

    def _end(self, reason: str | None) -> None:
        self.capture.reason = None if reason is None else self.address.hushed(reason)
        self.capture.ended_ms = self.clock.now if hasattr(self, "clock") else 0.0
        self.capture.clock = self.clock.summary() if hasattr(self, "clock") else {}
        for turn in self.voices.begun if hasattr(self, "voices") else ():  # whoever was still speaking
            self._turn_over(turn.id, self.capture.ended_ms, self._place(turn, self._places))

    async def _play(self) -> None:
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

        self._closed = ConnectionClosed
        async with AsyncExitStack() as stack:
            self.sockets: dict[str | None, Any] = {}
            for name in self.capture.transports:
                try:
                    socket = connect(
                        self.address.url,
                        additional_headers=self.address.headers,
                        ssl=self.address.ssl,
                        max_size=LARGEST,
                        open_timeout=min(10.0, self.timeout_s),
                        close_timeout=1,
                        ping_interval=PING_S,
                        ping_timeout=PING_S,
                        compression=None,
                        proxy=None if self.address.is_loopback else True,
                    )
                    self.sockets[name] = await stack.enter_async_context(socket)
                except TimeoutError:
                    raise Ended("the system did not answer the call") from None
                except InvalidURI as error:
                    raise Ended(f"no address of a WebSocket: {error}") from error
                except InvalidHandshake as error:
                    raise Ended(f"the system refused the call: {error}") from error
            self.clock = FrameClock(asyncio.get_running_loop().time() + self.phase_ms / 1000)
            self.header.started = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._head()
            self.voices = Voices(self.scenario, self.audio, self.transport.out_rate)
            self.answers = Answers(self.voices.moments)
            for name, transport in self.capture.transports.items():
                await self._say(name, transport.hello())
            readers = [asyncio.create_task(self._listen(name)) for name in self.sockets]
            speaker = asyncio.create_task(self._speak())
            try:
                done, _ = await asyncio.wait([speaker, *readers], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
                if speaker not in done:
                    raise Ended("the system ended the call")
                self._end(None)
                for name, transport in self.capture.transports.items():
                    with suppress(Exception):
                        await self._say(name, transport.goodbye())
            finally:
                for task in (speaker, *readers):
                    task.cancel()
                await asyncio.gather(speaker, *readers, return_exceptions=True)

    # Speaking

    async def _speak(self) -> None:
        """A frame of every participant at every moment, until the tail of the scenario is over."""
        places = self._places
        async for _ in self.clock.frames():
            now = self.clock.now
            if self.voices.hung_up or (
                self.voices.done and now >= self.voices.last_end + self.scenario.tail_silence_ms
            ):
                return
            self.answers.settle(now, self.capture.playouts)
            for turn in self.voices.begin(now):
                self.capture.turn_started(turn.id, now)
                self._note(now, {"turn_started": turn.id})
                self.answers.asked(turn, now)
                if turn.type == "hangup":
                    self._turn_over(turn.id, now, None)
            for participant in self.header.participants:
                pcm, speaking, ended = self.voices.frame(participant, now)
                begin = await self._send_frame(participant, pcm, now, silent=speaking is None)
                if speaking is not None:
                    first, length = places.get(speaking.id, (begin, 0))
                    places[speaking.id] = first, length + len(pcm)
                for over in ended:
                    self._turn_over(over.id, self.voices.moments[over.id, "end"], self._place(over, places))
            for broken in [t for t in self.voices.ended if self.capture.turn(t.id).end_ms is None]:
                self._turn_over(broken.id, self.voices.moments[broken.id, "end"], self._place(broken, places))
            await self._tell_heard(now)

    def _place(self, turn: Any, places: Mapping[str, tuple[int, int]]) -> dict[str, Any] | None:
        if turn.id not in places:
            return None
        per_ms = 2 * self.transport.out_rate / 1000
        begin, length = places[turn.id]
        name = f"audio/{self._out_names[turn.participant]}"
        return {"file": name, "offset_ms": round(begin / per_ms, 3), "duration_ms": round(length / per_ms, 3)}

    def _turn_over(self, turn_id: str, at: float, place: dict[str, Any] | None) -> None:
        if self.capture.turn(turn_id).end_ms is None:
            self.capture.turn_ended(turn_id, at, place)
            self._note(at, {"turn_ended": turn_id, "audio": place})

    async def _send_frame(self, participant: str, pcm: bytes, now: float, *, silent: bool) -> int:
        name = None if self.transport.multiplexed else participant
        transport = self.capture.transports[name]
        text = transport.frame_text(participant, pcm, now, silent)
        await self._send(name, text)
        file = self._out_names[participant]
        begin = self._sounds.put(file, pcm, self.transport.out_rate)
        encoded = b2a_base64(transport.encoded(pcm), newline=False).decode("ascii")
        place = f'{{"$audio":{{"file":"audio/{file}","begin":{begin},"bytes":{len(pcm)}}}}}'
        self._log.write_text(OUT, now, name, text.replace(f'"{encoded}"', place, 1))
        return begin

    async def _say(self, name: str | None, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            text = json.dumps(message)
            await self._send(name, text)
            self._log.write_text(OUT, self.clock.now, name, text)

    async def _send(self, name: str | None, text: str) -> None:
        try:
            await self.sockets[name].send(text)
        except self._closed as closed:
            raise Ended(_closed(closed)) from closed

    def _note(self, now: float, note: dict[str, Any]) -> None:
        self._log.write(Line(NOTE, now, None, note))

    # Listening

    async def _listen(self, name: str | None) -> None:
        recent: deque[float] = deque(maxlen=FLOOD)
        invalid = 0
        socket = self.sockets[name]
        try:
            async for raw in socket:
                now = self.clock.now
                recent.append(now)
                if len(recent) == FLOOD and now - recent[0] < FLOOD_MS:
                    raise Ended(f"the system flooded the call: {FLOOD} messages in {(now - recent[0]) / 1000:.1f} s")
                said, kept = self.capture.received(now, name, _message(raw))
                self._log.write(Line(IN, now, name, kept))
                invalid += sum(one.kind == INVALID for one in said)
                if invalid > MOST_INVALID:
                    raise Ended(f"the system sends rubbish: {invalid} messages that cannot be understood")
                for one in said:
                    await self._react(name, one, now)
        except self._closed as closed:
            raise Ended(_closed(closed)) from closed
        if not self.voices.hung_up:
            raise Ended("the system ended the call")

    async def _react(self, name: str | None, one: Inbound, now: float) -> None:
        """What a caller's side does by itself: it stops playing, and says what was heard."""
        listener = one.participant or name or "all"
        playout = self.capture.playouts.get(listener, Playout())
        if one.kind == AUDIO and playout.chunks:
            earlier = [chunk for chunk in playout.chunks[-50:-1] if chunk.heard]
            self.answers.audio(playout.chunks[-1], earlier[-1] if earlier else None)
        elif one.kind in (TEXT_DELTA, TEXT):
            self.answers.text(one.response_id, now)
        elif one.kind == MARK:
            self._waiting.append((max(now, playout.free), name, one))
        if one.kind in (STOP, SPEECH_STARTED):
            cut = self.capture.cut
            if one.kind == SPEECH_STARTED and cut:
                heard = round(playout.heard_of(cut[0].response, now))
                answer = Inbound(STOP, response_id=cut[0].response, cut_ms=heard)
                await self._say(name, self.capture.transports[name].heard(listener, answer))
            if one.details.get("marks"):  # what the cut audio was marked with counts as heard
                self._waiting = [entry for entry in self._waiting if entry[1] != name]
                await self._say(name, self.capture.transports[name].heard(listener, one))

    async def _tell_heard(self, now: float) -> None:
        due = [entry for entry in self._waiting if entry[0] <= now]
        self._waiting = [entry for entry in self._waiting if entry[0] > now]
        for _, name, mark in due:
            await self._say(name, self.capture.transports[name].heard(name, mark))


def _message(raw: str | bytes) -> Any:
    try:
        message = loads(raw)
        dumps(message)  # what is nested too deeply to be kept is no message
        return message
    except (JSONDecodeError, ValueError, TypeError, RecursionError):
        return raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace")


def _closed(closed: Any) -> str:
    frame = closed.rcvd
    if frame is None and closed.sent is not None and "ping" in closed.sent.reason:
        return f"the system stalled: it did not answer for {PING_S:g} s"
    if frame is None:
        return "the connection broke off"
    return f"the system closed the connection ({frame.code}{f': {frame.reason}' if frame.reason else ''})"
