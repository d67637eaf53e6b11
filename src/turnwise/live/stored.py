"""A wire log and its audio, read back and checked: what does not fit together is an error, and never a guess."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.live.transports.base import plausible_rate
from turnwise.live.wire import FORMAT, HEAD_BYTES, IN, NOTE, OUT, Line, wave_head

_RATE = slice(24, 28)
_FIXED = (slice(0, 4), slice(8, 24), slice(28, 40))
"""Parts of a WAV file's header that only its rate decides."""


class StoredSounds:
    """The WAV files of a capture, read back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data: dict[str, bytes] = {}

    def get(self, name: str, begin: int, length: int) -> bytes:
        """A piece of a file."""
        data = self._read(name)
        if not 0 <= begin <= begin + length <= len(data):
            raise InputError(
                "a message of the wire log names audio that is not there",
                where=str(self._folder / Path(name).name),
                found=f"bytes {begin} to {begin + length}",
                expected=f"a place within its {len(data)} bytes of audio",
                remedy="keep wire.jsonl and audio/ of one capture together",
            )
        return data[begin : begin + length]

    def _read(self, name: str) -> bytes:
        if name not in self._data:
            path = self._folder / Path(name).name
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError("the audio of a wire log cannot be read", where=str(path), found=str(error)) from error
            self._data[name] = _samples(content, path)
        return self._data[name]


def _samples(content: bytes, path: Path) -> bytes:
    """The audio of a file, by its size: a driver that was killed has not written the length."""
    rate, head = int.from_bytes(content[_RATE], "little"), content[:HEAD_BYTES]
    if not plausible_rate(rate) or any(head[part] != wave_head(rate, 0)[part] for part in _FIXED):
        raise InputError(
            "the audio of a wire log is not as turnwise writes it",
            where=str(path),
            found=repr(head[:40]),
            expected="a WAV file of one channel of 16 bits",
        )
    return content[HEAD_BYTES:]


def wire_header(path: Path) -> dict[str, Any] | None:
    """What the first line of a log says; None if it is not a log of turnwise."""
    try:
        with path.open("rb") as file:
            first = loads(file.readline())
    except OSError as error:
        raise InputError(
            f"{path} cannot be read", found=error.strerror or str(error), expected="a wire.jsonl"
        ) from error
    except JSONDecodeError:
        return None
    note = first.get(NOTE) if isinstance(first, dict) else None
    if not isinstance(note, dict) or "protocol" not in note:
        return None
    if note.get("format") != FORMAT:
        raise InputError(
            "the wire log is of another format", where=str(path), found=repr(note.get("format")), expected=FORMAT
        )
    return note


def read_wire(path: Path) -> Iterator[Line]:
    """The lines of a log of turnwise after the first."""
    seq, arrived = 0, 0.0
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if number == 1 or not text.strip():
                continue
            where = f"{path}, line {number}"
            try:
                row = loads(text)
                line, next_seq = _line(row), int(row["seq"])
            except (JSONDecodeError, KeyError, TypeError, ValueError) as error:
                if not text.endswith(b"\n"):
                    return  # the last line of a driver that was killed
                raise InputError(
                    "a line of the wire log cannot be read",
                    where=where,
                    found=f"{type(error).__name__}: {error}",
                    expected='{"seq", "direction": "in"|"out"|"note", "t_ms", "message"|"text"|"note"}',
                ) from error
            if next_seq <= seq:
                raise InputError(
                    "the wire log begins anew, or is out of order",
                    where=where,
                    found=f"seq {next_seq} after {seq}",
                    expected="one log in a file",
                )
            if line.t_ms < 0 or (line.direction == IN and line.t_ms < arrived):
                after = "" if line.t_ms < 0 else f" after {arrived:g} ms"
                raise InputError(
                    "the times of the wire log go back",
                    where=where,
                    found=f"{line.t_ms:g} ms{after}",
                    expected="times from 0 on, in order",
                )
            seq, arrived = next_seq, line.t_ms if line.direction == IN else arrived
            yield line


def _line(row: Any) -> Line:
    direction = row["direction"]
    if direction not in (IN, OUT, NOTE):
        raise ValueError(f"direction {direction!r}")
    message = row[NOTE] if direction == NOTE else row["text"] if "text" in row else row["message"]
    return Line(direction, float(row["t_ms"]), row.get("connection"), message)
