"""Every message that the public documentation of the three protocols names, with what it is read as.

Sources: Microsoft Learn, "Audio streaming quickstart" and "Real-time transcription" of Azure Communication Services,
and the kinds of the Call Automation SDK; OpenAI, "Realtime server events" of the general release and of the beta, and
"Translation server events"; Twilio, "Media Streams - WebSocket Messages". What the caller's side sends is there, too: a
proxy may echo it.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from turnwise.live.messages import (
    AUDIO,
    CONTROL,
    MARK,
    RESPONSE_DONE,
    SPEECH_STARTED,
    SPEECH_STOPPED,
    STOP,
    TEXT,
    TEXT_DELTA,
    TRANSCRIPT,
)

Message = dict[str, Any]
SOUND = bytes(range(0, 200, 2)) * 2
BASE64 = b64encode(SOUND).decode()

ACS: list[tuple[Message, list[str]]] = [
    ({"kind": "AudioData", "audioData": {"data": BASE64, "participantRawID": "8:acs:1", "silent": False}}, [AUDIO]),
    ({"Kind": "AudioData", "AudioData": {"Data": BASE64}, "StopAudio": None}, [AUDIO]),
    ({"kind": "StopAudio", "stopAudio": {}}, [STOP]),
    ({"Kind": "StopAudio", "AudioData": None, "StopAudio": {}}, [STOP]),
    ({"kind": "AudioMetadata", "audioMetadata": {"subscriptionId": "s", "encoding": "PCM", "length": 640}}, [CONTROL]),
    ({"kind": "DtmfData", "dtmfData": {"data": "3"}}, [CONTROL]),
    ({"kind": "MarkAudio", "markAudio": {"sequence": "1"}}, [CONTROL]),
    ({"kind": "MarkData", "markData": {"id": "m", "status": "Completed"}}, [CONTROL]),
    ({"kind": "TranscriptionMetadata", "transcriptionMetadata": {"locale": "en-us"}}, [CONTROL]),
    ({"kind": "TranscriptionData", "transcriptionData": {"text": "Hi.", "resultStatus": "Final"}}, [TRANSCRIPT]),
    ({"kind": "TranscriptionData", "transcriptionData": {"text": "Hi", "resultStatus": "Intermediate"}}, [CONTROL]),
    ({"type": "translation.text_delta", "participant_id": "p", "delta": "Hal", "timestamp_ms": 5}, [TEXT_DELTA]),
    ({"type": "control.test.response.text_delta", "delta": "Hal"}, [TEXT_DELTA]),
    ({"type": "transcript", "source_language": "en", "target_language": "de", "text": "Hallo"}, [TEXT]),
    ({"type": "transcript", "source_language": "en", "text": "Hello"}, [TRANSCRIPT]),
    ({"type": "translation.started"}, [CONTROL]),
    ({"type": "status", "status": "ready"}, [CONTROL]),
]

_ITEM = {"id": "item_1", "type": "message", "content": [{"type": "output_audio", "audio": BASE64, "transcript": "Hi"}]}
_AT = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "content_index": 0}
_SESSION = {"id": "sess_1", "client_secret": {"value": "ek_abc"}, "audio": {"input": {"format": {"type": "audio/pcm"}}}}


def _openai(kind: str, *events: str, **fields: Any) -> list[tuple[Message, list[str]]]:
    return [({"type": event, "event_id": "event_1", **fields}, [kind]) for event in events]


OPENAI: list[tuple[Message, list[str]]] = [
    *_openai(AUDIO, "response.output_audio.delta", "response.audio.delta", **_AT, delta=BASE64),
    *_openai(AUDIO, "session.output_audio.delta", delta=BASE64, sample_rate=24000, channels=1, format="pcm16"),
    *_openai(TEXT_DELTA, "response.output_audio_transcript.delta", "response.audio_transcript.delta", **_AT, delta="H"),
    *_openai(TEXT_DELTA, "response.output_text.delta", "response.text.delta", **_AT, delta="H"),
    *_openai(TEXT_DELTA, "session.output_transcript.delta", delta="H", elapsed_ms=200),
    *_openai(TEXT, "response.output_audio_transcript.done", "response.audio_transcript.done", **_AT, transcript="Hi"),
    *_openai(TEXT, "response.output_text.done", "response.text.done", **_AT, text="Hi"),
    *_openai(TRANSCRIPT, "conversation.item.input_audio_transcription.completed", item_id="i", transcript="Hello"),
    *_openai(CONTROL, "conversation.item.input_audio_transcription.delta", item_id="i", delta="Hel"),
    *_openai(CONTROL, "conversation.item.input_audio_transcription.segment", item_id="i", text="Hello", start=0.1),
    *_openai(CONTROL, "conversation.item.input_audio_transcription.failed", item_id="i", error={"code": "x"}),
    *_openai(CONTROL, "session.input_transcript.delta", delta="Hel"),
    *_openai(SPEECH_STARTED, "input_audio_buffer.speech_started", audio_start_ms=1000, item_id="i"),
    *_openai(SPEECH_STOPPED, "input_audio_buffer.speech_stopped", audio_end_ms=2000, item_id="i"),
    *_openai(CONTROL, "input_audio_buffer.committed", previous_item_id=None, item_id="i"),
    *_openai(CONTROL, "input_audio_buffer.cleared"),
    *_openai(CONTROL, "input_audio_buffer.timeout_triggered", audio_start_ms=1, audio_end_ms=2, item_id="i"),
    *_openai(CONTROL, "input_audio_buffer.dtmf_event_received", event="9", received_at=1763605109),
    *_openai(CONTROL, "output_audio_buffer.started", "output_audio_buffer.stopped", response_id="resp_1"),
    *_openai(STOP, "output_audio_buffer.cleared", response_id="resp_1"),
    *_openai(STOP, "conversation.item.truncated", item_id="item_1", content_index=0, audio_end_ms=1500),
    *_openai(RESPONSE_DONE, "response.done", response={"id": "resp_1", "status": "completed", "output": [_ITEM]}),
    *_openai(CONTROL, "response.created", response={"id": "resp_1", "status": "in_progress"}),
    *_openai(CONTROL, "response.output_audio.done", "response.audio.done", **_AT),
    *_openai(CONTROL, "response.output_item.added", "response.output_item.done", response_id="resp_1", item=_ITEM),
    *_openai(CONTROL, "response.content_part.added", "response.content_part.done", **_AT, part=_ITEM["content"][0]),
    *_openai(CONTROL, "response.function_call_arguments.delta", response_id="resp_1", call_id="c", delta='{"a'),
    *_openai(CONTROL, "response.function_call_arguments.done", response_id="resp_1", call_id="c", arguments="{}"),
    *_openai(CONTROL, "response.mcp_call_arguments.delta", response_id="resp_1", item_id="m", delta="{"),
    *_openai(CONTROL, "response.mcp_call_arguments.done", response_id="resp_1", item_id="m", arguments="{}"),
    *_openai(CONTROL, "response.mcp_call.in_progress", "response.mcp_call.completed", "response.mcp_call.failed"),
    *_openai(CONTROL, "mcp_list_tools.in_progress", "mcp_list_tools.completed", "mcp_list_tools.failed", item_id="m"),
    *_openai(CONTROL, "conversation.created", conversation={"id": "conv_1", "object": "realtime.conversation"}),
    *_openai(CONTROL, "conversation.item.added", "conversation.item.created", "conversation.item.done", item=_ITEM),
    *_openai(CONTROL, "conversation.item.retrieved", item=_ITEM),
    *_openai(CONTROL, "conversation.item.deleted", item_id="item_1"),
    *_openai(CONTROL, "session.created", "session.updated", "session.closed", session=_SESSION),
    *_openai(CONTROL, "transcription_session.created", "transcription_session.updated", session=_SESSION),
    *_openai(CONTROL, "rate_limits.updated", rate_limits=[{"name": "requests", "remaining": 999}]),
    *_openai(CONTROL, "error", error={"type": "invalid_request_error", "message": "no"}),
    # What a client sends.
    *_openai(CONTROL, "session.update", "session.close", "transcription_session.update", session=_SESSION),
    *_openai(CONTROL, "input_audio_buffer.append", "session.input_audio_buffer.append", audio=BASE64),
    *_openai(CONTROL, "input_audio_buffer.commit", "input_audio_buffer.clear", "output_audio_buffer.clear"),
    *_openai(CONTROL, "conversation.item.create", item=_ITEM),
    *_openai(CONTROL, "conversation.item.truncate", "conversation.item.delete", "conversation.item.retrieve"),
    *_openai(CONTROL, "response.create", "response.cancel"),
]

TWILIO: list[tuple[Message, list[str]]] = [
    ({"event": "media", "streamSid": "MZ1", "media": {"payload": BASE64}}, [AUDIO]),
    ({"event": "mark", "streamSid": "MZ1", "mark": {"name": "my label"}}, [MARK]),
    ({"event": "clear", "streamSid": "MZ1"}, [STOP]),
    # What Twilio itself sends.
    ({"event": "connected", "protocol": "Call", "version": "1.0.0"}, [CONTROL]),
    ({"event": "start", "sequenceNumber": "1", "start": {"streamSid": "MZ1", "callSid": "CA1"}}, [CONTROL]),
    ({"event": "stop", "sequenceNumber": "5", "stop": {"callSid": "CA1"}, "streamSid": "MZ1"}, [CONTROL]),
    ({"event": "dtmf", "sequenceNumber": "5", "dtmf": {"track": "inbound_track", "digit": "1"}}, [CONTROL]),
]

DOCUMENTED = {"acs": ACS, "openai-realtime": OPENAI, "twilio": TWILIO}
