"""A capture from a wire log: turnwise's own, or anybody's log of a protocol that turnwise knows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import InputError
from turnwise.live.capture import Capture, Header, header_from
from turnwise.live.foreign import read_foreign
from turnwise.live.transports import transport_named
from turnwise.live.wire import IN, NOTE, Line, Sounds, StoredSounds, read_wire


def replay(path: Path, out: Path, protocol: str | None = None) -> Capture:
    """Build the capture of a log in a folder; `protocol` is what another program's log is of."""
    lines = read_wire(path) if protocol is None else None
    first = None if lines is None else next(lines, None)
    if (
        lines is not None
        and first is not None
        and first.direction == NOTE
        and isinstance(first.message, dict)
        and ("protocol" in first.message)
    ):
        return _built(_header(first.message, path), lines, out, StoredSounds(path.parent / "audio").get, path)
    if protocol is None:
        raise InputError(
            "this is no wire log of turnwise",
            where=str(path),
            expected="a first line that names the scenario and the protocol",
            remedy="for another program's log, name the protocol: --protocol acs",
        )
    header, foreign = read_foreign(path, protocol)
    return _built(header, iter(foreign), out, None, path)


def _header(note: Any, path: Path) -> Header:
    try:
        return header_from(note)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            "the first line of the wire log cannot be read",
            where=str(path),
            found=f"{type(error).__name__}: {error}",
            expected="the scenario, its protocol, participants and turns",
        ) from error


def _built(header: Header, lines: Iterator[Line], out: Path, get: Any, path: Path) -> Capture:
    out.mkdir(parents=True, exist_ok=True)
    sounds = Sounds(out / "audio")
    capture = Capture(header, transport_named(header.protocol), sounds.put, get)
    try:
        for line in lines:
            try:
                _apply(capture, line)
            except (KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    "the wire log does not fit its own first line",
                    where=str(path),
                    found=f"{type(error).__name__}: {error} at {line.t_ms:g} ms",
                    expected="turns and connections that the first line names",
                ) from error
    finally:
        sounds.close()
    if capture.ended_ms is None and header.turns:
        capture.reason = "the log has no end: the driver was killed, or the file is cut off"
    if (path.parent / "audio").is_dir() and path.parent.resolve() != out.resolve():
        for file in (path.parent / "audio").glob("out-*.wav"):
            shutil.copyfile(file, out / "audio" / file.name)
    capture.write(out)
    return capture


def _apply(capture: Capture, line: Line) -> None:
    note = line.message
    if line.direction == IN:
        capture.received(line.t_ms, line.connection, capture.restored(line.connection, line.message))
    elif line.direction == NOTE and "turn_started" in note:
        capture.turn_started(note["turn_started"], line.t_ms)
    elif line.direction == NOTE and "turn_ended" in note:
        capture.turn_ended(note["turn_ended"], line.t_ms, note.get("audio"))
    elif line.direction == NOTE and note.get("ended"):
        capture.reason, capture.ended_ms, capture.clock = note.get("reason"), line.t_ms, note.get("clock") or {}
