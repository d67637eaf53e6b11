"""What a protocol has to know: how a caller speaks it, and how the system it calls does.

The caller's half drives a system; the system's half lets the simulator be driven and a wire log be written by hand.
A transport holds the state of one connection (stream ids, sequence numbers) and does no input or output: it makes and
reads JSON objects. Audio is PCM16 little-endian mono at the rate the caller's side uses; a protocol with another
encoding converts.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, TypeGuard

from turnwise.live.messages import Inbound

Json = dict[str, Any]
FRAME_MS = 20
LEAST_RATE, HIGHEST_RATE = 4_000, 192_000


class Heard(NamedTuple):
    """Audio of a caller, as the system gets it."""

    participant: str
    pcm: bytes
    """PCM16 at the transport's `out_rate`."""
    silent: bool | None = None
    """Whether the caller says that nobody speaks; None where the protocol does not say."""


class BrokenAudio(ValueError):
    """A message that should carry audio and does not; the text says what is wrong."""


class Transport(ABC):
    """One connection of a protocol, as JSON objects."""

    name: ClassVar[str]
    out_rate: ClassVar[int]
    """Hz of what the caller sends."""
    in_rate: ClassVar[int]
    """Hz of what the system sends back, unless it says otherwise."""
    multiplexed: ClassVar[bool]
    """Whether one connection carries every participant; otherwise each has their own."""
    audio_fields: ClassVar[tuple[tuple[str, ...], ...]]
    """Where a message keeps base64 audio, as paths of keys (compared without regard to case)."""

    def __init__(self, participants: Sequence[str]) -> None:
        self.participants = list(participants)
        # Most frames of a call: compared and written often.
        self.silence = bytes(2 * self.out_rate * FRAME_MS // 1000)
        self.silence_text = _base64(self.encoded(self.silence))

    def begins(self, started: datetime) -> None:
        """The scenario's clock shows 0 at this moment; a protocol with wall-clock times counts from it."""
        return

    def decoded(self, audio: bytes) -> bytes:
        """PCM16 from the bytes that base64 stands for in a message."""
        return audio

    def encoded(self, pcm: bytes) -> bytes:
        """The other way round."""
        return pcm

    def base64(self, pcm: bytes) -> str:
        """Audio as a message carries it."""
        return self.silence_text if pcm == self.silence else _base64(self.encoded(pcm))

    def rate_of(self, inbound: Inbound) -> int:
        """Hz of audio that was read; some systems say so themselves."""
        return self.in_rate

    def kept(self, message: Json) -> Json:
        """A message without audio as it may be kept: without keys and tokens."""
        return message

    # The caller's half

    def hello(self) -> list[Json]:
        """What the caller sends once it is connected."""
        return []

    @abstractmethod
    def frame(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> Json:
        """20 ms of a participant's audio; `at_ms` is the time on the scenario's clock."""

    def frame_parts(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> tuple[str, str, str]:
        """The same as text: up to the audio, the audio in base64, and the rest.

        A protocol that writes it directly is faster, and frames are many.
        """
        audio = self.base64(pcm)
        before, _, after = json.dumps(self.frame(participant, pcm, at_ms, silent)).partition(f'"{audio}"')
        return f'{before}"', audio, f'"{after}'

    def frame_text(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> str:
        """The same as one text."""
        return "".join(self.frame_parts(participant, pcm, at_ms, silent))

    @abstractmethod
    def read(self, message: Json) -> list[Inbound]:
        """What a message of the system says; one that is not understood is `control`, one that is broken `invalid`."""

    def heard(self, participant: str | None, inbound: Inbound) -> list[Json]:
        """What the caller answers when audio, or a mark, has been heard to the end, or was cut off."""
        return []

    def goodbye(self) -> list[Json]:
        """What the caller sends before it hangs up."""
        return []

    # The system's half

    @abstractmethod
    def system_hello(self) -> list[Json]:
        """What the system sends once a caller is connected."""

    @abstractmethod
    def system_read(self, message: Json) -> list[Heard]:
        """Audio of a caller's message; none for any other message, or a broken one."""

    @abstractmethod
    def system_audio(self, participant: str, pcm: bytes, response_id: str) -> list[Json]:
        """Audio (PCM16 at `in_rate`) that is played to, or about, a participant."""

    @abstractmethod
    def system_text(self, participant: str, delta: str, response_id: str, at_ms: float) -> list[Json]:
        """A piece of the text that goes with it."""

    @abstractmethod
    def system_stop(self, participant: str, response_id: str, heard_ms: float) -> list[Json]:
        """Everything that was sent and not heard yet is to be thrown away."""

    @abstractmethod
    def system_done(self, participant: str, response_id: str, text: str, cancelled: bool) -> list[Json]:
        """The end of a response, with its whole text."""


def plausible_rate(value: object) -> TypeGuard[int]:
    """Whether a number that a system sends can be a sample rate."""
    return isinstance(value, int) and not isinstance(value, bool) and LEAST_RATE <= value <= HIGHEST_RATE


def audio_bytes(holder: Mapping[str, Any], key: str, place: str) -> bytes:
    """What base64 in a message stands for; `place` names the field in the error."""
    if key not in holder:
        raise BrokenAudio(f"{place} is missing")
    try:
        return a2b_base64(holder[key], strict_mode=True)
    except (TypeError, ValueError):
        raise BrokenAudio(f"{place} is not valid base64") from None


def pcm_bytes(holder: Mapping[str, Any], key: str, place: str) -> bytes:
    """The same where it has to be samples of 16 bits."""
    pcm = audio_bytes(holder, key, place)
    if len(pcm) % 2:
        raise BrokenAudio(f"audio of odd length ({len(pcm)} bytes)")
    return pcm


def _base64(audio: bytes) -> str:
    return b2a_base64(audio, newline=False).decode("ascii")
