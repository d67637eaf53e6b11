"""The events of the OpenAI Realtime API: what each one is, where its contents are, and what may be kept of it."""

from __future__ import annotations

import math
from typing import Any

from turnwise.live.messages import CONTROL, SPEECH_STARTED, SPEECH_STOPPED, STOP, TEXT, TEXT_DELTA, TRANSCRIPT
from turnwise.live.transports.base import Json

DEEPEST = 32
"""Levels of a message that are kept; no documented event has more than ten."""

AUDIO_EVENTS = frozenset({"response.output_audio.delta", "response.audio.delta", "session.output_audio.delta"})
TEXT_EVENTS = {
    "response.output_audio_transcript.delta": (TEXT_DELTA, "delta"),
    "response.audio_transcript.delta": (TEXT_DELTA, "delta"),
    "response.output_text.delta": (TEXT_DELTA, "delta"),
    "response.text.delta": (TEXT_DELTA, "delta"),
    "session.output_transcript.delta": (TEXT_DELTA, "delta"),
    "response.output_audio_transcript.done": (TEXT, "transcript"),
    "response.audio_transcript.done": (TEXT, "transcript"),
    "response.output_text.done": (TEXT, "text"),
    "response.text.done": (TEXT, "text"),
    "conversation.item.input_audio_transcription.completed": (TRANSCRIPT, "transcript"),
    "conversation.item.input_audio_transcription.delta": (CONTROL, "delta"),
    "session.input_transcript.delta": (CONTROL, "delta"),
}
"""What a text is, and the field that holds it. Pieces of what the caller said are kept as control: the whole follows,
and counting both would count it twice."""
TRUNCATED = "conversation.item.truncated"
KINDS = {
    "input_audio_buffer.speech_started": SPEECH_STARTED,
    "input_audio_buffer.speech_stopped": SPEECH_STOPPED,
    "output_audio_buffer.cleared": STOP,
}
_SECRETS = frozenset({"client_secret", "authorization", "headers", "api_key"})


def text_of(fields: Json, key: str) -> str | None:
    """A field that holds text; none where it is empty or something else."""
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def content_index(fields: Json) -> int:
    """The part of an item that an event is about."""
    value = fields.get("content_index")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def place_of(response_id: str) -> Json:
    """Where a piece of a response belongs: each has one item of one part."""
    return {"response_id": response_id, "item_id": f"item_{response_id}", "output_index": 0, "content_index": 0}


def truncation(item_id: str, content_index: int, end_ms: float) -> Json:
    """Says how much of an item was heard; rounded down, since an end beyond the audio is an error for the server."""
    end = {"content_index": content_index, "audio_end_ms": math.floor(end_ms)}
    return {"type": "conversation.item.truncate", "item_id": item_id, **end}


def _hidden(key: str, value: object) -> bool:
    return key in _SECRETS or (key == "audio" and isinstance(value, str))


def _bare(value: Any, depth: int = 1) -> Any:
    """A part of a message without audio and secrets, as far down as any event goes: a hostile one goes deeper."""
    if depth > DEEPEST and isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        return {key: _bare(part, depth + 1) for key, part in value.items() if not _hidden(key, part)}
    return [_bare(part, depth + 1) for part in value] if isinstance(value, list) else value


def kept_event(message: Json) -> Json:
    """An event as it may be kept: without its audio and without keys to the session."""
    found = {key: _bare(value) for key, value in message.items() if not _hidden(key, value)}
    if str(message.get("type")) in AUDIO_EVENTS:
        found.pop("delta", None)
    return found
