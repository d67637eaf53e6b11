"""Azure Communication Services media streaming, with the caller as the service that a call's audio comes from.

Audio and `StopAudio` are as Microsoft documents them; text messages (`translation.text_delta`, `transcript`) are what
interpreting services add on the same connection. A connection carries every participant of the call. Services write
their keys in camelCase, PascalCase or snake_case, so keys are compared without case and underscores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from turnwise.live.messages import (
    AUDIO,
    CONTROL,
    INVALID,
    RESPONSE_DONE,
    STOP,
    TEXT,
    TEXT_DELTA,
    TRANSCRIPT,
    Inbound,
)
from turnwise.live.transports.base import FRAME_MS, BrokenAudio, Heard, Json, Transport, pcm_bytes, plausible_rate

RATE_HZ = 16_000
FRAME_BYTES = RATE_HZ * FRAME_MS // 1000 * 2
_DELTAS = frozenset({"translation.text_delta", "control.test.response.text_delta"})
_PARTICIPANT = ("playtoparticipant", "participant", "participantrawid", "participantid")
_EXTRAS = {
    "timestamp": "timestamp",
    "timestampms": "timestamp_ms",
    "sourcelanguage": "source_language",
    "itemid": "item_id",
    "silent": "silent",
    "issilent": "silent",
}
"""What is kept beside the fields of a message that is understood, under one spelling."""


class Acs(Transport):
    """One media stream of a call."""

    name = "acs"
    out_rate = RATE_HZ
    in_rate = RATE_HZ
    multiplexed = True
    audio_fields = (("audioData", "data"),)

    def __init__(self, participants: Sequence[str]) -> None:
        super().__init__(participants)
        self.subscription_id = str(uuid4())
        self.begins(datetime.now(UTC))
        self._in_rate = RATE_HZ
        self._names: dict[str, str] = {}

    def begins(self, started: datetime) -> None:
        """Frames say when they were spoken, by the clock on the wall."""
        self._started_ms = round(started.timestamp() * 1000)
        self._second, self._second_text = -1, ""

    # The caller's half

    def hello(self) -> list[Json]:
        """The metadata that precede the audio: without them a server does not know the rate."""
        metadata = {
            "subscriptionId": self.subscription_id,
            "encoding": "PCM",
            "sampleRate": RATE_HZ,
            "channels": 1,
            "length": FRAME_BYTES,
        }
        return [{"kind": "AudioMetadata", "audioMetadata": metadata}]

    def frame(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> Json:
        """20 ms of a participant's audio."""
        body = {
            "timestamp": self._timestamp(at_ms),
            "participantRawID": participant,
            "data": self.base64(pcm),
            "silent": silent,
        }
        return {"kind": "AudioData", "audioData": body}

    def frame_parts(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> tuple[str, str, str]:
        """The frame as JSON text, character for character what `json.dumps` writes, at a fraction of the time."""
        name = self._names.get(participant)
        if name is None:
            name = self._names[participant] = json.dumps(participant)
        before = (
            f'{{"kind": "AudioData", "audioData": {{"timestamp": "{self._timestamp(at_ms)}", '
            f'"participantRawID": {name}, "data": "'
        )
        return before, self.base64(pcm), '", "silent": true}}' if silent else '", "silent": false}}'

    def read(self, message: Json) -> list[Inbound]:
        """What a message of the service says; keys in any spelling."""
        if not isinstance(message, dict):
            return [Inbound(INVALID, problem="not an object")]
        fields = _folded(message)
        kind, sort = fields.get("kind"), fields.get("type")
        if isinstance(kind, str):
            return self._read_kind(kind.lower(), message, fields)
        if isinstance(sort, str):
            return self._read_text(sort, message, fields)
        return [self._invalid("neither kind nor type", message)]

    def rate_of(self, inbound: Inbound) -> int:
        """Hz of the audio read: a service that sends metadata of its own may have chosen 24 kHz."""
        return int(inbound.details.get("sample_rate", self.in_rate))

    def kept(self, message: Json) -> Json:
        """A message as it may be kept: without its audio."""
        found: Json = {}
        for key, value in message.items():
            name = key.replace("_", "").lower()
            if name == "audiodata" and isinstance(value, dict):
                found[key] = {inner: part for inner, part in value.items() if inner.lower() != "data"}
            elif not (name in {"audio", "data"} and isinstance(value, str)):
                found[key] = value
        return found

    # The system's half

    def system_hello(self) -> list[Json]:
        """Nothing: a service waits for audio."""
        return []

    def system_read(self, message: Json) -> list[Heard]:
        """Audio of a caller's frame; none when it is something else, or broken."""
        body = message.get("audioData") if isinstance(message, dict) else None
        if isinstance(body, dict) and body.get("data") == self.silence_text:  # most frames, in the usual spelling
            name = body.get("participantRawID")
            if isinstance(name, str) and name and message.get("kind") == "AudioData":
                return [Heard(name, self.silence, _flag(body.get("silent")))]
        return [
            Heard(found.participant, found.audio, _flag(found.details.get("silent")))
            for found in self.read(message)
            if found.audio and found.participant
        ]

    def system_audio(self, participant: str, pcm: bytes, response_id: str) -> list[Json]:
        """Audio that is played to a participant."""
        body = {"data": self.base64(pcm), "playToParticipant": participant, "isSilent": False}
        return [{"kind": "AudioData", "audioData": body, "response_id": response_id}]

    def system_text(self, participant: str, delta: str, response_id: str, at_ms: float) -> list[Json]:
        """A piece of a translation."""
        about = {"participant_id": participant, "response_id": response_id}
        return [{"type": "translation.text_delta", **about, "delta": delta, "timestamp_ms": round(at_ms)}]

    def system_stop(self, participant: str, response_id: str, heard_ms: float) -> list[Json]:
        """`StopAudio`; it names the participant, as `{}` would silence everybody."""
        return [{"kind": "StopAudio", "stopAudio": {"playToParticipant": participant}, "response_id": response_id}]

    def system_done(self, participant: str, response_id: str, text: str, cancelled: bool) -> list[Json]:
        """The whole translation; the protocol has no end of a response, so that the status goes with the text."""
        about = {"participant_id": participant, "response_id": response_id}
        return [{"type": "transcript", **about, "text": text, "status": "cancelled" if cancelled else "completed"}]

    # Reading

    def _read_kind(self, kind: str, message: Json, fields: Json) -> list[Inbound]:
        if kind == "audiodata":
            return [self._read_audio(message, fields)]
        if kind == "stopaudio":
            body = _body(fields, "stopaudio")
            return [Inbound(STOP, _participant(body, fields), *_ids(body, fields), details=self.kept(message))]
        if kind == "transcriptiondata":
            return [self._read_transcription(message, fields)]
        if kind == "audiometadata":
            rate = _body(fields, "audiometadata").get("samplerate")
            if plausible_rate(rate):
                self._in_rate = rate
        return [Inbound(CONTROL, _participant(fields), *_ids(fields), details=self.kept(message))]

    def _read_audio(self, message: Json, fields: Json) -> Inbound:
        body = _body(fields, "audiodata")
        try:
            pcm = pcm_bytes(body, "data", "audioData.data")
        except BrokenAudio as broken:
            return self._invalid(str(broken), message)
        details = _extras(body, fields)
        if self._in_rate != RATE_HZ:
            details["sample_rate"] = self._in_rate
        # A message without a sample is kept, but must not count as the first sound of an answer.
        return Inbound(
            AUDIO if pcm else CONTROL, _participant(body, fields), *_ids(body, fields), audio=pcm, details=details
        )

    def _read_transcription(self, message: Json, fields: Json) -> Inbound:
        body = _body(fields, "transcriptiondata")
        text = body.get("text")
        if not isinstance(text, str):
            return self._invalid("transcriptionData.text is missing", message)
        # An intermediate result is revised by the next one: only the final is what was said.
        final = str(body.get("resultstatus", "final")).lower() == "final"
        kind = TRANSCRIPT if final else CONTROL
        return Inbound(kind, _participant(body, fields), *_ids(body, fields), text=text, details=self.kept(message))

    def _read_text(self, sort: str, message: Json, fields: Json) -> list[Inbound]:
        participant, ids, details = _participant(fields), _ids(fields), _extras(fields)
        source, target = _name(fields.get("sourcelanguage")), _name(fields.get("targetlanguage"))
        if sort in _DELTAS:
            delta = fields.get("delta")
            if not isinstance(delta, str):
                return [self._invalid("delta is missing", message)]
            return [Inbound(TEXT_DELTA, participant, *ids, text=delta, language=target, details=details)]
        if sort != "transcript":
            return [Inbound(CONTROL, participant, *ids, details=self.kept(message))]
        text = fields.get("text")
        if not isinstance(text, str):
            return [self._invalid("text is missing", message)]
        # A transcript is the translation, unless it names the language that was spoken and none to translate into.
        kind, language = (TRANSCRIPT, source) if source and not target else (TEXT, target)
        found = [Inbound(kind, participant, *ids, text=text, language=language, details=details)]
        status = _name(fields.get("status"))
        return [*found, Inbound(RESPONSE_DONE, participant, *ids, status=status)] if status else found

    def _invalid(self, problem: str, message: Json) -> Inbound:
        return Inbound(INVALID, problem=problem, details=self.kept(message))

    def _timestamp(self, at_ms: float) -> str:
        second, milliseconds = divmod(self._started_ms + round(at_ms), 1000)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._second_text}.{milliseconds:03d}Z"


def _folded(found: Mapping[str, Any]) -> Json:
    return {key.replace("_", "").lower(): value for key, value in found.items()}


def _body(fields: Json, key: str) -> Json:
    body = fields.get(key)
    return _folded(body) if isinstance(body, dict) else {}


def _name(value: object) -> str | None:
    """An identifier or name as text; a number is one too, anything else is none."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _participant(*places: Json) -> str | None:
    """Who a message is about: a raw id, or an identifier object that has one."""
    for fields in places:
        for key in _PARTICIPANT:
            value = fields.get(key)
            found = _name(_folded(value).get("rawid") if isinstance(value, dict) else value)
            if found:
                return found
    return None


def _ids(*places: Json) -> tuple[str | None, str | None]:
    """The turn and the response a message belongs to, where it says so."""
    turns = (_name(fields.get("turnid")) for fields in places)
    responses = (_name(fields.get("responseid")) for fields in places)
    return next(filter(None, turns), None), next(filter(None, responses), None)


def _extras(*places: Json) -> Json:
    return {
        name: fields[key] for fields in reversed(places) for key, name in _EXTRAS.items() if fields.get(key) is not None
    }
