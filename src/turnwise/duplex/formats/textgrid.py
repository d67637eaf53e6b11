"""TextGrids of Praat: interval tiers called `user` and `agent` with the speech, and `labels` with what the user did.

Praat's text files are read as Praat reads them: only free-standing numbers, quoted texts and <flags> count, so that the
long and the short form are the same thing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Conversations
from turnwise.duplex.formats.files import read_bytes, read_text
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.formats.spans import moment_from_text, side_named
from turnwise.duplex.formats.tracks import Tracks
from turnwise.duplex.records import kind_named
from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten

NAME = "textgrid"
SUFFIX = ".textgrid"
LABEL_TIERS = ("labels", "label", "events", "event", "kinds", "kind")
SILENCE = ("sil", "<sil>", "silent", "silence", "sp", "#")
"""What programs write into intervals without speech; an empty text is the usual way."""

POINTS = "point tiers were left out"
SILENT = "intervals marked as silent were taken as silence"
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|<(\w+)>|(?<!\S)([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(?!\S)|(?<!\S)!.*')


class Tier(NamedTuple):
    """A tier of intervals."""

    name: str
    intervals: list[tuple[float, float, str, str]]
    """Start, end, text and the place in the file."""


def parse(path: Path, notes: Annotation) -> list[Tier]:
    """The interval tiers of a file."""
    tokens = _Tokens(path)
    kind = tokens.text("the type of the file")
    if not kind.startswith("ooTextFile"):
        raise tokens.wrong(kind, 'File type = "ooTextFile"')
    thing = tokens.text("the class of the object")
    if thing != "TextGrid":
        raise tokens.wrong(thing, 'Object class = "TextGrid"')
    tokens.number("xmin"), tokens.number("xmax")
    tokens.flag()
    tiers = []
    for _ in range(tokens.count("the number of tiers")):
        kind, name = tokens.text("the class of a tier"), tokens.text("the name of a tier")
        tokens.number("xmin"), tokens.number("xmax")
        size = tokens.count("the size of a tier")
        if kind == "IntervalTier":
            tiers.append(Tier(name, [tokens.interval() for _ in range(size)]))
            continue
        if kind != "TextTier":
            raise tokens.wrong(kind, "IntervalTier or TextTier")
        for _ in range(size):
            tokens.number("time"), tokens.text("mark")
        notes.note(POINTS)
    return tiers


class _Tokens:
    """What counts in a file of Praat, one after the other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if read_bytes(path).startswith(b"ooBinaryFile"):
            raise InputError(
                "the TextGrid is binary", where=str(path), expected="a text file", remedy="in Praat: Save as text file"
            )
        self._text = read_text(path)
        self._found = _TOKEN.finditer(self._text)
        self._at = 0

    @property
    def where(self) -> str:
        return f"{self._path}, line {self._text.count(chr(10), 0, self._at) + 1}"

    def _next(self, name: str) -> re.Match[str]:
        match = next((one for one in self._found if one.lastindex), None)
        if match is None:
            raise InputError(
                "the TextGrid ends too early",
                where=str(self._path),
                found=f"no {name}",
                expected="all tiers that its beginning announces",
                remedy="it was probably cut off when it was written or copied: save it again",
            )
        self._at = match.start()
        return match

    def wrong(self, found: str, expected: str) -> InputError:
        return InputError(
            "this is no TextGrid that can be read",
            where=self.where,
            found=shorten(found),
            expected=expected,
            remedy="in Praat: Save as text file, or Save as short text file",
        )

    def text(self, name: str) -> str:
        match = self._next(name)
        if match[1] is None:
            raise self.wrong(match[0], f"{name}, in quotes")
        return match[1].replace('""', '"')

    def number(self, name: str) -> str:
        match = self._next(name)
        if match[3] is None:
            raise self.wrong(match[0], f"{name}, a number")
        return match[3]

    def count(self, name: str) -> int:
        written = self.number(name)
        if not written.isdecimal():
            raise self.wrong(written, f"{name}, a whole number")
        return int(written)

    def flag(self) -> None:
        match = self._next("<exists>")
        if match[2] != "exists":
            raise self.wrong(match[0], "<exists>: a TextGrid with tiers")

    def interval(self) -> tuple[float, float, str, str]:
        start, end = self.number("xmin"), self.number("xmax")
        where = self.where
        text = self.text("the text of an interval")
        return moment_from_text(start, where, "xmin"), moment_from_text(end, where, "xmax"), text.strip(), where


def annotate(path: Path, side: str | None, found: Annotation) -> None:
    """Take the intervals of a TextGrid; `side` says whose speech its only tier is."""
    tiers = parse(path, found)
    used = 0
    for tier in tiers:
        whose = side_named(tier.name) or (side if len(tiers) == 1 else None)
        if not whose and not _is_labels(tier.name):
            found.note(f"the tier {tier.name!r} was left out")
            continue
        used += 1
        if whose:
            found.speech.setdefault(whose, [])  # a tier without speech says that there is none
        for start, end, text, where in tier.intervals:
            if text.lower() in SILENCE:
                found.note(SILENT)
            elif text and whose:
                found.say(whose, start, end, text, where)
            elif text and tier.name.strip().lower() in LABEL_TIERS:
                found.mark_as_written(text, start, end, where)
            elif text:
                found.mark(tier.name, start, end, text, where)
    if not used:
        names = [tier.name for tier in tiers]
        raise InputError(
            "no tier says who speaks",
            where=str(path),
            found=", ".join(names) or "no interval tier",
            expected="interval tiers user, agent and labels",
            remedy=next(filter(None, (near_misses(one, ("user", "agent", "labels")) for one in names)), None),
        )


def _is_labels(name: str) -> bool:
    """Whether a tier has labels: it is called so, or after a kind."""
    if name.strip().lower() in LABEL_TIERS:
        return True
    try:
        kind_named(name)
    except UsageError:
        return False
    return True


def looks_like(found: Listing) -> bool:
    """Whether there is a TextGrid."""
    return bool(found.ending(SUFFIX))


def read(found: Listing) -> Conversations:
    """A TextGrid, or all of a folder."""
    return TextGrids(found)


class TextGrids(Tracks):
    """Conversations, each one TextGrid or one per side."""

    name = NAME
    suffixes = (SUFFIX,)

    @staticmethod
    def annotate(path: Path, side: str | None, found: Annotation) -> None:
        """Take its intervals."""
        annotate(path, side, found)
