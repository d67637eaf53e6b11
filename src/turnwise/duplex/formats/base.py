"""What every format gives: conversations one by one, and findings about all of them before the first is measured.

Each conversation is read twice: once when the data are opened, so that what is wrong is known and counted at the
start, and again when it is reached, so that nothing but its name has to be held in between. What files look like
inside is the business of the formats; how bytes become text and values, of `turnwise.duplex.formats.files`.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from turnwise.audio.wave import extra
from turnwise.duplex.formats.spans import AGENT, USER, in_order, merged
from turnwise.duplex.records import Timeline
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError, shorten
from turnwise.kernel.jsontext import clean

AUDIO = (".wav", ".flac")
NAMED = 3
"""Conversations that a finding names; the rest are counted."""
WORD_GAP = 0.5
"""Seconds: words at most so far apart are one stretch of speech of the agent, as in Full-Duplex-Bench."""

FROM_WORDS = "speech of the agent was taken from its words"
NOT_GIVEN = "speech of the {} is not given"


class Listing(NamedTuple):
    """What lies at a path: one file, or all files below a folder."""

    path: Path
    """As it was given."""
    root: Path
    """The folder that names are relative to."""
    names: tuple[str, ...]
    """Relative to the root, with forward slashes, in order."""
    lone: bool = False
    """Whether the path is a file."""

    def ending(self, *suffixes: str) -> list[str]:
        """The names that end so, whatever their case."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def having(self, *names: str) -> list[str]:
        """The paths of files that are called so."""
        return [path for path in self.names if path.rpartition("/")[2] in names]

    def key(self, name: str) -> str:
        """A folder's or file's name as the key of a conversation; the root goes by its own name."""
        return clean(name) if name else clean(self.root.resolve().name) or "conversation"


def listing(path: Path) -> Listing:
    """The file, or all files of the folder; hidden ones are left out."""
    try:
        if path.is_dir():
            names = tuple(sorted(_walk(path)))
            if not names:
                raise InputError(
                    "the folder is empty", where=str(path), expected="conversations", remedy="check the path"
                )
            return Listing(path, path, names)
        if path.exists() and not path.is_file():
            found = "a pipe or a device"
            raise InputError(f"{path} is not a regular file", found=found, remedy="save it as a file first")
        with path.open("rb"):
            return Listing(path, path.parent, (path.name,), True)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shorten(str(path))} cannot be read", found=found, remedy="check the path") from error


def _walk(folder: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    seen = set()
    for where, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(where)
        folders[:] = [] if real in seen else sorted(name for name in folders if not name.startswith((".", "__")))
        prefix = Path(where).relative_to(folder).as_posix()
        if real not in seen:
            yield from (
                name if prefix == "." else f"{prefix}/{name}" for name in sorted(files) if not name.startswith(".")
            )
        seen.add(real)


class Tally:
    """Troubles with how often they occurred and the first few places; becomes findings."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[int, list[str]]] = {}

    def add(self, check: str, message: str, name: str) -> None:
        """One more case."""
        count, names = self._seen.get((check, message), (0, []))
        if count < NAMED:
            names.append(name)
        self._seen[check, message] = count + 1, names

    def findings(self) -> list[Finding]:
        """All of them, in the order of their first case."""
        return [
            Finding(check, f"{message}: {some(names, count)}", count)
            for (check, message), (count, names) in self._seen.items()
        ]


def some(names: Sequence[str], count: int) -> str:
    """The first few of so many names."""
    shown = ", ".join(names[:NAMED])
    return f"{shown} and {count - NAMED} more" if count > NAMED else shown


class Conversations(ABC):
    """Conversations of one format."""

    name: str
    findings: list[Finding]
    """What is worth knowing about the input, counted."""

    @abstractmethod
    def __iter__(self) -> Iterator[Timeline]:
        """Each conversation once, in the order of the keys, read when it is reached."""

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def fingerprint_parts(self) -> Iterator[tuple[str, str]]:
        """Name and content hash of every file that is read; the name does not tell where the folder lies."""


E_co = TypeVar("E_co")


class Usable(Generic[E_co]):
    """Which conversations can be read, after each was read once; the others are counted with their trouble."""

    def __init__(self, where: str, tally: Tally) -> None:
        self._where, self._tally = where, tally
        self.places: dict[str, E_co] = {}
        """By key; what is needed to read one again."""
        self._refused: list[TurnwiseError] = []

    def look(self, place: E_co, name: str, read: Callable[[E_co], Timeline]) -> None:
        """Try to read one; `name` is what it goes by as long as its key is not known."""
        try:
            timeline = read(place)
        except (InputError, UsageError) as error:
            self._refused.append(error)
            found = f" ({error.found})" if error.found else ""
            self._tally.add("skipped", f"left out, {error.what}", f"{error.where or name}{found}")
            return
        if timeline.key in self.places:
            raise InputError(
                "the same key stands twice",
                where=self._where,
                found=f"{timeline.key}, the second time in {name}",
                expected="every conversation once",
                remedy="rename or remove one of the two",
            )
        self.places[timeline.key] = place
        for note in timeline.notes:
            self._tally.add("input", note, timeline.key)

    def sorted(self) -> dict[str, E_co]:
        """What can be read, by key; without any, an error that says why not."""
        if not self.places:
            raise self._nothing()
        return dict(sorted(self.places.items()))

    def _nothing(self) -> TurnwiseError:
        if len(self._refused) == 1:
            return self._refused[0]
        if not self._refused:
            return InputError("there is no conversation", where=self._where, remedy="check the path, or use --format")
        first = self._refused[0]
        return InputError(
            f"none of the {len(self._refused)} conversations can be used",
            where=self._where,
            found=f"the first: {first.what}" + "".join(f"; {part}" for part in (first.where, first.found) if part),
            expected=first.expected,
            remedy=first.remedy,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation as files."""

    key: str
    files: tuple[Path, ...]
    """All that are read for it."""


E = TypeVar("E", bound=Entry)


class FileConversations(Conversations, Generic[E]):
    """Conversations of which each has its own files. A format finds them and says how one is read."""

    def __init__(self, found: Listing, entries: Iterable[E], shared: Iterable[Path] = (), tally: Tally | None = None):
        """Read each of them once; `shared` are files that say something about several."""
        self._root = found.root
        tally = tally or Tally()
        usable = Usable[E](str(found.path), tally)
        files = set(shared)
        for entry in entries:
            files.update(entry.files)
            usable.look(entry, entry.key, self._read)
        self._entries = usable.sorted()
        self._files = {_relative(path, found.root): path for path in files}
        self._digests: dict[str, str] = {}
        self.findings = tally.findings()

    def __iter__(self) -> Iterator[Timeline]:
        return map(self._read, self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def fingerprint_parts(self) -> Iterator[tuple[str, str]]:
        """Name and content hash of every file that is read; the name does not tell where the folder lies."""
        for name, path in sorted(self._files.items()):
            if name not in self._digests:  # a recording is long: once is enough
                self._digests[name] = digest(path)
            yield name, self._digests[name]

    @abstractmethod
    def _read(self, entry: E) -> Timeline:
        """One conversation; what is wrong with it raises an error."""


def _relative(path: Path, root: Path) -> str:
    try:
        return clean(path.relative_to(root).as_posix())
    except ValueError:  # beside or above what was named, as the results of a single simulation are
        return clean(path.name)


def digest(path: Path) -> str:
    """The SHA-256 of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror, remedy="check the path") from error


def audio_head(path: Path) -> tuple[int, float]:
    """Channels and seconds of a recording, by its header."""
    soundfile: Any = extra("soundfile")
    try:
        head = soundfile.info(path)
    except (soundfile.SoundFileError, OSError) as error:
        found = shorten(str(getattr(error, "error_string", error)))
        raise InputError("unreadable audio", where=str(path), found=found, expected="WAV or FLAC") from error
    if not head.frames:
        raise InputError("audio without samples", where=str(path), found="0 samples")
    return int(head.channels), head.frames / head.samplerate


def settled(timeline: Timeline) -> Timeline:
    """With a tuple for each side that nobody can hear: where there is no recording, what is not given is not there.

    The agent's speech is taken from its words if it has any. Labels are put in order.
    """
    labels = timeline.labels
    if any(one[:2] > other[:2] for one, other in pairwise(labels)):
        timeline = replace(timeline, labels=tuple(sorted(labels, key=lambda label: label[:2])))
    if timeline.audio or (timeline.user is not None and timeline.agent is not None):
        return timeline
    if timeline.user is None and timeline.agent is None and timeline.words is None:
        raise InputError(
            "nobody's speech is given, and there is no recording",
            where=timeline.key,
            expected="speech of the user and the agent",
            remedy="name the speakers user and agent",
        )
    notes = list(timeline.notes)
    agent = timeline.agent
    if agent is None and timeline.words is not None:
        agent, more = in_order(merged(timeline.words, WORD_GAP), AGENT)
        notes += [FROM_WORDS, *more]
    notes += [NOT_GIVEN.format(side) for side, has in ((USER, timeline.user), (AGENT, agent)) if has is None]
    return replace(timeline, user=timeline.user or (), agent=agent or (), notes=tuple(notes))
