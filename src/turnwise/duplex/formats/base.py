"""What every format gives: conversations one by one, and findings about all of them before the first is measured.

Each conversation is read twice: once when the data are opened, so that what is wrong is known and counted at the
start, and again when it is reached, so that nothing but its name has to be held in between. What files look like
inside is the business of the formats; how bytes become text and values, of `turnwise.duplex.formats.files`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Generic, TypeVar

from turnwise.duplex.formats.listing import Listing, digest
from turnwise.duplex.formats.spans import AGENT, USER, in_order, merged
from turnwise.duplex.records import NOT_GIVEN, Timeline
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.kernel.jsontext import clean

NAMED = 3
"""Conversations that a finding names; the rest are counted."""
WORD_GAP = 0.5
"""Seconds: words at most so far apart are one stretch of speech of the agent, as in Full-Duplex-Bench."""

FROM_WORDS = "speech of the agent was taken from its words"


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


P = TypeVar("P")


class Usable(Generic[P]):
    """Which conversations can be read, after each was read once; the others are counted with their trouble."""

    def __init__(self, where: str, tally: Tally) -> None:
        self._where, self._tally = where, tally
        self.places: dict[str, P] = {}
        """By key; what is needed to read one again."""
        self._refused: list[TurnwiseError] = []

    def look(self, place: P, name: str, read: Callable[[P], Timeline]) -> None:
        """Try to read one; `name` is what it goes by as long as its key is not known."""
        try:
            timeline = read(place)
        except (InputError, UsageError) as error:
            self._refused.append(error)
            hint = error.remedy if error.remedy and error.remedy.startswith("did you mean") else None
            details = "; ".join(filter(None, (error.found, hint)))
            where = error.where or name
            self._tally.add("skipped", f"left out, {error.what}", f"{where} ({details})" if details else where)
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

    def sorted(self) -> dict[str, P]:
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


def settled(timeline: Timeline, where: str) -> Timeline:
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
            where=where,
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
