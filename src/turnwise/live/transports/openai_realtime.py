"""The OpenAI Realtime API over a WebSocket, in the names of its general release and of its beta.

A connection is one participant's. The API sends audio faster than it is heard and leaves the playing to its client, so
that this side keeps how long each item is: only then can a cut be reported as the API wants it (`heard`). The events
of translation sessions are read, too; what such a session wants to be sent differs and is not made here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from turnwise.live.messages import (
    AUDIO,
    CONTROL,
    INVALID,
    RESPONSE_DONE,
    STOP,
    Inbound,
)
from turnwise.live.transports.base import BrokenAudio, Heard, Json, Transport, pcm_bytes, plausible_rate
from turnwise.live.transports.openai_events import (
    AUDIO_EVENTS,
    KINDS,
    TEXT_EVENTS,
    TRUNCATED,
    content_index,
    kept_event,
    place_of,
    text_of,
    truncation,
)

RATE_HZ = 24_000
_BYTES_PER_MS = RATE_HZ * 2 // 1000
ITEMS_REMEMBERED = 256
"""Items whose length is kept; a server that floods must not fill the memory."""


@dataclass(slots=True)
class _Item:
    """What has arrived of one item of a response."""

    response_id: str | None
    content_index: int = 0
    ms: float = 0.0
    cut: bool = False


class OpenAIRealtime(Transport):
    """One session; `beta` speaks the names from before the general release (header `OpenAI-Beta: realtime=v1`)."""

    name = "openai-realtime"
    out_rate = RATE_HZ
    in_rate = RATE_HZ
    multiplexed = False
    audio_fields = (("audio",), ("delta",))

    def __init__(self, participants: Sequence[str], *, beta: bool = False) -> None:
        super().__init__(participants)
        self.beta = beta
        self._part = "audio" if beta else "output_audio"
        self._participant = self.participants[0] if self.participants else None
        self._items: dict[str, _Item] = {}
        self._opened: set[str] = set()
        self._events = 0

    # The caller's half

    def hello(self) -> list[Json]:
        """PCM16 at 24 kHz both ways, and the server decides when the caller speaks: a caller has no button."""
        turns = {"type": "server_vad", "create_response": True, "interrupt_response": True}
        session: Json
        if self.beta:
            session = {
                "modalities": ["text", "audio"],
                "input_audio_format": "pcm16",
                "output_audio_format": "pcm16",
                "turn_detection": turns,
            }
        else:
            pcm = {"type": "audio/pcm", "rate": RATE_HZ}
            audio = {"input": {"format": pcm, "turn_detection": turns}, "output": {"format": pcm}}
            session = {"type": "realtime", "output_modalities": ["audio"], "audio": audio}
        return [{"type": "session.update", "session": session}]

    def frame(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> Json:
        """20 ms of audio; the API wants neither a time nor a name."""
        return {"type": "input_audio_buffer.append", "audio": self.base64(pcm)}

    def frame_parts(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> tuple[str, str, str]:
        """The frame as JSON text, character for character what `json.dumps` writes, at a fraction of the time."""
        return '{"type": "input_audio_buffer.append", "audio": "', self.base64(pcm), '"}'

    def read(self, message: Json) -> list[Inbound]:
        """What a server event says."""
        if not isinstance(message, dict):
            return [Inbound(INVALID, self._participant, problem="not an object")]
        event = message.get("type")
        if not isinstance(event, str):
            return [self._invalid("no type", message)]
        if event in AUDIO_EVENTS:
            return [self._read_audio(message)]
        if event in TEXT_EVENTS:
            return [self._read_text(*TEXT_EVENTS[event], message)]
        if event == "response.done":
            return [self._read_done(message)]
        if event == TRUNCATED:
            return [self._read_truncated(message)]
        about = self._response_of(message)
        return [Inbound(KINDS.get(event, CONTROL), self._participant, None, about, details=self.kept(message))]

    def heard(self, participant: str | None, inbound: Inbound) -> list[Json]:
        """`conversation.item.truncate` for what a cut (`cut_ms` of the response heard) left unheard, once per item.

        Any inbound with `cut_ms` tells a cut, except the server's own `conversation.item.truncated`. Without it the
        audio was heard to the end, which the API does not want to know.
        """
        if inbound.cut_ms is None or inbound.details.get("type") == TRUNCATED:
            return []
        left = float(max(0, inbound.cut_ms))
        named = text_of(inbound.details, "item_id") if inbound.kind == AUDIO else None
        if named and named not in self._items:
            return [truncation(named, content_index(inbound.details), left)]
        response_id = inbound.response_id or (self._items[named].response_id if named else self._latest())
        cuts = []
        for item_id, item in self._items.items():
            if item.response_id != response_id:
                continue
            if left < item.ms and not item.cut:
                item.cut = True
                cuts.append(truncation(item_id, item.content_index, left))
            left = max(0.0, left - item.ms)
        return cuts

    def rate_of(self, inbound: Inbound) -> int:
        """Hz of the audio read; a translation session may name its own."""
        return int(inbound.details.get("sample_rate", self.in_rate))

    def kept(self, message: Json) -> Json:
        """A message as it may be kept: without its audio and without keys to the session."""
        return kept_event(message)

    # The system's half

    def system_hello(self) -> list[Json]:
        """The session as the server opens it."""
        return [self._event("session.created", session={"object": "realtime.session", "type": "realtime"})]

    def system_read(self, message: Json) -> list[Heard]:
        """Audio of an `input_audio_buffer.append`; none when it is something else, or broken."""
        if not isinstance(message, dict) or message.get("type") != "input_audio_buffer.append":
            return []
        if message.get("audio") == self.silence_text:
            return [Heard(self._participant or "caller", self.silence)]
        try:
            pcm = pcm_bytes(message, "audio", "audio")
        except BrokenAudio:
            return []
        return [Heard(self._participant or "caller", pcm)] if pcm else []

    def system_audio(self, participant: str, pcm: bytes, response_id: str) -> list[Json]:
        """A piece of a response's audio."""
        event = self._event(f"response.{self._part}.delta", **place_of(response_id), delta=self.base64(pcm))
        return [*self._opening(response_id), event]

    def system_text(self, participant: str, delta: str, response_id: str, at_ms: float) -> list[Json]:
        """A piece of what that audio says."""
        event = self._event(f"response.{self._part}_transcript.delta", **place_of(response_id), delta=delta)
        return [*self._opening(response_id), event]

    def system_stop(self, participant: str, response_id: str, heard_ms: float) -> list[Json]:
        """The server hears the caller, which stops a client's playing, and confirms where the item ends now."""
        cut = {"item_id": f"item_{response_id}", "content_index": 0, "audio_end_ms": round(heard_ms)}
        return [
            self._event("input_audio_buffer.speech_started", audio_start_ms=0, item_id="item_caller"),
            self._event(TRUNCATED, **cut),
        ]

    def system_done(self, participant: str, response_id: str, text: str, cancelled: bool) -> list[Json]:
        """The whole text, and the end of the response with its status."""
        place = place_of(response_id)
        item = {"id": place["item_id"], "type": "message", "role": "assistant"}
        response = {
            "id": response_id,
            "status": "cancelled" if cancelled else "completed",
            "output": [{**item, "content": [{"type": self._part, "transcript": text}]}],
        }
        return [
            *self._opening(response_id),
            self._event(f"response.{self._part}.done", **place),
            self._event(f"response.{self._part}_transcript.done", **place, transcript=text),
            self._event("response.done", response=response),
        ]

    def _opening(self, response_id: str) -> list[Json]:
        if response_id in self._opened:
            return []
        self._opened.add(response_id)
        item = {"id": f"item_{response_id}", "type": "message", "role": "assistant", "content": []}
        return [
            self._event("response.created", response={"id": response_id, "status": "in_progress", "output": []}),
            self._event("response.output_item.added", response_id=response_id, output_index=0, item=item),
        ]

    def _event(self, event: str, **fields: Any) -> Json:
        self._events += 1
        return {"type": event, "event_id": f"event_{self._events}", **fields}

    # Reading

    def _read_audio(self, message: Json) -> Inbound:
        try:
            pcm = pcm_bytes(message, "delta", "delta")
        except BrokenAudio as broken:
            return self._invalid(str(broken), message)
        response_id, item_id = text_of(message, "response_id"), text_of(message, "item_id")
        details: Json = {"content_index": content_index(message)}
        rate = message.get("sample_rate")
        if plausible_rate(rate):
            details["sample_rate"] = rate
        if item_id:
            details["item_id"] = item_id
            item = self._item(item_id, response_id)
            item.content_index = details["content_index"]
            item.ms += len(pcm) / _BYTES_PER_MS
        # A message without a sample is kept, but must not count as the first sound of an answer.
        return Inbound(AUDIO if pcm else CONTROL, self._participant, None, response_id, audio=pcm, details=details)

    def _read_text(self, kind: str, field: str, message: Json) -> Inbound:
        text = message.get(field)
        if not isinstance(text, str):
            return self._invalid(f"{field} is missing", message)
        details: Json = {key: message[key] for key in ("item_id", "content_index", "elapsed_ms") if key in message}
        if kind == CONTROL:
            details["type"] = message["type"]
        return Inbound(kind, self._participant, None, text_of(message, "response_id"), text, details=details)

    def _read_done(self, message: Json) -> Inbound:
        response = message.get("response")
        if not isinstance(response, dict):
            return self._invalid("response is missing", message)
        about, status = text_of(response, "id"), text_of(response, "status")
        return Inbound(RESPONSE_DONE, self._participant, None, about, status=status, details=self.kept(message))

    def _read_truncated(self, message: Json) -> Inbound:
        end_ms = message.get("audio_end_ms")
        if isinstance(end_ms, bool) or not isinstance(end_ms, int | float) or not math.isfinite(end_ms):
            return self._invalid("audio_end_ms is missing", message)
        about, before = None, 0.0
        item = self._items.get(text_of(message, "item_id") or "")
        if item is not None:
            item.cut = True
            about = item.response_id
            # The event counts from the start of the item, a cut from the start of the response.
            own = takewhile(lambda each: each is not item, self._items.values())
            before = sum(each.ms for each in own if each.response_id == about)
        cut_ms = max(0, round(end_ms + before))
        return Inbound(STOP, self._participant, None, about, cut_ms=cut_ms, details=self.kept(message))

    def _response_of(self, message: Json) -> str | None:
        """The response a control event is about; one that announces an item says where the item belongs."""
        response, item = message.get("response"), message.get("item")
        about = text_of(message, "response_id") or (text_of(response, "id") if isinstance(response, dict) else None)
        item_id = text_of(item, "id") if isinstance(item, dict) else None
        if item_id and about:
            self._item(item_id, about)
        return about

    def _item(self, item_id: str, response_id: str | None) -> _Item:
        item = self._items.get(item_id)
        if item is None:
            item = self._items[item_id] = _Item(response_id)
            if len(self._items) > ITEMS_REMEMBERED:
                del self._items[next(iter(self._items))]
        return item

    def _latest(self) -> str | None:
        return next((item.response_id for item in reversed(self._items.values()) if item.ms), None)

    def _invalid(self, problem: str, message: Json) -> Inbound:
        return Inbound(INVALID, self._participant, problem=problem, details=self.kept(message))
