"""Twilio Media Streams (bidirectional), with the caller as Twilio.

A connection is one call: one participant. Audio is mu-law at 8 kHz on the wire and PCM16 here. Twilio knows neither
text nor responses; a server learns what has been heard from its own marks, which come back when the audio before them
has been played, or at once when it was cleared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import uuid4

from turnwise.live.messages import AUDIO, CONTROL, INVALID, MARK, STOP, Inbound
from turnwise.live.transports import mulaw
from turnwise.live.transports.base import BrokenAudio, Heard, Json, Transport, audio_bytes

RATE_HZ = 8_000
ACCOUNT_SID = "AC" + "0" * 32
"""Nobody's account: a server that looks it up must not find one."""


class Twilio(Transport):
    """One media stream."""

    name = "twilio"
    out_rate = RATE_HZ
    in_rate = RATE_HZ
    multiplexed = False
    audio_fields = (("media", "payload"),)

    def __init__(self, participants: Sequence[str]) -> None:
        super().__init__(participants)
        self.stream_sid = f"MZ{uuid4().hex}"
        self.call_sid = f"CA{uuid4().hex}"
        self._participant = self.participants[0] if self.participants else None
        self._sequence = 0
        self._chunk = 0
        self._owed: Counter[str] = Counter()

    def decoded(self, audio: bytes) -> bytes:
        """PCM16 from mu-law."""
        return mulaw.decode(audio)

    def encoded(self, pcm: bytes) -> bytes:
        """Mu-law from PCM16."""
        return mulaw.encode(pcm)

    # The caller's half

    def hello(self) -> list[Json]:
        """The greeting, and what the stream will carry; the participant's name goes as a custom parameter."""
        start = {
            "accountSid": ACCOUNT_SID,
            "streamSid": self.stream_sid,
            "callSid": self.call_sid,
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": RATE_HZ, "channels": 1},
            "customParameters": {"participant": self._participant} if self._participant else {},
        }
        return [{"event": "connected", "protocol": "Call", "version": "1.0.0"}, self._numbered("start", start)]

    def frame(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> Json:
        """20 ms of audio, as mu-law."""
        self._sequence += 1
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str(round(at_ms)),
            "payload": self.base64(pcm),
        }
        return {
            "event": "media",
            "sequenceNumber": str(self._sequence),
            "media": media,
            "streamSid": self.stream_sid,
        }

    def frame_parts(self, participant: str, pcm: bytes, at_ms: float, silent: bool) -> tuple[str, str, str]:
        """The frame as JSON text, character for character what `json.dumps` writes, at a fraction of the time."""
        self._sequence += 1
        self._chunk += 1
        before = (
            f'{{"event": "media", "sequenceNumber": "{self._sequence}", "media": {{"track": "inbound", '
            f'"chunk": "{self._chunk}", "timestamp": "{round(at_ms)}", "payload": "'
        )
        return before, self.base64(pcm), f'"}}, "streamSid": "{self.stream_sid}"}}'

    def read(self, message: Json) -> list[Inbound]:
        """What a message of the server says: `media`, `mark` and `clear` are all it can send."""
        if not isinstance(message, dict):
            return [Inbound(INVALID, self._participant, problem="not an object")]
        event = message.get("event")
        if not isinstance(event, str):
            return [self._invalid("no event", message)]
        if event == "media":
            return [self._read_media(message)]
        if event == "mark":
            return [self._read_mark(message)]
        if event == "clear":
            owed = list(self._owed.elements())
            return [Inbound(STOP, self._participant, details={**self.kept(message), "marks": owed})]
        return [Inbound(CONTROL, self._participant, details=self.kept(message))]

    def heard(self, participant: str | None, inbound: Inbound) -> list[Json]:
        """A mark goes back when the audio before it was heard; a clear (`stop_audio`) sends back all that it found.

        Each mark goes back once, whether it is reported by itself or with the clear that took it.
        """
        if inbound.kind == STOP:
            names = inbound.details.get("marks", [])
        else:
            names = [inbound.mark] if inbound.kind == MARK and inbound.mark is not None else []
        sent = []
        for name in names:
            if name in self._owed:
                sent.append(self._numbered("mark", {"name": name}))
                self._owed[name] -= 1
                if not self._owed[name]:
                    del self._owed[name]
        return sent

    def goodbye(self) -> list[Json]:
        """The end of the call."""
        return [self._numbered("stop", {"accountSid": ACCOUNT_SID, "callSid": self.call_sid})]

    def kept(self, message: Json) -> Json:
        """A message as it may be kept: without its audio."""
        media = message.get("media")
        if not isinstance(media, dict):
            return dict(message)
        return {**message, "media": {key: value for key, value in media.items() if key != "payload"}}

    # The system's half

    def system_hello(self) -> list[Json]:
        """Nothing: a server waits for `start`, which names the stream it answers on."""
        return []

    def system_read(self, message: Json) -> list[Heard]:
        """Audio of the caller's `media`; `start` says who the caller is and which stream to answer on."""
        if not isinstance(message, dict):
            return []
        start, media = message.get("start"), message.get("media")
        if message.get("event") == "start" and isinstance(start, dict):
            self._learn(start)
        if message.get("event") != "media" or not isinstance(media, dict) or media.get("track") == "outbound":
            return []
        try:
            coded = audio_bytes(media, "payload", "media.payload")
        except BrokenAudio:
            return []
        return [Heard(self._participant or "caller", mulaw.decode(coded))] if coded else []

    def system_audio(self, participant: str, pcm: bytes, response_id: str) -> list[Json]:
        """Audio that is played to the caller; there is no place for the response's id."""
        return [{"event": "media", "streamSid": self.stream_sid, "media": {"payload": self.base64(pcm)}}]

    def system_text(self, participant: str, delta: str, response_id: str, at_ms: float) -> list[Json]:
        """Nothing: Twilio carries no text."""
        return []

    def system_stop(self, participant: str, response_id: str, heard_ms: float) -> list[Json]:
        """`clear` empties the caller's buffer."""
        return [{"event": "clear", "streamSid": self.stream_sid}]

    def system_done(self, participant: str, response_id: str, text: str, cancelled: bool) -> list[Json]:
        """A mark named for the response, to learn when it has been heard; a cancelled one was cleared."""
        if cancelled:
            return []
        return [{"event": "mark", "streamSid": self.stream_sid, "mark": {"name": response_id}}]

    def _learn(self, start: Json) -> None:
        stream_sid, parameters = start.get("streamSid"), start.get("customParameters")
        if isinstance(stream_sid, str) and stream_sid:
            self.stream_sid = stream_sid
        named = parameters.get("participant") if isinstance(parameters, dict) else None
        if isinstance(named, str) and named:
            self._participant = named

    # Reading

    def _read_media(self, message: Json) -> Inbound:
        media = message.get("media")
        try:
            coded = audio_bytes(media if isinstance(media, dict) else {}, "payload", "media.payload")
        except BrokenAudio as broken:
            return self._invalid(str(broken), message)
        # A message without a sample is kept, but must not count as the first sound of an answer.
        return Inbound(AUDIO if coded else CONTROL, self._participant, audio=mulaw.decode(coded))

    def _read_mark(self, message: Json) -> Inbound:
        mark = message.get("mark")
        name = mark.get("name") if isinstance(mark, dict) else None
        if not isinstance(name, str):
            return self._invalid("mark.name is missing", message)
        self._owed[name] += 1
        return Inbound(MARK, self._participant, mark=name)

    def _invalid(self, problem: str, message: Json) -> Inbound:
        return Inbound(INVALID, self._participant, problem=problem, details=self.kept(message))

    def _numbered(self, event: str, body: Json) -> Json:
        self._sequence += 1
        return {
            "event": event,
            "sequenceNumber": str(self._sequence),
            event: body,
            "streamSid": self.stream_sid,
        }
