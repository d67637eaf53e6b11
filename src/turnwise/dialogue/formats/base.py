"""What every reader gives: dialogues by id, with the few facts that joining, planning and checking need.

A reader keeps facts for all dialogues and exchanges only for as long as someone looks at them.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.records import CONTENT, Exchange, item_id
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

BOM = b"\xef\xbb\xbf"
"""What some editors put in front of UTF-8 text."""


@dataclass(slots=True)
class Facts:
    """What is known of a dialogue without holding its exchanges."""

    exchanges: int = 0
    ids: int = 0
    """How many exchanges have a turn id."""
    turns: int = 0
    """Sum of the hashes of the turn ids: equal for the same set of ids in any order."""
    states: int = 0
    """How many exchanges carry a state."""
    first_state: int | None = None
    constant: bool = True
    """Whether every state so far equals the first."""
    empty: bool = True
    """Whether every state so far is empty."""
    goal: int | None = None
    reward: int | None = None
    """Fingerprints of what belongs to the dialogue as a whole."""
    second: str | None = None
    """Which of the two has another value on another exchange."""

    @property
    def with_ids(self) -> bool:
        """Whether every exchange has a turn id."""
        return self.ids == self.exchanges

    def add(self, exchange: Exchange) -> None:
        """Take one more exchange into account."""
        self.exchanges += 1
        if exchange.goal is not None:
            self.goal = self._once("goal", self.goal, repr(exchange.goal))
        if exchange.rewards is not None:
            self.reward = self._once("reward", self.reward, repr(exchange.rewards))
        if exchange.turn_id is not None:
            self.ids += 1
            self.turns += hash(exchange.turn_id)
        if exchange.state is None:
            return
        self.states += 1
        fingerprint = hash(frozenset((slot, str(value)) for slot, value in exchange.state.items()))
        if self.first_state is None:
            self.first_state = fingerprint
        self.constant = self.constant and fingerprint == self.first_state
        self.empty = self.empty and not exchange.state

    def _once(self, name: str, known: int | None, text: str) -> int:
        found = hash(text)
        if known not in (None, found):
            self.second = name
        return found


@dataclass(slots=True)
class Tally:
    """What occurs in a file, counted while it is read."""

    fields: Counter[str] = field(default_factory=Counter)
    """How many exchanges carry each field."""
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

    def add(self, exchange: Exchange) -> None:
        """Take one more exchange into account."""
        for name in CONTENT:
            if getattr(exchange, name) is not None:
                self.fields[name] += 1
        self.fields.update(exchange.operations.keys())
        for names, counted in ((exchange.intents, self.intents), (exchange.acts, self.acts)):
            for name in names or ():
                counted[name] += 1
                if name not in self.first:
                    self.first[name] = item_id(exchange.dialogue_id, exchange.turn_id or "?")
        self.metadata.update(exchange.metadata)
        for slot, value in (exchange.state or {}).items():
            if type(value) is str:
                self.values[slot, value] += 1
            else:
                self.values.update((slot, one) for one in value)


class Dialogues(Protocol):
    """A file of dialogues."""

    path: Path
    format: str
    sha256: str
    facts: dict[str, Facts]
    """By dialogue id, in the order of the file."""
    tally: Tally

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue in their order."""
        ...


@dataclass(slots=True)
class HeldDialogues:
    """Dialogues of a format that has to be read as a whole."""

    path: Path
    format: str
    sha256: str
    held: Mapping[str, list[Exchange]]
    tally: Tally = field(default_factory=Tally)
    facts: dict[str, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.held:
            raise InputError(
                "the file has no dialogue",
                where=str(self.path),
                found="nothing",
                expected="at least one dialogue",
                remedy=SEE_FIELDS,
            )
        for dialogue_id, exchanges in self.held.items():
            facts = self.facts[dialogue_id] = Facts()
            for exchange in exchanges:
                facts.add(exchange)
                self.tally.add(exchange)

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue in their order."""
        return self.held[dialogue_id]


def without_annotations(predictions: Dialogues) -> HeldDialogues:
    """References that say nothing but which exchanges there are: a reward needs no others."""
    held = {
        dialogue_id: [
            Exchange(dialogue_id=e.dialogue_id, turn_id=e.turn_id) for e in predictions.exchanges(dialogue_id)
        ]
        for dialogue_id in predictions.facts
    }
    ids = sorted(predictions.facts)
    return HeldDialogues(
        predictions.path, predictions.format, hashlib.sha256("\n".join(ids).encode()).hexdigest(), held
    )


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
    around = shorten(text[error.pos : error.pos + 40])
    return InputError(
        "this is not JSON",
        where=place,
        found=f"{error.msg}, at {around}",
        expected="a JSON value, UTF-8",
        remedy="write the file with a JSON library; NaN and Infinity are not JSON",
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
