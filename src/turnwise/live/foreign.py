"""Other programs' logs of a protocol: one message per line, with a time, in one of the forms that people write.

    {"timestamp": 1772403723.7, "direction": "inbound", "message": {...}}
    {"t_ms": 1234, "dir": "sent", "data": "{...}"}
    {"ts": "2026-03-01T22:22:03.7Z", "type": "received", "payload": {...}}

Without a direction the message itself tells, where the protocol has different ones for the two sides.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.live.capture import Header
from turnwise.live.transports import transport_named
from turnwise.live.wire import IN, OUT, Line

_TIMES = ("t_ms", "time_ms", "timestamp_ms", "t", "ts", "time", "timestamp")
_MESSAGES = ("message", "msg", "data", "payload", "raw", "event", "body")
_DIRECTIONS = ("direction", "dir", "side", "from")
_INWARD = frozenset(
    {"in", "inbound", "incoming", "rx", "received", "recv", "receive", "server", "from_server", "<", "system"}
)
_OUTWARD = frozenset({"out", "outbound", "outgoing", "tx", "sent", "send", "client", "to_server", ">", "caller"})
_EPOCH_MS = 1e11
"""Numbers from here on are milliseconds since 1970."""
_CALLERS = frozenset(
    {
        *("session.update", "session.close", "transcription_session.update", "session.input_audio_buffer.append"),
        *("input_audio_buffer.append", "input_audio_buffer.commit", "input_audio_buffer.clear"),
        *("conversation.item.create", "conversation.item.truncate", "conversation.item.delete"),
        *("conversation.item.retrieve", "response.create", "response.cancel", "output_audio_buffer.clear"),
        *("connected", "start", "stop", "dtmf"),
    }
)
"""Messages of the Realtime API and of Twilio that only a caller sends."""


def read_foreign(path: Path, protocol: str) -> tuple[Header, list[Line]]:
    """A header that knows no scenario, and the messages on a clock that begins with the first."""
    transport = transport_named(protocol)
    rows = [_row(text, f"{path}, line {number}") for number, text in _texts(path)]
    if not rows:
        raise InputError("the wire log is empty", where=str(path))
    rows.sort(key=lambda row: row[0])  # programs that log from several threads write them out of order
    start = rows[0][0]
    try:
        began = datetime.fromtimestamp(start / 1000, UTC) if start > _EPOCH_MS else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            "the times of the log are none", where=str(path), found=f"{start:g} ms", expected="seconds or milliseconds"
        ) from error
    who = ["caller"]
    connection = None if transport.multiplexed else who[0]
    lines = [Line(direction, round(moment - start, 3), connection, message) for moment, direction, message in rows]
    header = Header(path.stem, protocol, began.isoformat(timespec="milliseconds"), who, [])
    return header, lines


def _texts(path: Path) -> list[tuple[int, bytes]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror or str(error)) from error
    return [(number, text) for number, text in enumerate(content.splitlines(), 1) if text.strip()]


def _row(text: bytes, where: str) -> tuple[float, str, Any]:
    try:
        row = loads(text)
    except JSONDecodeError as error:
        raise InputError("a line of the log is no JSON", where=where, found=str(error)) from error
    if not isinstance(row, dict):
        raise InputError("a line of the log is no object", where=where, found=type(row).__name__)
    moment = next((_moment(row[name], name) for name in _TIMES if name in row), None)
    if moment is None:
        raise InputError(
            "a line of the log has no time", where=where, found=", ".join(row), expected=" or ".join(_TIMES)
        )
    message = next((row[name] for name in _MESSAGES if _is_message(row.get(name))), None)
    if message is None:
        message = {name: value for name, value in row.items() if name not in (*_TIMES, *_DIRECTIONS)}
    if isinstance(message, str):
        with suppress(JSONDecodeError):
            message = loads(message)
    return moment, _direction(row, message), message


def _is_message(value: Any) -> bool:
    """An object, or one as text; a plain word under the same key is a name."""
    return isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _moment(value: Any, name: str) -> float | None:
    """Milliseconds, from a number or a date."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = float(value)
        if name.endswith("_ms") or number >= _EPOCH_MS:
            return number
        return 1000 * number
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return 1000 * (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _direction(row: dict[str, Any], message: Any) -> str:
    """Which way a message went: as the row says, else as only one side can have sent it."""
    said = next((str(row[name]).lower() for name in _DIRECTIONS if name in row), "")
    if said in _OUTWARD:
        return OUT
    if said in _INWARD or not isinstance(message, dict):
        return IN
    name = str(message.get("type") or message.get("event") or "")
    body = message.get("audioData") or message.get("AudioData") or message.get("media") or {}
    callers = isinstance(body, dict) and ("participantRawID" in body or body.get("track") == "inbound")
    metadata = str(message.get("kind", "")).lower() == "audiometadata"
    return OUT if callers or metadata or name in _CALLERS else IN
