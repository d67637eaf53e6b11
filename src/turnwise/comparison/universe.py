"""The items of all runs in a comparison under common numbers: what is the same item, the same cluster, the same level.

Items are the same where kind and id are. With common numbers, the rows of both sides can be rolled up together.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import select

from turnwise.comparison.selectors import VERSION, Chosen
from turnwise.kernel.jsontext import loads
from turnwise.kernel.rollup import BoolArray, IntArray
from turnwise.store import schema
from turnwise.store.columns import Codes, ItemTable
from turnwise.store.stream import stream

Key = tuple[str, str, int]
"""Kind, id, and which one of that name in its run (they are unique in every room)."""
CLUSTER_WORD = "cluster"


@dataclass(frozen=True, slots=True)
class Part:
    """The items of one run in a side."""

    chosen: Chosen
    numbers: IntArray
    """Item numbers in the run, ascending."""
    places: IntArray
    """The place of each in the universe; -1 where the side does not want it."""

    def places_of(self, items: IntArray) -> IntArray:
        """The places of item numbers; -1 for what is not there (a run that goes on may have written since)."""
        if not len(self.numbers):
            return np.full(len(items), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.numbers, items), len(self.numbers) - 1)
        return np.where(self.numbers[found] == items, self.places[found], -1)


@dataclass(slots=True)
class _Noted:
    """The levels of one dimension as a side has them: places and codes, of which the last one counts."""

    places: array[int] = field(default_factory=lambda: array("q"))
    codes: array[int] = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class _Side:
    """What is known of a side's items, filled run by run."""

    parts: list[Part] = field(default_factory=list)
    dimensions: dict[str, _Noted] = field(default_factory=dict)


class Universe:
    """All items of both sides (or of one), numbered from 0 in the order in which they were met."""

    def __init__(self, *sides: Sequence[Chosen]) -> None:
        self.keys: dict[Key, int] = {}
        self._clusters: list[int] = []
        self._cluster_names: dict[str, int] = {}
        self._levels: dict[str, dict[str, int]] = {}
        self.moved = 0
        """Items whose cluster is not the same everywhere; the first one counts."""
        self._sides = [_Side() for _ in sides]
        for side, chosen in zip(self._sides, sides, strict=True):
            for one in chosen:
                side.parts.append(self._part(side, one))
        self.names = list(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def parts(self, side: int) -> list[Part]:
        """The runs of a side."""
        return self._sides[side].parts

    def has(self, side: int) -> BoolArray:
        """Which items a side has."""
        found = np.zeros(len(self), dtype=bool)
        for part in self.parts(side):
            found[part.places[part.places >= 0]] = True
        return found

    def table(self, side: int) -> ItemTable:
        """The items as a side knows them: its dimensions, everybody's numbers and clusters."""
        dimensions = {}
        for name, levels in self._levels.items():
            codes = np.full(len(self), -1, dtype=np.int64)
            own = self._sides[side].dimensions.get(name, _Noted())
            codes[np.frombuffer(own.places, dtype=np.int64)] = np.frombuffer(own.codes, dtype=np.int64)
            dimensions[name] = Codes(codes, list(levels))
        return ItemTable(np.arange(len(self), dtype=np.int64), self.clusters, dimensions)

    @property
    def clusters(self) -> Codes:
        """The cluster of every item."""
        return Codes(np.array(self._clusters, dtype=np.int64), list(self._cluster_names))

    @property
    def dimensions(self) -> list[str]:
        """What items can be sliced by."""
        return list(self._levels)

    def cluster_word(self) -> str:
        """What a cluster is called: the kind of item, or the dimension, that has its name; else `cluster`."""
        known = list(self._cluster_names)
        own = [known[code] for code in self._clusters]
        kinds = dict.fromkeys(kind for kind, _, _ in self.names)
        for (kind, item, _), cluster in zip(self.names, own, strict=True):
            if item != cluster:
                kinds.pop(kind, None)
        if kinds:
            return next(iter(kinds))
        for name, levels in self._levels.items():
            words = list(levels)
            noted = [side.dimensions[name] for side in self._sides if name in side.dimensions]
            pairs = (pair for one in noted for pair in zip(one.places, one.codes, strict=True))
            if all(words[code] == own[place] for place, code in pairs):
                return name.removesuffix("_id")
        single = len({kind for kind, _, _ in self.names}) == 1 and len(known) == len(self)
        return self.names[0][0] if single else CLUSTER_WORD

    def _part(self, side: _Side, chosen: Chosen) -> Part:
        numbers: list[int] = []
        places: list[int] = []
        seen: dict[tuple[str, str], int] = {}
        for number, kind, item, cluster, dimensions in _items(chosen):
            nth = seen[kind, item] = seen.get((kind, item), -1) + 1
            numbers.append(number)
            wanted = chosen.version is None or dimensions.get(VERSION, chosen.run.version) == chosen.version
            places.append(self._place((kind, item, nth), cluster) if wanted else -1)
            if wanted:
                self._note(side, places[-1], dimensions)
        return Part(chosen, np.array(numbers, dtype=np.int64), np.array(places, dtype=np.int64))

    def _place(self, key: Key, cluster: str) -> int:
        place = self.keys.setdefault(key, len(self.keys))
        code = self._cluster_names.setdefault(cluster, len(self._cluster_names))
        if place == len(self._clusters):
            self._clusters.append(code)
        elif self._clusters[place] != code:
            self.moved += 1
        return place

    def _note(self, side: _Side, place: int, dimensions: Mapping[str, str]) -> None:
        for name, value in dimensions.items():
            levels = self._levels.setdefault(name, {})
            noted = side.dimensions.setdefault(name, _Noted())
            noted.places.append(place)
            noted.codes.append(levels.setdefault(value, len(levels)))


def _items(chosen: Chosen) -> Iterator[tuple[int, str, str, str, dict[str, str]]]:
    table = schema.items
    columns = (table.c.number, table.c.kind, table.c.id, table.c.cluster, table.c.dimensions)
    query = select(*columns).where(table.c.run == chosen.run.key).order_by(table.c.number)
    decoded: dict[str, dict[str, str]] = {}
    with chosen.store.reading() as connection:
        for number, kind, item, cluster, text in stream(connection, query):
            if text not in decoded:
                decoded[text] = loads(text)
            yield number, kind, item, cluster, decoded[text]
