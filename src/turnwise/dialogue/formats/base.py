"""What every reader gives: dialogues by their place, with the few facts that joining, planning and checking need.

A reader keeps facts for all dialogues and exchanges only for as long as someone looks at them.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from turnwise.dialogue.formats.facts import FactTable, IdTable, facts_of
from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.records import CONTENT, Exchange, item_id
from turnwise.engine.json_lines import NOT_JSON, said_at
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

BOM = b"\xef\xbb\xbf"
"""What some editors put in front of UTF-8 text."""
MOST_VALUES = 200_000
"""So many different values of slots are counted one by one (about 40 MB)."""
MORE_VALUES = f"slot values beyond the first {MOST_VALUES} different ones: rewrites.csv does not count them"

_content = attrgetter(*CONTENT)


@dataclass(slots=True)
class Tally:
    """What occurs in a file, counted while it is read."""

    carried: Counter[tuple[bool, ...]] = field(default_factory=Counter)
    """How many exchanges lack the same of `CONTENT`."""
    measured: Counter[str] = field(default_factory=Counter)
    """How many exchanges say what they took: latency, tokens, cost."""
    values: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each slot has each value, as written."""
    metadata: set[str] = field(default_factory=set)
    """The names of all metadata columns."""
    notes: Counter[str] = field(default_factory=Counter)
    """Things worth saying about the file."""
    intents: Counter[str] = field(default_factory=Counter)
    acts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """Where each intent and act occurs first."""
    known: set[str] = field(default_factory=set)
    """The slots in `values`, once there are too many values to count them all."""

    @property
    def fields(self) -> Counter[str]:
        """How many exchanges carry each field."""
        found = Counter(self.measured)
        for lacks, count in self.carried.items():
            found.update({name: count for name, lacking in zip(CONTENT, lacks, strict=True) if not lacking})
        return found

    def add(self, exchange: Exchange) -> None:
        """Take one more exchange into account."""
        self.carried[tuple([content is None for content in _content(exchange)])] += 1
        for name in exchange.operations:
            self.measured[name] += 1
        for names, counted in ((exchange.intents, self.intents), (exchange.acts, self.acts)):
            for name in names or ():
                counted[name] += 1
                if name not in self.first:
                    self.first[name] = item_id(exchange.dialogue_id, exchange.turn_id or "?")
        self.metadata.update(exchange.metadata)
        values = self.values
        for slot, value in (exchange.state or {}).items():
            for one in (value,) if type(value) is str else value:
                if (slot, one) in values or len(values) < MOST_VALUES:
                    values[slot, one] += 1
                else:
                    self._count_more(slot, one)

    def _count_more(self, slot: str, value: str) -> None:
        """A value when the table is full: only a slot that nobody has seen yet is still taken in."""
        self.known = self.known or {known for known, _ in self.values}
        if slot in self.known:
            self.notes[MORE_VALUES] += 1
        else:
            self.known.add(slot)
            self.values[slot, value] += 1


class Dialogues(Protocol):
    """A file of dialogues, each known by its place in the file."""

    path: Path
    format: str
    sha256: str
    facts: FactTable
    index: IdTable
    tally: Tally

    def at(self, places: Iterable[int]) -> Iterator[list[Exchange]]:
        """The exchanges of some dialogues, each in their order."""
        ...

    def ids(self, places: Iterable[int] | None = None) -> Iterator[str]:
        """The ids of some dialogues, or of all."""
        ...

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of one dialogue."""
        ...


@dataclass(slots=True)
class HeldDialogues:
    """Dialogues of a format that has to be read as a whole."""

    path: Path
    format: str
    sha256: str
    held: Mapping[str, list[Exchange]]
    tally: Tally = field(default_factory=Tally)
    facts: FactTable = field(default_factory=FactTable)
    index: IdTable = field(default_factory=IdTable)
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.held:
            raise InputError(
                "the file has no dialogue",
                where=str(self.path),
                found="nothing",
                expected="at least one dialogue",
                remedy=SEE_FIELDS,
            )
        self.names = list(self.held)
        for dialogue_id, exchanges in self.held.items():
            self.facts.put(self.index.add(dialogue_id), facts_of(exchanges))
            for exchange in exchanges:
                self.tally.add(exchange)

    def at(self, places: Iterable[int]) -> Iterator[list[Exchange]]:
        """The exchanges of some dialogues, each in their order."""
        return (self.held[self.names[place]] for place in places)

    def ids(self, places: Iterable[int] | None = None) -> Iterator[str]:
        """The ids of some dialogues, or of all."""
        return iter(self.names) if places is None else (self.names[place] for place in places)

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue in their order."""
        return self.held[dialogue_id]


class Unannotated:
    """References that say nothing but which exchanges there are: a reward needs no others."""

    def __init__(self, predictions: Dialogues) -> None:
        self.path, self.format = predictions.path, predictions.format
        self.sha256 = hashlib.sha256("\n".join(sorted(predictions.ids())).encode()).hexdigest()
        self.facts = predictions.facts.without_states()
        self.index = predictions.index
        self.tally = Tally()
        self._predictions = predictions

    def at(self, places: Iterable[int]) -> Iterator[list[Exchange]]:
        """The exchanges of some dialogues, each in their order."""
        return map(_bare, self._predictions.at(places))

    def ids(self, places: Iterable[int] | None = None) -> Iterator[str]:
        """The ids of some dialogues, or of all."""
        return self._predictions.ids(places)

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue in their order."""
        return _bare(self._predictions.exchanges(dialogue_id))


def _bare(exchanges: list[Exchange]) -> list[Exchange]:
    return [Exchange(dialogue_id=exchange.dialogue_id, turn_id=exchange.turn_id) for exchange in exchanges]


def read_json(path: Path) -> tuple[Any, str]:
    """A JSON file, or the only JSON file in a zip, parsed, with the hash of the file's bytes."""
    data = read_bytes(path)
    sha256 = hashlib.sha256(data).hexdigest()
    if data.startswith(b"PK\x03\x04"):
        with _opened(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".json") and not name.startswith("__MACOSX")]
            if len(names) != 1:
                raise InputError(
                    "the zip does not hold exactly one JSON file",
                    where=str(path),
                    found=", ".join(names) or "none",
                    expected="one file that ends in .json",
                    remedy="unpack it and name the file you mean",
                )
            try:
                data = archive.read(names[0])
            except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError, NotImplementedError) as error:
                raise damaged_zip(path, str(error)) from error
    try:
        return loads(data.removeprefix(BOM)), sha256
    except JSONDecodeError as error:
        raise broken_json(error, str(path), data) from error


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise damaged_zip(path, str(error)) from error


def damaged_zip(path: Path, found: str) -> InputError:
    """The error for a zip that cannot be unpacked."""
    return InputError(
        "the zip is damaged, or encrypted",
        where=str(path),
        found=found,
        expected="a zip with one JSON file in it",
        remedy="it was probably cut off when it was copied: fetch it again",
    )


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that must be there."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise missing_file(path, error) from error
    except ValueError as error:  # a NUL character in the name
        raise missing_file(path, OSError(0, str(error))) from error


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, which is not held."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise missing_file(path, error) from error


def is_there(path: Path, kind: Callable[[Path], bool] = Path.exists) -> bool:
    """Whether a path is there; one that cannot be a path is not."""
    try:
        return kind(path)
    except (OSError, ValueError):
        return False


def missing_file(path: Path, error: OSError) -> InputError:
    """The error for a path that is not a readable file."""
    kind = "is a folder, not a file" if is_there(path, Path.is_dir) else "cannot be read"
    return InputError(
        f"{path} {kind}",
        where=str(path),
        found=error.strerror or str(error),
        expected="a readable file",
        remedy="check the path",
    )


def broken_json(error: JSONDecodeError, where: str, data: bytes, line: int = 0) -> InputError:
    """The error for bytes that are not JSON: cut off, not UTF-8, or something else; `line` is added to the place."""
    place = f"{where}, line {error.lineno + line}, column {error.colno}"
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError as reason:
        found = f"byte {reason.start}: {reason.reason}"
        return InputError(
            "the file is not UTF-8 text", where=place, found=found, expected="UTF-8", remedy="save it as UTF-8"
        )
    if error.pos >= len(text.rstrip()):
        remedy = "the file was probably cut off when it was written or copied: write it again"
        what = "the file ends in the middle of a JSON value"
        return InputError(what, where=place, found=error.msg, expected="a whole JSON value", remedy=remedy)
    return InputError(
        "this is not JSON",
        where=place,
        found=said_at(error, text),
        expected="a JSON value, UTF-8",
        remedy=NOT_JSON,
    )


def check_ids(ids: Iterable[str], where: str) -> None:
    """Dialogue ids must be something a database can hold and a person can read."""
    for dialogue_id in ids:
        if not dialogue_id.strip() or "\x00" in dialogue_id:
            raise InputError(
                "a dialogue id is empty or has a NUL character",
                where=where,
                found=shorten(dialogue_id),
                expected="readable text",
                remedy="give every dialogue an id of its own",
            )
