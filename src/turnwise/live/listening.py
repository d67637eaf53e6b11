"""The caller's ear: every message of the system, kept, and answered as a caller's side does by itself."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import Any

from turnwise.audio.playout import Playout
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads
from turnwise.live.call import Call
from turnwise.live.connection import Ended
from turnwise.live.inbox import Inbox
from turnwise.live.messages import AUDIO, INVALID, MARK, SPEECH_STARTED, STOP, TEXT, TEXT_DELTA, Inbound
from turnwise.live.wire import IN, Line

MOST_INVALID = 100
"""Messages that cannot be understood, after which a system is given up."""
FLOOD, FLOOD_MS = 20_000, 5_000
"""Messages within so many milliseconds that no voice system sends."""
MOST_WAITING = 64 << 20
"""Bytes that may wait to be read: a system that sends more than can be read floods the call, too."""
SHALLOW = 100
"""With fewer opening brackets than this, nothing is nested too deeply."""


class Listener:
    """Reads the connections of a call; `over` is done with the reason when the system ends it."""

    def __init__(self, call: Call, inbox: Inbox) -> None:
        self._call, self._inbox = call, inbox
        self._waiting: deque[tuple[float, str | None, str | bytes]] = deque()
        self._recent: deque[float] = deque(maxlen=FLOOD)
        self._invalid = self._bytes = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._follow(name)) for name in call.connections]

    async def stop(self) -> None:
        """Read what has arrived, and no more."""
        for connection in self._call.connections.values():
            connection.take(None)
        self.read_all()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.over.cancel()

    async def _follow(self, name: str | None) -> None:
        """One connection to its end."""
        connection = self._call.connections[name]
        connection.take(partial(self._take, name))
        try:
            async for raw in connection.messages():
                self._take(name, raw)
        except Exception as error:  # how it ends, or what is wrong with it
            self.read_all()
            self._fail(error)

    def _take(self, name: str | None, raw: str | bytes) -> None:
        """Note when a message arrived."""
        if self.over.done():
            return
        now = self._call.clock.now
        self._recent.append(now)
        if len(self._recent) == FLOOD and now - self._recent[0] < FLOOD_MS:
            seconds = (now - self._recent[0]) / 1000
            self._fail(Ended(f"the system flooded the call: {FLOOD} messages in {seconds:.1f} s"))
        self._bytes += len(raw)
        if self._bytes > MOST_WAITING:
            self._fail(Ended(f"the system flooded the call: more than {MOST_WAITING >> 20} MB wait to be read"))
        self._waiting.append((now, name, raw))
        if len(self._waiting) == 1:
            self._inbox.wake(self)

    def read_one(self) -> bool:
        """Read a message that has arrived; whether there are more."""
        if self._waiting:
            try:
                self._read(*self._waiting.popleft())
            except Exception as error:  # it ends this call, and no other
                self._fail(error)
        return bool(self._waiting)

    def read_all(self) -> None:
        """Read everything that has arrived."""
        while self.read_one():
            pass

    def _fail(self, error: Exception) -> None:
        if not self.over.done():
            self.over.set_exception(error)

    def _read(self, now: float, name: str | None, raw: str | bytes) -> None:
        call = self._call
        self._bytes -= len(raw)
        said, kept = call.capture.received(now, name, read_message(raw))
        call.log.write(Line(IN, now, name, kept))
        for one in said:
            self._invalid += one.kind == INVALID
            self._react(name, one, now)
        if self._invalid > MOST_INVALID:
            raise Ended(f"the system sends rubbish: {self._invalid} messages that cannot be understood")

    def _react(self, name: str | None, one: Inbound, now: float) -> None:
        """What a caller's side does by itself: it stops playing, and says what was heard."""
        call = self._call
        listener = one.participant or name or "all"
        playout = call.capture.playouts.get(listener) or Playout()
        if one.kind == AUDIO and playout.chunks:
            earlier = (chunk for chunk in reversed(playout.chunks[-50:-1]) if chunk.heard)
            call.answers.audio(playout.chunks[-1], next(earlier, None))
        elif one.kind in (TEXT_DELTA, TEXT):
            call.answers.text(one.response_id, now)
        elif one.kind == MARK:
            call.marks.append((max(now, playout.free), name, one))
        elif one.kind in (STOP, SPEECH_STARTED):
            self._stopped(name, one, listener, playout, now)

    def _stopped(self, name: str | None, one: Inbound, listener: str, playout: Playout, now: float) -> None:
        call = self._call
        transport = call.capture.transports[name]
        if one.kind == SPEECH_STARTED and (cut := call.capture.cut):
            heard = round(playout.heard_of(cut[0].response, now))
            call.say(name, transport.heard(listener, Inbound(STOP, response_id=cut[0].response, cut_ms=heard)))
        if one.details.get("marks"):  # what the cut audio was marked with counts as heard
            call.marks = [entry for entry in call.marks if entry[1] != name]
            call.say(name, transport.heard(listener, one))


def read_message(raw: str | bytes) -> Any:
    """A message as JSON; as text if it is none, or is nested too deeply to be kept."""
    try:
        message = loads(raw)
        if _brackets(raw) >= SHALLOW:
            dumps(message)
        return message
    except (JSONDecodeError, ValueError, TypeError, RecursionError):
        return raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace")


def _brackets(raw: str | bytes) -> int:
    return raw.count(b"{") + raw.count(b"[") if isinstance(raw, bytes) else raw.count("{") + raw.count("[")
