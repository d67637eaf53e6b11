"""The wire log: everything in and out, with its time; base64 audio is kept as places in WAV files.

Each line is one message or one note of the driver (a turn began, the scenario ended). A log says all that a capture
needs, so a capture can be built again from it alone.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, dumps_clean, loads

IN, OUT, NOTE = "in", "out", "note"
PLACE = "$audio"
"""The key under which a message says where its audio lies."""
FORMAT = "turnwise-wire/1"
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
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, name: str, pcm: bytes, rate: int) -> int:
        """Append to a file; the place in bytes where it begins."""
        file = self._open.get(name)
        if file is None:
            file = self._open[name] = (self._folder / name).open("wb")
            file.write(_head(rate, 0))
            self._bytes[name], self._rates[name] = 0, rate
        file.write(pcm)
        begin = self._bytes[name]
        self._bytes[name] = begin + len(pcm)
        return begin

    def close(self) -> None:
        """Say in the headers how long the files have become."""
        for name, file in self._open.items():
            file.seek(0)
            file.write(_head(self._rates[name], self._bytes[name]))
            file.close()


_HEAD_BYTES = 44


def _head(rate: int, length: int) -> bytes:
    """The header of a WAV file of one channel of 16 bits; Python's own writer costs more than sending does."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", 36 + length, b"WAVE") + form + struct.pack("<4sI", b"data", length)


class StoredSounds:
    """The WAV files of a capture, read back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data: dict[str, bytes] = {}

    def get(self, name: str, begin: int, length: int) -> bytes:
        """A piece of a file."""
        if name not in self._data:
            path = self._folder / Path(name).name
            try:  # by the size of the file: a driver that was killed has not written the length
                self._data[name] = path.read_bytes()[_HEAD_BYTES:]
            except OSError as error:
                raise InputError("the audio of a wire log cannot be read", where=str(path), found=str(error)) from error
        return self._data[name][begin : begin + length]


def without_audio(message: Json, fields: Sequence[Path_], place: Json) -> Json:
    """The message with its base64 audio replaced by where the audio lies."""
    for path in fields:
        holder, key = _holder(message, path)
        if holder is not None and isinstance(holder[key], str):
            message = _replaced(message, path, {PLACE: place})
    return message


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
        key = next((k for k in found if k.lower() == name.lower()), None)
        if key is None:
            return None, ""
        if place == len(path) - 1:
            return found, key
        found = found[key]
    return None, ""


def _replaced(message: Json, path: Path_, value: Any) -> Json:
    key = next(k for k in message if k.lower() == path[0].lower())
    return {**message, key: value if len(path) == 1 else _replaced(message[key], path[1:], value)}


class WireLog:
    """A log that is being written."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("w", encoding="utf-8")
        self._n = 0

    def write(self, line: Line) -> None:
        """One more line."""
        about = {"seq": self._n, "direction": line.direction, "t_ms": round(line.t_ms, 3)}
        connection = {} if line.connection is None else {"connection": line.connection}
        key = "text" if isinstance(line.message, str) else NOTE if line.direction == NOTE else "message"
        self._file.write(dumps_clean({**about, **connection, key: line.message}) + "\n")
        self._n += 1

    def write_text(self, direction: str, t_ms: float, connection: str | None, message: str) -> None:
        """One more line whose message is JSON text already: frames are many."""
        who = "" if connection is None else f'"connection":{dumps_clean(connection)},'
        self._file.write(f'{{"seq":{self._n},"direction":"{direction}","t_ms":{t_ms:.3f},{who}"message":{message}}}\n')
        self._n += 1

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def read_wire(path: Path) -> Iterator[Line]:
    """The lines of a log of turnwise."""
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    yield _line(loads(text))
                except (JSONDecodeError, KeyError, TypeError, ValueError) as error:
                    if not text.endswith(b"\n"):
                        return  # the last line of a driver that was killed
                    raise InputError(
                        "a line of the wire log cannot be read",
                        where=f"{path}, line {number}",
                        found=f"{type(error).__name__}: {error}",
                        expected='{"seq", "direction": "in"|"out"|"note", "t_ms", "message"|"text"|"note"}',
                    ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read", found=error.strerror or str(error), expected="a wire.jsonl"
        ) from error


def _line(row: Any) -> Line:
    direction = row["direction"]
    if direction not in (IN, OUT, NOTE):
        raise ValueError(f"direction {direction!r}")
    message = row[NOTE] if direction == NOTE else row["text"] if "text" in row else row["message"]
    return Line(direction, float(row["t_ms"]), row.get("connection"), message)
