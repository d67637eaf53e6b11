"""The items of a run for roll-ups: which cluster each is of and what it can be sliced by, window by window.

A window is a stretch of the data that holds whole clusters. Only what is asked for of a window is in memory: of an item
four bytes are kept, on disk where there are many; of a cluster its fingerprint; no id of either.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import blake2b
from itertools import islice

import numpy as np
from sqlalchemy import select

from turnwise.kernel.jsontext import loads
from turnwise.kernel.rollup import IntArray
from turnwise.store import schema
from turnwise.store.columns import Codes, ItemTable
from turnwise.store.run import Run
from turnwise.store.scratch import scratch_file
from turnwise.store.store import Store
from turnwise.store.stream import CHUNK, stream

WINDOW = 8_000
"""Items, at least, unless fewer are left."""
IN_MEMORY = 1 << 24
"""Bytes that are worth keeping off the disk."""
KNOWN_TEXTS = 10_000
"""So many different sets of dimensions are remembered; in some data every item has one of its own."""


class StoredItems:
    """The items of a run without their ids and contents."""

    def __init__(self, store: Store, run: Run, wanted: Collection[str] | None = None) -> None:
        """Read them once; `wanted` are the dimensions to keep, all of them where it is None."""
        self.names: set[str] = set()
        """Every dimension that an item has, wanted or not."""
        self._wanted = wanted
        self._levels: dict[str, dict[str, int]] = {}
        self._sets: dict[tuple[tuple[str, int], ...], int] = {}
        self._texts: dict[str, int] = {}
        self._first_numbers, self._first_places = array("q"), array("q")
        self._prints, self._starts = array("Q"), array("q")
        self._codes = scratch_file(self, IN_MEMORY)
        self._n = 0
        self._read(store, run)

    def __len__(self) -> int:
        return self._n

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self._clusters.max(initial=-1)) + 1

    @cached_property
    def bounds(self) -> IntArray:
        """Where windows begin, and the end of the last: places of items."""
        cuts = np.append(self._cuts(), self._n)
        found = [0]
        while found[-1] < self._n:
            next_cut = int(np.searchsorted(cuts, found[-1] + WINDOW))
            found.append(int(cuts[min(next_cut, len(cuts) - 1)]))
        return np.array(found, dtype=np.int64)

    @cached_property
    def ends(self) -> IntArray:
        """The number of the last item of each window."""
        return self._numbers(self.bounds[1:] - 1)

    def window(self, index: int) -> ItemTable:
        """The items of one window."""
        return self._table(int(self.bounds[index]), int(self.bounds[index + 1]))

    def whole(self) -> ItemTable:
        """All items at once."""
        return self._table(0, self._n)

    def _table(self, first: int, end: int) -> ItemTable:
        places = np.arange(first, end, dtype=np.int64)
        clusters = self._clusters[np.searchsorted(self._stretches, places, side="right") - 1]
        self._codes.seek(4 * first)
        sets = np.frombuffer(self._codes.read(4 * (end - first)), dtype=np.int32)
        dimensions = {name: Codes(members[sets], names) for name, (members, names) in self._members.items()}
        return ItemTable(self._numbers(places), Codes(clusters, []), dimensions, self.n_clusters)

    def _numbers(self, places: IntArray) -> IntArray:
        """The numbers of items: those of a batch follow each other."""
        firsts = np.frombuffer(self._first_places, dtype=np.int64)
        at = np.searchsorted(firsts, places, side="right") - 1
        found: IntArray = np.frombuffer(self._first_numbers, dtype=np.int64)[at] + places - firsts[at]
        return found

    @cached_property
    def _stretches(self) -> IntArray:
        """Where the cluster changes."""
        return np.frombuffer(self._starts, dtype=np.int64)

    @cached_property
    def _clusters(self) -> IntArray:
        """The cluster of each stretch, numbered in order of appearance."""
        prints = np.array(self._prints, dtype=np.uint64)
        _, first, inverse = np.unique(prints, return_index=True, return_inverse=True)
        numbers = np.empty(len(first), dtype=np.int64)
        numbers[np.argsort(first)] = np.arange(len(first))
        self._prints = array("Q")  # the numbers stand for them from now on
        return np.asarray(numbers[inverse.reshape(-1)])

    def _cuts(self) -> IntArray:
        """Places of items before which every cluster is complete."""
        clusters = self._clusters
        last = np.zeros(self.n_clusters, dtype=np.int64)
        last[clusters] = np.arange(len(clusters))  # of several the last one stays
        complete = np.maximum.accumulate(last[clusters]) == np.arange(len(clusters))
        found: IntArray = self._stretches[1:][complete[:-1]]
        return found

    @cached_property
    def _members(self) -> Mapping[str, tuple[IntArray, list[str]]]:
        """For each dimension, the code that each set of dimensions has in it (-1: none), and what codes stand for."""
        found = {name: np.full(len(self._sets), -1, dtype=np.int64) for name in self._levels}
        for codes, number in self._sets.items():
            for name, code in codes:
                found[name][number] = code
        return {name: (codes, list(self._levels[name])) for name, codes in found.items()}

    def _read(self, store: Store, run: Run) -> None:
        table = schema.items
        query = select(table.c.number, table.c.cluster, table.c.dimensions).where(table.c.run == run.key)
        last_number, last_cluster = -2, None
        with store.reading() as connection:
            rows = stream(connection, query.order_by(table.c.number))
            while chunk := list(islice(rows, CHUNK)):
                codes = array("i")
                for number, cluster, text in chunk:
                    if number != last_number + 1:
                        self._first_numbers.append(number)
                        self._first_places.append(self._n)
                    if cluster != last_cluster:
                        print_ = blake2b(cluster.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                        self._prints.append(int.from_bytes(print_, "little"))
                        self._starts.append(self._n)
                    known = self._texts.get(text)
                    codes.append(self._note(text) if known is None else known)
                    last_number, last_cluster = number, cluster
                    self._n += 1
                self._codes.write(codes.tobytes())
        self._texts.clear()

    def _note(self, text: str) -> int:
        """The number of the set of dimensions in a JSON text."""
        if len(self._texts) >= KNOWN_TEXTS:
            self._texts.clear()
        dimensions: dict[str, str] = loads(text)
        self.names.update(dimensions)
        codes = []
        for name, value in dimensions.items():
            if self._wanted is None or name in self._wanted:
                levels = self._levels.setdefault(name, {})
                codes.append((name, levels.setdefault(value, len(levels))))
        found = self._texts[text] = self._sets.setdefault(tuple(codes), len(self._sets))
        return found
