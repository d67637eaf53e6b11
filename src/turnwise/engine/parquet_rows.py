"""Rows of a Parquet file, read like any other file of rows (`rows.py`): gone through once, then read by number.

A slice of rows is decoded at a time, never a whole row group or file. Parquet has no way to a row but from the
beginning of its row group. Going on from the last row is therefore cheap, going back is not: where rows are asked for
in no order, they are copied once into a temporary file that has such a way.
"""

from __future__ import annotations

import pickle
import tempfile
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any
from weakref import finalize

from turnwise.engine.arrow_cells import Column
from turnwise.engine.rows import neighbours
from turnwise.engine.text_lines import opened
from turnwise.kernel.errors import InputError, TurnwiseError, near_misses, shorten
from turnwise.kernel.extras import import_extra, remedy
from turnwise.kernel.unchanged import FileState, changed, state_of

Row = Mapping[str, Any]
MAGIC = b"PAR1"
"""How a Parquet file begins."""
SUFFIXES = (".parquet", ".pq")
SLICE_ROWS = 4096
SLICE_BYTES = 4 * 2**20
"""A slice has at most so many rows, and about so many bytes."""
PROBE_ROWS = 64
"""Rows of a row group that are decoded to see how long its rows are."""
SLICES_KEPT = 4
WINDOW = 1024
"""So many of the rows that are asked for are looked up together, in the order of the file."""
MOST_IN_VAIN = 4
"""Rows decoded and not asked for, as a multiple of the rows of the file, before they are copied."""
_BUFFER = 2**16


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet by its name or by its beginning."""
    if path.suffix.lower() in SUFFIXES:
        return True
    with opened(path) as file:
        return file.read(len(MAGIC)) == MAGIC


class ParquetRows:
    """A Parquet file. A subclass may make other rows of its rows."""

    def __init__(self, path: Path) -> None:
        """Look at the schema, no row yet."""
        self.path = path
        self._arrow, self._parquet = _packages(path)
        self._state = self._found_state()
        with self._damage_named():
            self._file = self._open()
            schema = self._file.schema_arrow
        self.columns: tuple[str, ...] = tuple(schema.names)
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise InputError("a column is there twice", where=f"{path}, its schema", found=", ".join(twice))
        self._read = [Column(self._arrow, field.name, field.type, str(path)) for field in schema]
        metadata = self._file.metadata
        self._groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self._starts = array("q", [0])
        for group in self._groups:
            self._starts.append(self._starts[-1] + group.num_rows)
        self._reader = _Slices(self._file, self)
        self._copy: _Copy | None = None

    def __len__(self) -> int:
        return self._starts[-1]

    def where(self, row: int) -> str:
        """File and row, the first of which is row 1, for messages."""
        return f"{self.path}, row {row + 1}"

    def require(self, *names: str) -> None:
        """Refuse a file without these columns."""
        for name in names:
            if name not in self.columns:
                raise InputError(
                    f"the column {name!r} is missing",
                    where=f"{self.path}, its schema",
                    found=", ".join(self.columns),
                    expected=", ".join(names),
                    remedy=near_misses(name, self.columns) or "name the columns as documented",
                )

    def scan(self) -> Iterator[Row]:
        """Every row, in order."""
        self._check_unchanged()
        with self._damage_named():
            file = self._open()
        first = 0
        for group in range(len(self._groups)):
            for batch in self.slices(file, group):
                yield from self._rows(batch, range(first, first + len(batch)))
                first += len(batch)

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows, by number; those near each other are read in one go."""
        self._check_unchanged()
        wanted = iter(rows)
        while window := list(islice(wanted, WINDOW)):
            if self._copy is None and self._reader.in_vain > MOST_IN_VAIN * len(self):
                self._copy = _Copy(self.scan())
            if self._copy is not None:
                yield from self._copy.read(window)
                continue
            found = dict(self._lookup(sorted(set(window))))
            yield from (found[row] for row in window)

    def slices(self, file: Any, group: int) -> Iterator[Any]:
        """The rows of a row group as Arrow batches of a bounded size."""
        about = self._groups[group]
        found = 0
        with self._damage_named():
            for batch in file.iter_batches(self._slice_rows(file, group), row_groups=[group], use_threads=False):
                found += len(batch)
                yield batch
        if found != about.num_rows:
            raise self._damaged(f"{found} rows in row group {group + 1}, which should have {about.num_rows}")

    def _slice_rows(self, file: Any, group: int) -> int:
        """So many rows of a row group are about `SLICE_BYTES`, decoded: a text that is there often is stored once."""
        about = self._groups[group]
        probe = next(file.iter_batches(PROBE_ROWS, row_groups=[group], use_threads=False), None)
        decoded = probe.nbytes / len(probe) if probe is not None and len(probe) else 0.0
        size = int(SLICE_BYTES / max(1.0, decoded, about.total_byte_size / max(1, about.num_rows)))
        return max(1, min(SLICE_ROWS, size))

    def group_of(self, row: int) -> int:
        """The row group that a row is in."""
        return bisect_right(self._starts, row) - 1

    def first_of(self, group: int) -> int:
        """The first row of a row group."""
        return self._starts[group]

    def _row(self, row: dict[str, Any]) -> Row:
        """What is made of a row."""
        return row

    def _rows(self, batch: Any, numbers: Sequence[int]) -> Iterator[Row]:
        columns = [column.cells(batch.column(place), numbers) for place, column in enumerate(self._read)]
        return (self._row(dict(zip(self.columns, cells, strict=True))) for cells in zip(*columns, strict=True))

    def _lookup(self, rows: list[int]) -> Iterator[tuple[int, Row]]:
        """Rows in the order of the file, each with its number."""
        place = 0
        while place < len(rows):
            first, batch = self._reader.at(rows[place])
            end = bisect_right(rows, first + len(batch) - 1, lo=place)
            here = rows[place:end]
            self._reader.in_vain -= len(here)
            for one, last in neighbours(here):
                near = range(one, last + 1)
                yield from zip(near, self._rows(batch.slice(one - first, len(near)), near), strict=True)
            place = end

    def _open(self) -> Any:
        return self._parquet.ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)

    @contextmanager
    def _damage_named(self) -> Iterator[None]:
        try:
            yield
        except (self._arrow.ArrowNotImplementedError, self._arrow.ArrowMemoryError) as error:
            raise InputError(
                "the Parquet file cannot be read here",
                where=str(self.path),
                found=shorten(str(error)),
                expected="a compression and types that pyarrow reads, and memory for its pages",
                remedy="write it anew with pyarrow's defaults, or as JSONL",
            ) from error
        except (self._arrow.ArrowException, OSError) as error:
            raise self._damaged(shorten(str(error))) from error

    def _damaged(self, found: str) -> InputError:
        return InputError(
            "the Parquet file is damaged, or is none",
            where=str(self.path),
            found=found,
            expected="a whole Parquet file",
            remedy="it was probably cut off when it was written or copied: fetch it again",
        )

    def _found_state(self) -> FileState:
        opened(self.path).close()  # what is no file at all is named
        return state_of(self.path.stat())

    def _check_unchanged(self) -> None:
        if self._found_state() != self._state:
            raise changed(self.path)


def _packages(path: Path) -> tuple[Any, Any]:
    """The packages pyarrow and pyarrow.parquet."""
    try:
        packages = [import_extra(name, "parquet", f"reading {path}") for name in ("pyarrow", "pyarrow.parquet")]
    except TurnwiseError as error:
        raise InputError(
            "Parquet files need pyarrow",
            where=str(path),
            found=error.found,
            expected="turnwise with the extra parquet",
            remedy=f"{remedy('parquet')}, or write the rows as JSONL",
        ) from error
    return packages[0], packages[1]


class _Slices:
    """The slice that a row is in; the last few are kept, and the next one is near."""

    def __init__(self, file: Any, rows: ParquetRows) -> None:
        self._file, self._rows = file, rows
        self._kept: deque[tuple[int, Any]] = deque(maxlen=SLICES_KEPT)
        self._coming: Iterator[Any] = iter(())
        self._next, self._end = 0, 0
        self.in_vain = 0
        """Rows that were decoded, less those that were asked for."""

    def at(self, row: int) -> tuple[int, Any]:
        """The number of the first row of a slice, and the slice."""
        for first, batch in self._kept:
            if first <= row < first + len(batch):
                return first, batch
        if not self._next <= row < self._end:
            group = self._rows.group_of(row)
            self._next, self._end = self._rows.first_of(group), self._rows.first_of(group + 1)
            self._coming = self._rows.slices(self._file, group)
        while True:
            batch = next(self._coming)
            first, self._next = self._next, self._next + len(batch)
            self.in_vain += len(batch)
            if row < self._next:
                self._kept.append((first, batch))
                return first, batch


class _Copy:
    """Rows in a temporary file, with the place of each."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._places = array("q")
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as rows are read
            finalize(self, self._file.close)
            for row in rows:
                self._places.append(self._file.tell())
                pickle.dump(row, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise TurnwiseError(
                "the rows cannot be copied to be read in another order",
                where=tempfile.gettempdir(),
                found=error.strerror or str(error),
                remedy="sort the file by dialogue, session or document; or set TMPDIR to a folder with room",
            ) from error

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows, by number."""
        for row in rows:
            self._file.seek(self._places[row])
            yield pickle.load(self._file)  # noqa: S301 - written above, in a file that nobody else can open
