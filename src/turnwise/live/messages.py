"""What passes between a caller and a live system, whatever protocol carries it.

A transport turns wire messages into these and back; the capture, the playout and the simulator know nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

AUDIO, TEXT_DELTA, TEXT, TRANSCRIPT = "translated_audio", "translated_delta", "translated_text", "transcript"
SPEECH_STARTED, SPEECH_STOPPED = "speech_started", "speech_stopped"
STOP, MARK, RESPONSE_DONE, CONTROL, INVALID = "stop_audio", "mark", "response_done", "control", "invalid"
"""Kinds of inbound message. `stop_audio` cuts what is still to be heard; `control` is understood to be none of these
and kept; `invalid` could not be decoded."""


@dataclass(frozen=True, slots=True)
class Inbound:
    """One thing that a message from the system says; a message may say several."""

    kind: str
    participant: str | None = None
    """Who it is about, as the protocol names them."""
    turn_id: str | None = None
    response_id: str | None = None
    text: str | None = None
    audio: bytes = b""
    """PCM16 little-endian mono at the transport's inbound rate."""
    language: str | None = None
    mark: str | None = None
    """A name to be sent back when everything before it has been heard (Twilio)."""
    cut_ms: int | None = None
    """With `stop_audio`: only so much of the response is to be heard (a truncation)."""
    status: str | None = None
    """With `response_done`: completed, cancelled, failed ..."""
    problem: str | None = None
    """With `invalid`: what is wrong with the message."""
    details: dict[str, Any] = field(default_factory=dict)
    """What else is worth keeping, without audio."""
