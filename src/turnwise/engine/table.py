"""Tables of text: a header, a separator, and rows that fit the header."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from turnwise.engine.rows import Row, RowFile
from turnwise.engine.text_lines import Lines, opened
from turnwise.kernel.errors import InputError, near_misses, shorten

SEPARATORS = ("|", "\t", ",", ";")
"""Separators of tables; the first one that splits the header into the wanted columns is it."""
LONGEST_CELL = 2**31 - 1
"""Characters of a cell; Python's own limit would refuse a long document."""


class Table(RowFile):
    """A table with a header and a separator; a column without a name goes by its place: `column 3`."""

    def __init__(self, path: Path, wanted: Collection[str] = (), separator: str | None = None) -> None:
        """Read the header; `wanted` are columns that help to find the separator where none is given."""
        super().__init__(path)
        with opened(path) as file:
            lines = Lines(path, file)
            header = next(iter(lines), "")
            if not header.strip():
                raise InputError("the table has no header", where=f"{path}, line 1", expected=_listed(wanted))
            self._separator = separator or _separator(header, wanted)
            names = enumerate(self._cells(header, f"{path}, line 1"), start=1)
            self.columns = tuple(name.strip() or f"column {place}" for place, name in names)
            self._after_header = lines.position
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise InputError("a column stands twice in the header", where=f"{path}, line 1", found=", ".join(twice))

    def require(self, *names: str) -> None:
        """Refuse a table without these columns."""
        for name in names:
            if name not in self.columns:
                raise InputError(
                    f"the column {name!r} is missing",
                    where=f"{self.path}, line 1",
                    found=_listed(self.columns),
                    expected=f"{_listed(names)}, separated by {self._separator!r}",
                    remedy=near_misses(name, self.columns) or "name the columns as documented, or use --column",
                )

    def _rows(self, lines: Lines) -> Iterator[tuple[int, int, Row]]:
        if lines.position < self._after_header:
            next(lines)
        csv.field_size_limit(LONGEST_CELL)  # of this process, whoever has opened the table
        reader = csv.reader(lines, delimiter=self._separator, strict=True)  # nothing is guessed from stray quotes
        while True:
            start, number = lines.position, lines.number + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise InputError(
                    "the row cannot be read", where=f"{self.path}, line {number}", found=str(error)
                ) from error
            if cells is None:
                return
            if not cells:  # a blank line
                continue
            if cells[0].startswith("\ufeff"):
                raise InputError(
                    "a byte order mark stands in the middle of the table",
                    where=f"{self.path}, line {number}",
                    found=shorten(cells[0]),
                    expected="at most one, at the beginning of the file",
                    remedy="take it out; it is what joining two files leaves behind, often with a second header",
                )
            if len(cells) != len(self.columns):
                raise InputError(
                    "the row does not fit the header",
                    where=f"{self.path}, line {number}",
                    found=f"{len(cells)} cells: {shorten(self._separator.join(cells))}",
                    expected=f"{len(self.columns)} cells: {_listed(self.columns)}",
                    remedy=f'put cells that hold {self._separator!r}, quotes or line breaks in double quotes ("")',
                )
            yield start, number, dict(zip(self.columns, cells, strict=True))

    def _cells(self, line: str, where: str) -> list[str]:
        csv.field_size_limit(LONGEST_CELL)
        try:
            return next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error as error:
            raise InputError("the header cannot be read", where=where, found=str(error)) from error


def _separator(header: str, wanted: Collection[str]) -> str:
    """The separator that finds most of the wanted columns, the most frequent one of equals."""

    def found(separator: str) -> tuple[int, int]:
        cells = {cell.strip().strip('"') for cell in header.split(separator)}
        return len(cells & set(wanted)), header.count(separator)

    return max(SEPARATORS, key=found)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
