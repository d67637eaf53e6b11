"""Turnwise's own format: one conversation per line as a JSON object, or the same objects in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.duplex.formats.base import Conversations, Tally, Usable, settled
from turnwise.duplex.formats.files import BOM, parsed, read_start
from turnwise.duplex.formats.listing import Listing, audio_head, digest
from turnwise.duplex.formats.tables import usual_category, usual_language
from turnwise.duplex.records import Timeline
from turnwise.duplex.timeline_json import SPEECH_FIELDS, as_json, from_json
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, clean, dumps_clean, loads

NAME = "timelines"
SUFFIXES = (".jsonl", ".ndjson")


KEPT = 16 << 20
"""Bytes; conversations of files that have no more are kept in memory."""


class Line(NamedTuple):
    """Where a conversation stands."""

    file: int
    offset: int
    number: int


def looks_like(found: Listing) -> bool:
    """Whether the first line of a file is a conversation; a single file of JSON lines is taken at its word."""
    if found.lone:
        return found.path.suffix.lower() in SUFFIXES or _begins_so(found.path)
    return any(_begins_so(found.root / name) for name in found.ending(*SUFFIXES))


def _begins_so(path: Path) -> bool:
    lines = read_start(path, 1 << 20).split(b"\n")
    try:
        first = loads(next((line for line in lines if line.strip()), b""))
    except JSONDecodeError:
        return False
    return isinstance(first, dict) and "key" in first and bool((SPEECH_FIELDS | {"audio"}) & first.keys())


def read(found: Listing) -> Conversations:
    """A file of conversations, or all such files in a folder."""
    return TimelineFiles(found)


def held(records: Sequence[Mapping[str, Any]]) -> Conversations:
    """Conversations in memory."""
    return HeldTimelines(records)


class TimelineFiles(Conversations):
    """Conversations in files of JSON lines.

    Where each line begins is remembered, not what it holds; only what is small is kept rather than read again.
    """

    name = NAME

    def __init__(self, found: Listing) -> None:
        names = found.names if found.lone else [n for n in found.ending(*SUFFIXES) if _begins_so(found.root / n)]
        self._names = {name: found.root / name for name in names}
        self._paths = list(self._names.values())
        self._audio: set[Path] = set()
        self._kept: dict[str, Timeline] | None = {}
        if sum(path.stat().st_size for path in self._paths) > KEPT:
            self._kept = None
        tally = Tally()
        usable = Usable[Line](str(found.path), tally)
        for number, path in enumerate(self._paths):
            with path.open("rb") as file:
                for line, data in _lines(file, number):
                    usable.look(line, f"{path}, line {line.number}", partial(self._first, data))
        self._places = usable.sorted()
        self.findings = tally.findings()

    def _first(self, data: bytes, line: Line) -> Timeline:
        timeline = self._timeline(line, data)
        _check_audio(timeline, f"{self._paths[line.file]}, line {line.number}")
        self._audio.update(_to_hear(timeline))
        if self._kept is not None:
            self._kept[timeline.key] = timeline
        return timeline

    def _timeline(self, line: Line, data: bytes) -> Timeline:
        path = self._paths[line.file]
        where = f"{path}, line {line.number}"
        return _read(parsed(data, where), where, path.parent)

    def __iter__(self) -> Iterator[Timeline]:
        if self._kept is not None:
            return map(self._kept.__getitem__, self._places)
        return self._again()

    def _again(self) -> Iterator[Timeline]:
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("rb")) for path in self._paths]
            for line in self._places.values():
                files[line.file].seek(line.offset)
                yield self._timeline(line, files[line.file].readline())

    def __len__(self) -> int:
        return len(self._places)

    def fingerprint_parts(self) -> Iterator[tuple[str, str]]:
        """Name and content hash of every file, the recordings they name among them."""
        for name, path in self._names.items():
            yield name, digest(path)
        yield from sorted((path.name, digest(path)) for path in self._audio)


class HeldTimelines(Conversations):
    """Conversations in memory."""

    name = NAME

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._records = records
        tally = Tally()
        usable = Usable[int]("data", tally)
        for number in range(len(records)):
            usable.look(number, f"data[{number}]", self._first)
        self._places = usable.sorted()
        self.findings = tally.findings()

    def _first(self, number: int) -> Timeline:
        timeline = self._timeline(number)
        _check_audio(timeline, f"data[{number}]")
        return timeline

    def _timeline(self, number: int) -> Timeline:
        return _read(self._records[number], f"data[{number}]", None)

    def __iter__(self) -> Iterator[Timeline]:
        return map(self._timeline, self._places.values())

    def __len__(self) -> int:
        return len(self._places)

    def fingerprint_parts(self) -> Iterator[tuple[str, str]]:
        """Key and content hash of every conversation, and of the recordings they name."""
        for timeline in self:
            yield timeline.key, hashlib.sha256(dumps_clean(as_json(replace(timeline, audio=()))).encode()).hexdigest()
            for path in _to_hear(timeline):
                yield path.name, digest(path)


def _lines(file: IO[bytes], number: int) -> Iterator[tuple[Line, bytes]]:
    offset = 0
    for count, data in enumerate(file, 1):
        begin = len(BOM) if count == 1 and data.startswith(BOM) else 0
        if data[begin:].strip():
            yield Line(number, offset + begin, count), data[begin:]
        offset += len(data)


def _read(value: Any, where: str, folder: Path | None) -> Timeline:
    timeline = from_json(value, where, folder)
    if (key := clean(timeline.key)) != timeline.key:  # half a character, which only memory can hold
        timeline = replace(timeline, key=key)
    if timeline.language or timeline.category:
        language, category = usual_language(timeline.language), usual_category(timeline.category)
        if (language, category) != (timeline.language, timeline.category):
            timeline = replace(timeline, language=language, category=category)
    return settled(timeline, where)


def _to_hear(timeline: Timeline) -> tuple[Path, ...]:
    """The recordings that somebody has to listen to; where who spoke when is given, they may be anywhere."""
    return timeline.audio if timeline.user is None or timeline.agent is None else ()


def _check_audio(timeline: Timeline, where: str) -> None:
    """Recordings must be there and have the right channels, for one of two is the user's."""
    heads = [audio_head(path) for path in _to_hear(timeline)]
    if len(heads) == 1 and heads[0][0] != 2:
        raise InputError(
            "a single recording has to be stereo",
            where=where,
            found=f"{shorten(timeline.audio[0].name)} with {heads[0][0]} channels",
            expected="the user left, the agent right; or two files",
        )
