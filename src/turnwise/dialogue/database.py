"""The entity database of a task dialogue: what can be found, and which entities meet a state.

A set of entities is a whole number whose bit `i` stands for row `i` of the domain: sets are compared by arithmetic.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from importlib import resources
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias

from turnwise.dialogue.formats.base import BOM, broken_json, is_there, missing_file, read_bytes
from turnwise.dialogue.formats.fields import scalar_text
from turnwise.dialogue.normalise import DONTCARE, Normaliser, load_normaliser
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.kernel.signature import digest

Entity: TypeAlias = Mapping[str, str]
"""Canonical column (`pricerange`, `arrive`, `trainid`) to text, as it stands in the file."""
Constraints: TypeAlias = Mapping[str, "str | Sequence[str]"]
"""Slot to value; of several values any one will do."""

ENDING = "_db.json"
SIMILARITY = 90.0
"""Names, food and stations match from this partial similarity on (0 to 100)."""
SIMILAR = frozenset({"name", "food", "departure", "destination"})
NOT_ASKED = frozenset({"id", "location", "openhours", "introduction", "signature", "takesbookings"})
"""Columns that do not constrain a search; nor does a column that is not text, such as a hotel's list of prices."""
ANYTHING = "?"
"""What the database writes where a value is not known: it matches whatever is asked for."""
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")


@dataclass(frozen=True, slots=True)
class _Column:
    """Which entities have which value, after normalisation."""

    values: Mapping[str, int]
    anything: int


class Database:
    """Entities by domain. Answers are remembered: asking again is a look-up."""

    path: Path
    """The folder it was read from."""
    digest: str
    """Of the files and of the rules by which values are compared: part of metric signatures."""

    def __init__(self, path: Path, digest: str, entities: Mapping[str, Sequence[Entity]]) -> None:
        """Take checked entities; `load_database` reads a folder."""
        self.path, self.digest = path, digest
        self.domains = tuple(entities)
        self._entities = entities
        self._columns: dict[tuple[str, str], _Column | None] = {}
        self._rows: dict[tuple[str, str, str], int] = {}
        self._found: dict[tuple[str, tuple[tuple[str, str | tuple[str, ...]], ...]], int] = {}

    @property
    def normaliser(self) -> Normaliser:
        """One spelling per slot name and value, for what is asked for and for what the entities say."""
        return query_normaliser()

    def entities(self, domain: str) -> Sequence[Entity]:
        """The entities of a domain, in the order of their rows."""
        return self._entities.get(domain, ())

    def identifier(self, domain: str) -> str:
        """The column by which an entity is offered: `trainid` where there is one, else `name`."""
        entities = self.entities(domain)
        return "trainid" if entities and "trainid" in entities[0] else "name"

    def values(self, domain: str, column: str) -> frozenset[str]:
        """All values of a column, normalised; none for a column that nobody has."""
        known = self._column(domain, column)
        return frozenset(known.values) if known is not None else frozenset()

    def find(self, domain: str, constraints: Constraints) -> int:
        """The entities that meet all constraints, as a bit set.

        Slots without a column do not constrain, nor do absent values and dontcare. Train times are limits: arrival at
        or before, departure at or after. Names, food and stations match by similarity, everything else exactly.
        """
        key = (domain, tuple((slot, v if isinstance(v, str) else tuple(v)) for slot, v in constraints.items()))
        if key not in self._found:
            found = (1 << len(self.entities(domain))) - 1
            for slot, values in key[1]:
                found &= self._meeting(domain, slot, (values,) if isinstance(values, str) else values, found)
            self._found[key] = found
        return self._found[key]

    def matches(self, domain: str, row: int, constraints: Constraints) -> bool:
        """Whether one entity meets all constraints."""
        return bool(self.find(domain, constraints) >> row & 1)

    @property
    def files(self) -> list[Path]:
        """What it was read from."""
        return _files(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process reads the folder itself, once, instead of receiving the database with every batch.
        return _unchanged, (self.path, self.digest)

    def _meeting(self, domain: str, raw: str, values: Sequence[str], everything: int) -> int:
        name = self.normaliser.domain_slot(domain, raw)
        column = name.partition("-")[2]
        if column in NOT_ASKED or self._column(domain, column) is None:
            return everything
        forms = {self.normaliser.value(name, value) for value in values}
        wanted = sorted(form for form in forms if form is not None)
        if not wanted or DONTCARE in wanted:
            return everything
        return reduce(or_, (self._having(domain, column, form) for form in wanted))

    def _having(self, domain: str, column: str, form: str) -> int:
        """The entities whose column meets one normalised value."""
        key = (domain, column, form)
        if key not in self._rows:
            known = self._column(domain, column)
            assert known is not None, key
            met = (rows for value, rows in known.values.items() if _meets(column, value, form))
            self._rows[key] = reduce(or_, met, known.anything)
        return self._rows[key]

    def _column(self, domain: str, column: str) -> _Column | None:
        """The values of a column, or None where no entity has it."""
        key = (domain, column)
        if key not in self._columns:
            values: dict[str, int] = {}
            anything, empty = 0, True
            for row, entity in enumerate(self.entities(domain)):
                if column not in entity:
                    continue
                empty = False
                if entity[column].strip() == ANYTHING:
                    anything |= 1 << row
                elif form := self.normaliser.value(f"{domain}-{column}", entity[column]):
                    values[form] = values.get(form, 0) | 1 << row
            self._columns[key] = None if empty else _Column(values, anything)
        return self._columns[key]


def _meets(column: str, value: str, wanted: str) -> bool:
    if column in SIMILAR:
        from rapidfuzz.fuzz import partial_ratio

        return partial_ratio(value, wanted) >= SIMILARITY
    if column in ("arrive", "leave"):
        # hh:mm sorts as text. What is not a time is neither before nor after one.
        if not _TIME.fullmatch(value) or not _TIME.fullmatch(wanted):
            return False
        return value <= wanted if column == "arrive" else value >= wanted
    return value == wanted


@cache
def query_normaliser() -> Normaliser:
    """The rules of data/database.yaml."""
    with resources.as_file(resources.files("turnwise.dialogue") / "data" / "database.yaml") as path:
        return load_normaliser(str(path))


def load_database(path: Path) -> Database:
    """The database in a folder of `<domain>_db.json` files, each a list of entities; read again only if one changed."""
    files = _files(path)
    try:
        states = tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    except OSError as error:
        raise missing_file(Path(error.filename or path), error) from error
    return _loaded(path, states)


def _unchanged(path: Path, digest: str) -> Database:
    """The database again, in another process."""
    found = load_database(path)
    if found.digest != digest:
        raise InputError(
            "the database was changed while it was used",
            where=str(path),
            found=f"digest {found.digest}",
            expected=f"digest {digest}, as at the beginning",
            remedy="run it again on a copy that nobody writes to",
        )
    return found


@lru_cache(maxsize=4)
def _loaded(path: Path, states: tuple[tuple[Path, int, int], ...]) -> Database:
    files = [file for file, _, _ in states]
    entities: dict[str, Sequence[Entity]] = {}
    hashes = []
    for file in files:
        content = read_bytes(file)
        domain = file.name.removesuffix(ENDING).lower()
        entities[domain] = _entities(domain, file, content)
        hashes.append([domain, hashlib.sha256(content).hexdigest()])
    return Database(path, digest([query_normaliser().digest, hashes]), entities)


def _files(path: Path) -> list[Path]:
    expected = f"a folder with files such as hotel{ENDING} and train{ENDING}"
    if not is_there(path, Path.is_dir):
        found = "a file" if is_there(path) else "nothing"
        remedy = "give the folder the file is in" if is_there(path) else "check the path"
        raise InputError("there is no database folder", where=str(path), found=found, expected=expected, remedy=remedy)
    files = sorted(file for file in path.iterdir() if file.name.endswith(ENDING) and file.name != ENDING)
    domains = [file.name.lower() for file in files]
    if len(set(domains)) < len(domains):
        raise InputError(
            "two files of the database are about one domain",
            where=str(path),
            found=", ".join(file.name for file in files if domains.count(file.name.lower()) > 1),
            expected="one file per domain",
            remedy="join them, or remove one",
        )
    if not files:
        names = sorted(file.name for file in path.iterdir())
        raise InputError(
            "the folder holds no database",
            where=str(path),
            found=(", ".join(names[:5]) + (" ..." if len(names) > 5 else "")) or "an empty folder",
            expected=expected,
            remedy=f"name each file <domain>{ENDING}: a list of entities, each an object of columns",
        )
    return files


def _entities(domain: str, file: Path, content: bytes) -> list[Entity]:
    try:
        data = loads(content.removeprefix(BOM))
    except JSONDecodeError as error:
        raise broken_json(error, str(file), content) from error
    if not isinstance(data, list):
        raise _wrong_shape(str(file), data, "a list of entities")
    return [_entity(domain, f"{file}, entity {number}", raw) for number, raw in enumerate(data)]


def _entity(domain: str, where: str, raw: Any) -> Entity:
    """The columns that are text or a number; lists and objects (coordinates, prices of rooms) are left out."""
    if not isinstance(raw, dict):
        raise _wrong_shape(where, raw, "an object: column to text")
    normaliser = query_normaliser()
    return {
        normaliser.domain_slot(domain, column).partition("-")[2]: scalar_text(value, where, column)
        for column, value in raw.items()
        if not isinstance(value, list | dict | None)
    }


def _wrong_shape(where: str, found: Any, expected: str) -> InputError:
    return InputError(
        "a database file has the wrong shape",
        where=where,
        found=shorten(found),
        expected=expected,
        remedy='write it as [{"name": "...", "area": "..."}, ...]',
    )
