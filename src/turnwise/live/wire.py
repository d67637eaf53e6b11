"""The wire log: everything in and out, with its time; base64 audio is kept as places in WAV files.

Each line is one message or one note of the driver (a turn began, the scenario ended). A log says all that a capture
needs, so a capture can be built again from it alone.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.kernel.jsontext import dumps_clean

IN, OUT, NOTE = "in", "out", "note"
PLACE = "$audio"
"""The key under which a message says where its audio lies."""
FORMAT = "turnwise-wire/1"
WAITING = 8192
"""Characters of a log that are written together."""
Json = dict[str, Any]
Path_ = tuple[str, ...]


class Line(NamedTuple):
    """One line of the log."""

    direction: str
    t_ms: float
    connection: str | None
    message: Any
    """An object; text that is no JSON; or, of a note, what is noted."""


class Sounds:
    """The WAV files of a capture, one per direction and connection; audio is appended as it comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, IO[bytes]] = {}
        self._bytes: dict[str, int] = {}
        self._rates: dict[str, int] = {}

    def put(self, name: str, pcm: bytes, rate: int) -> int:
        """Append to a file; the place in bytes where it begins."""
        file = self._open.get(name)
        if file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._open[name] = (self._folder / name).open("wb")
            file.write(wave_head(rate, 0))
            self._bytes[name], self._rates[name] = 0, rate
        file.write(pcm)
        begin = self._bytes[name]
        self._bytes[name] = begin + len(pcm)
        return begin

    def flush(self) -> None:
        """Everything so far is on the disk."""
        for file in self._open.values():
            file.flush()

    def close(self) -> None:
        """Say in the headers how long the files have become; every file is tried, the first that fails is raised."""
        with ExitStack() as stack:
            for name, file in self._open.items():
                stack.callback(self._close, name, file)

    def _close(self, name: str, file: IO[bytes]) -> None:
        with file:
            file.seek(0)
            file.write(wave_head(self._rates[name], self._bytes[name]))


HEAD_BYTES = 44


def wave_head(rate: int, length: int) -> bytes:
    """The header of a WAV file of one channel of 16 bits; Python's own writer costs more than sending does."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", 36 + length, b"WAVE") + form + struct.pack("<4sI", b"data", length)


def replace_audio(message: Json, fields: Sequence[Path_], place: Json) -> None:
    """Put where the audio lies in the place of a message's base64 audio."""
    for path in fields:
        holder, key = _holder(message, path)
        if holder is not None and isinstance(holder[key], str):
            holder[key] = {PLACE: place}


def with_audio(message: Any, fields: Sequence[Path_], fetch: Callable[[Json], bytes]) -> Any:
    """The message with its audio put back."""
    if not isinstance(message, dict):
        return message
    for path in fields:
        holder, key = _holder(message, path)
        if holder is not None and isinstance(holder[key], dict) and PLACE in holder[key]:
            audio = fetch(holder[key][PLACE])
            message = _replaced(message, path, base64.b64encode(audio).decode("ascii"))
    return message


def _holder(message: Json, path: Path_) -> tuple[Json | None, str]:
    """The object that holds the last key of a path, and the key as it is spelt there."""
    found: Any = message
    for place, name in enumerate(path):
        if not isinstance(found, dict):
            return None, ""
        key = name if name in found else next((k for k in found if _folded(k) == name.lower()), None)
        if key is None:
            return None, ""
        if place == len(path) - 1:
            return found, key
        found = found[key]
    return None, ""


def _replaced(message: Json, path: Path_, value: Any) -> Json:
    key = next(k for k in message if _folded(k) == path[0].lower())
    return {**message, key: value if len(path) == 1 else _replaced(message[key], path[1:], value)}


def _folded(key: str) -> str:
    return key.replace("_", "").lower()


class WireLog:
    """A log that is being written; what it says of audio is not on the disk before the audio is."""

    def __init__(self, path: Path, sounds: Sounds) -> None:
        self._path, self._sounds = path, sounds
        self._file: IO[bytes] | None = None
        self._waiting: list[str] = []
        self._length = 0
        self._n = 0

    def write(self, line: Line) -> None:
        """One more line."""
        about = {"seq": self._n, "direction": line.direction, "t_ms": round(line.t_ms, 3)}
        connection = {} if line.connection is None else {"connection": line.connection}
        key = "text" if isinstance(line.message, str) else NOTE if line.direction == NOTE else "message"
        self._add(dumps_clean({**about, **connection, key: line.message}))

    def write_text(self, direction: str, t_ms: float, connection: str | None, message: str) -> None:
        """One more line whose message is JSON text already: frames are many."""
        who = "" if connection is None else f'"connection":{dumps_clean(connection)},'
        self._add(f'{{"seq":{self._n},"direction":"{direction}","t_ms":{t_ms:.3f},{who}"message":{message}}}')

    def _add(self, text: str) -> None:
        self._n += 1
        self._waiting.append(text)
        self._length += len(text)
        if self._length >= WAITING:
            self._flush()

    def _flush(self) -> None:
        self._sounds.flush()
        lines, self._waiting, self._length = self._waiting, [], 0
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("wb")
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()

    def close(self) -> None:
        """No more lines."""
        try:
            self._flush()
        finally:
            if self._file is not None:
                self._file.close()
