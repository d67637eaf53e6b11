"""What every layout gives: samples by number, in an order that keeps those of a cluster together."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError
from turnwise.translation.records import Sample


class Samples(Protocol):
    """A data set of translations."""

    mode: str
    findings: list[Finding]
    order: Order

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by their numbers in the data."""
        ...


class Order:
    """The order in which samples are measured: as in the data, but the samples of a cluster together."""

    def __init__(self) -> None:
        self._codes = array("q")
        self._known: dict[str, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, cluster: str | None = None) -> None:
        """One more sample; without a cluster it is one of its own."""
        code = self._next if cluster is None else self._known.setdefault(cluster, self._next)
        self._next += code == self._next
        self._codes.append(code)

    def portions(self, size: int) -> list[array[int]]:
        """The numbers of the samples in portions of about `size`, none of which splits a cluster."""
        codes = np.array(self._codes, dtype=np.int64)
        order = np.argsort(codes, kind="stable")
        begins = np.flatnonzero(np.diff(codes[order], prepend=-1))  # of each cluster
        bounds = [0]
        while len(begins) and bounds[-1] + size <= begins[-1]:
            bounds.append(int(begins[np.searchsorted(begins, bounds[-1] + size)]))
        if len(bounds) > 1 and len(codes) - bounds[-1] == 1:  # alone it would have nobody to be exchanged with
            bounds.pop()
        ends = [*bounds[1:], len(codes)]
        return [array("q", order[first:end].tolist()) for first, end in zip(bounds, ends, strict=True) if end > first]


class Seen:
    """Keys of rows, to tell whether one comes twice; what is kept of each is its hash, eight bytes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, key: Any) -> None:
        """The key of the next row."""
        self._hashes.append(hash(key))

    def twice(self) -> tuple[int, int] | None:
        """The first row whose key was there before, and the row where it was; None where all differ."""
        hashes = np.array(self._hashes, dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        again = order[1:][np.diff(hashes[order]) == 0]
        if not len(again):
            return None
        row = int(again.min())
        return row, int(np.flatnonzero(hashes == hashes[row])[0])


def comes_twice(what: str, name: str, row: int, before: int, places: Any) -> InputError:
    """The error for a key that stands in two rows; `places.where(row)` tells where."""
    return InputError(
        f"the same {what} stands twice",
        where=places.where(row),
        found=f"{name}, as in {places.where(before)}",
        expected=f"every {what} once",
        remedy="remove one of the two rows",
    )


class Keys:
    """Keys that must not come twice; what is kept of each is its hash."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._rows: dict[int, int] = {}

    def add(self, key: Any, row: int, places: Any) -> None:
        """Refuse a key that was there before; `places.where(row)` tells where."""
        before = self._rows.setdefault(hash(key), row)
        if before != row:
            name = key if isinstance(key, str) else ", ".join(part for part in key if part)
            raise comes_twice(self._what, name, row, before, places)

    def row(self, key: Any) -> int | None:
        """The row of a key."""
        return self._rows.get(hash(key))


def language_matches(wanted: Iterable[str], language: str | None) -> bool:
    """Whether a language is among those asked for (all, where none is)."""
    chosen = list(wanted)
    return not chosen or language in chosen


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise InputError(
            f"{folder} cannot be read", found=error.strerror or str(error), expected="a folder", remedy="check the path"
        ) from error
