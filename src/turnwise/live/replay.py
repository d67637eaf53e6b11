"""A capture from a wire log: turnwise's own, or anybody's log of a protocol that turnwise knows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from turnwise.kernel.errors import InputError, UsageError
from turnwise.live.capture import Capture, Header, header_from
from turnwise.live.foreign import read_foreign
from turnwise.live.stored import StoredSounds, read_wire, wire_header
from turnwise.live.transports import transport_named
from turnwise.live.wire import IN, NOTE, Line, Sounds


def replay(path: Path, out: Path, protocol: str | None = None) -> Capture:
    """Build the capture of a log in a folder; `protocol` is what another program's log is of."""
    note = wire_header(path)
    if note is not None:
        header = _header(note, path)
        if protocol not in (None, header.protocol):
            raise UsageError(
                "the wire log is of another protocol",
                where=str(path),
                found=f"--protocol {protocol}",
                expected=header.protocol,
            )
        return _built(header, read_wire(path), out, StoredSounds(path.parent / "audio"), path)
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


def _built(header: Header, lines: Iterator[Line], out: Path, stored: StoredSounds | None, path: Path) -> Capture:
    """The capture in its folder; one that is refused leaves what is there as it was."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".turnwise-", dir=out.parent) as staging:
        audio = Path(staging) / "audio"
        audio.mkdir()
        sounds = Sounds(audio)
        get = None if stored is None else stored.get
        capture = Capture(header, transport_named(header.protocol), sounds.put, get)
        try:
            for line in lines:
                _applied(capture, line, stored, path)
        finally:
            sounds.close()
        if capture.ended_ms is None and header.turns:
            capture.reason = "the log has no end: the driver was killed, or the file is cut off"
        if stored is not None:
            for file in (path.parent / "audio").glob("out-*.wav"):
                shutil.copyfile(file, audio / file.name)
        capture.write(Path(staging))
        for file in [*Path(staging).glob("*.json*"), *audio.iterdir()]:
            target = out / file.relative_to(staging)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
    return capture


def _applied(capture: Capture, line: Line, stored: StoredSounds | None, path: Path) -> None:
    try:
        _apply(capture, line, stored)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "the wire log does not fit its own first line",
            where=str(path),
            found=f"{type(error).__name__}: {error} at {line.t_ms:g} ms",
            expected="turns and connections that the first line names",
        ) from error


def _apply(capture: Capture, line: Line, stored: StoredSounds | None) -> None:
    note = line.message
    if line.direction == IN:
        capture.received(line.t_ms, line.connection, capture.restored(line.connection, line.message))
    elif line.direction == NOTE and "turn_started" in note:
        capture.turn_started(note["turn_started"], line.t_ms)
    elif line.direction == NOTE and "turn_ended" in note:
        place = note.get("audio")
        if place is not None and stored is not None:  # only to see that it is there
            per_ms = 2 * next(iter(capture.transports.values())).out_rate / 1000
            stored.get(place["file"], round(place["offset_ms"] * per_ms), round(place["duration_ms"] * per_ms))
        capture.turn_ended(note["turn_ended"], line.t_ms, place)
    elif line.direction == NOTE and note.get("ended"):
        capture.reason, capture.ended_ms, capture.clock = note.get("reason"), line.t_ms, note.get("clock") or {}
