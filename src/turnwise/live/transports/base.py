"""What a protocol has to know: how a caller speaks it, and how the system it calls does.

The caller's half drives a system; the system's half lets the simulator be driven and a wire log be written by hand.
A transport holds the state of one connection (stream ids, sequence numbers) and does no input or output: it makes and
reads JSON objects. Audio is PCM16 little-endian mono at the rate the caller's side uses; a protocol with another
encoding converts.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeGuard

from turnwise.live.messages import Inbound

Json = dict[str, Any]
FRAME_MS = 20
LEAST_RATE, HIGHEST_RATE = 4_000, 192_000


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

    def decoded(self, audio: bytes) -> bytes:
        """PCM16 from the bytes that base64 stands for in a message."""
        return audio

    def encoded(self, pcm: bytes) -> bytes:
        """The other way round."""
        return pcm

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

    def frame_text(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> str:
        """The same as text; a protocol that writes it directly is faster, and frames are many."""
        return json.dumps(self.frame(participant, pcm, at_ms, silent))

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
    def system_read(self, message: Json) -> list[tuple[str, bytes]]:
        """Audio of a caller's message, as (participant, PCM16 at `out_rate`); none for any other message."""

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
