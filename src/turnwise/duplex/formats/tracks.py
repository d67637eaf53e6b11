"""Conversations of which nothing but label files is there: one file each, or one per side."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path

from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Entry, FileConversations, Tally, settled
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.formats.roles import pairs_among, side_of, stem
from turnwise.duplex.formats.spans import AGENT, USER
from turnwise.duplex.formats.tables import Tables
from turnwise.duplex.records import Timeline
from turnwise.kernel.errors import InputError


@dataclass(frozen=True, slots=True)
class Track(Entry):
    """Label files with whose speech they hold; None for both sides in one."""

    sides: tuple[str | None, ...]


class Tracks(FileConversations[Track]):
    """Label files of one kind. A subclass says how one is told and read."""

    suffixes: tuple[str, ...]

    def __init__(self, found: Listing) -> None:
        tally = Tally()
        names = list(found.names) if found.lone else found.ending(*self.suffixes)
        tracks = [name for name in names if found.lone or self.is_track(found.root / name)]
        for name in names:
            if name not in tracks:
                tally.add("input", "text files that are no label tracks were left out", name)
        if not tracks:
            raise InputError(
                "there is no label track", where=str(found.path), expected=f"files *{' or *'.join(self.suffixes)}"
            )
        pairs = pairs_among(tracks)
        files: dict[str, list[tuple[str, str | None]]] = {}
        for name in tracks:
            key, side = side_of(stem(name)) or ("", None)
            if side is None or key not in pairs:
                key, side = stem(name), None
            files.setdefault(key, []).append((name, side))
        entries = [
            Track(found.key(key), tuple(found.root / name for name, _ in parts), tuple(side for _, side in parts))
            for key, parts in files.items()
        ]
        self._tables = Tables(found, {entry.key for entry in entries}, tally)
        super().__init__(found, entries, self._tables.files, tally)

    def _read(self, entry: Track) -> Timeline:
        annotation = Annotation()
        for side in (USER, AGENT):
            if entry.sides.count(side) > 1:
                found = ", ".join(path.name for path in entry.files)
                raise InputError(f"two files have the speech of the {side}", where=entry.key, found=found)
        for path, whose in zip(entry.files, entry.sides, strict=True):
            if whose:
                annotation.speech.setdefault(whose, [])  # a track without labels says that there is no speech
            self.annotate(path, whose, annotation)
        self._tables.annotate(entry.key, annotation)
        return settled(annotation.onto(self._tables.timeline(entry.key)), str(entry.files[0]))

    @staticmethod
    def is_track(path: Path) -> bool:
        """Whether a file with the right name is one."""
        return True

    @staticmethod
    @abstractmethod
    def annotate(path: Path, side: str | None, found: Annotation) -> None:
        """Take what a file says."""
