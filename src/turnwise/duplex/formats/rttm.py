"""RTTM, the format of speaker diarisation: `SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>`.

The speakers are `user` and `agent`; one file may hold many conversations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Conversations, Entry, FileConversations, Tally, settled
from turnwise.duplex.formats.files import text_lines
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.formats.spans import moment_from_text
from turnwise.duplex.formats.tables import Tables
from turnwise.duplex.records import Timeline
from turnwise.kernel.errors import InputError, shorten

NAME = "rttm"
SUFFIX = ".rttm"
SPEAKER = "SPEAKER"
TYPES = (
    *(SPEAKER, "SPKR-INFO", "SEGMENT", "NON-SPEECH", "NON-LEX", "LEXEME", "NOSCORE", "NO_RT_METADATA"),
    *("FILLER", "EDIT", "IP", "CB", "A/P", "SU"),
)
"""How lines of the format may begin."""
OTHER_TYPES = "lines of other types than SPEAKER were left out"


class Line(NamedTuple):
    """A line, not yet looked into."""

    where: str
    parts: list[str]


def parse(path: Path) -> dict[str, list[Line]]:
    """The lines of a file by the conversation they are about."""
    found: dict[str, list[Line]] = defaultdict(list)
    for where, line in text_lines(path):
        parts = line.split()
        if parts[0].startswith(";"):  # a comment
            continue
        if len(parts) < 2 or parts[0] not in TYPES:
            raise _no_line(where, line)
        found[parts[1]].append(Line(where, parts))
    return dict(found)


def annotate(path: Path, side: str | None, found: Annotation, conversation: str) -> None:
    """Take the lines of a file that are about a conversation, or all of one that is about a single conversation."""
    lines = parse(path)
    if conversation not in lines and len(lines) != 1:
        raise InputError(
            "none of the conversations in the file is this one",
            where=str(path),
            found=", ".join(sorted(lines)[:5]) or "no line",
            expected=conversation,
        )
    take(lines[conversation] if conversation in lines else next(iter(lines.values())), side, found)


def take(lines: Iterable[Line], side: str | None, found: Annotation) -> None:
    """Take lines about one conversation; `side` says whose speech they are, whatever the speaker is called."""
    for where, parts in lines:
        if parts[0] != SPEAKER:
            found.note(OTHER_TYPES)
            continue
        if len(parts) < 8:
            raise _no_line(where, " ".join(parts))
        start, seconds = (moment_from_text(parts[n], where, name) for n, name in ((3, "start"), (4, "duration")))
        if side:
            found.say(side, start, start + seconds, "", where)
        else:
            found.mark(parts[7], start, start + seconds, "", where)


def _no_line(where: str, line: str) -> InputError:
    expected = "SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>"
    return InputError("the line is not RTTM", where=where, found=shorten(line), expected=expected)


def looks_like(found: Listing) -> bool:
    """Whether there is an RTTM file."""
    return bool(found.ending(SUFFIX))


def read(found: Listing) -> Conversations:
    """All conversations of a file, or of all files in a folder."""
    return RttmConversations(found)


class RttmConversations(FileConversations[Entry]):
    """Conversations, of which a file may have several."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        self._open: Path | None = None
        self._lines: dict[str, list[Line]] = {}
        names = list(found.names) if found.lone else found.ending(SUFFIX)
        entries = [Entry(key, (found.root / name,)) for name in names for key in sorted(parse(found.root / name))]
        if not entries:
            raise InputError("there is no RTTM file with a line", where=str(found.path), expected=f"files *{SUFFIX}")
        tally = Tally()
        self._tables = Tables(found, {entry.key for entry in entries}, tally)
        super().__init__(found, entries, self._tables.files, tally)

    def _read(self, entry: Entry) -> Timeline:
        path = entry.files[0]
        if self._open != path:  # the conversations of a file come one after the other
            self._open, self._lines = path, parse(path)
        annotation = Annotation()
        take(self._lines[entry.key], None, annotation)
        self._tables.annotate(entry.key, annotation)
        return settled(annotation.onto(self._tables.timeline(entry.key)), f"{path}, {entry.key}")
