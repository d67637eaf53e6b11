"""Files of rows (plain lines, tables, JSON lines): checked once, then read again row by row.

Where each row begins is remembered, not what it holds, so memory does not grow with the texts.
"""

from __future__ import annotations

import csv
import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.kernel.unchanged import FileState, changed, state_of

BOM = b"\xef\xbb\xbf"
SEPARATORS = ("|", "\t", ",", ";")
"""Separators of tables; the first one that splits the header into the wanted columns is it."""
BLOCK = 4 << 20
"""Bytes of a block, and the rest of its last line."""
LONGEST_CELL = 2**31 - 1
"""Characters of a cell; Python's own limit would refuse a long document."""
TEXT = "text"
"""The one column of a file of plain lines."""

Row = Mapping[str, Any]


class RowFile:
    """A file of rows. A subclass says how the rows of an open file are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: tuple[str, ...] = ()
        self._offsets = array("q")
        self._lines = array("q")
        self._end = 0

    def __len__(self) -> int:
        return len(self._offsets)

    def where(self, row: int) -> str:
        """File and line of a row, for messages."""
        return f"{self.path}, line {self._lines[row]}"

    def scan(self) -> Iterator[Row]:
        """Every row, in order; afterwards rows can be read by number."""
        with opened(self.path) as file:
            self._state = _state(file)
            lines = _Lines(self.path, file)
            yield from self._noted(lines)
            self._end = lines.position

    def _noted(self, lines: _Lines) -> Iterator[Row]:
        for offset, line, row in self._rows(lines):
            self._offsets.append(offset)
            self._lines.append(line)
            yield row

    @property
    def places(self) -> tuple[array[int], array[int]]:
        """Where the rows stand that were scanned."""
        return self._offsets, self._lines

    def add_places(self, places: tuple[array[int], array[int]]) -> None:
        """Rows that another one scanned, behind those that are known."""
        self._offsets.extend(places[0])
        self._lines.extend(places[1])

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows, by number; neighbours are read in one go."""
        with self._unchanged() as file:
            last = -2
            found: Iterator[tuple[int, int, Row]] = iter(())
            for row in rows:
                if row != last + 1:
                    file.seek(self._offsets[row])
                    found = self._rows(_Lines(self.path, file, self._offsets[row], self._lines[row]))
                last = row
                yield next(found)[2]

    def portion(self, rows: Sequence[int], *, whole: bool = False) -> FilePortion:
        """Some of the rows as they stand in the file, read by whoever needs them; `whole`: their text goes along."""
        with self._unchanged() as file:
            return FilePortion(self, [self._piece(file if whole else None, *near) for near in neighbours(rows)])

    def _piece(self, file: IO[bytes] | None, first: int, last: int) -> Piece:
        begin = self._offsets[first]
        end = self._offsets[last + 1] if last + 1 < len(self._offsets) else self._end
        content = None if file is None else _at(file, begin, end)
        return Piece(begin, end, self._lines[first], last - first + 1, content)

    def _contents(self, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, bytes]]:
        """Each piece with its text, read from the file where it did not come along."""
        if all(piece.content is not None for piece in pieces):
            yield from ((piece, piece.content or b"") for piece in pieces)
            return
        with self._unchanged() as file:
            yield from ((piece, _at(file, piece.offset, piece.end)) for piece in pieces)

    def _unchanged(self) -> IO[bytes]:
        file = opened(self.path)
        if _state(file) != self._state:
            file.close()
            raise changed(self.path)
        return file

    def _rows(self, lines: _Lines) -> Iterator[tuple[int, int, Row]]:
        """(offset, line number, row) of the rows from where the file stands."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_offsets": array("q"), "_lines": array("q")}  # a portion knows where its rows stand


class Block(NamedTuple):
    """Whole lines of a file."""

    offset: int
    line: int
    length: int


class Piece(NamedTuple):
    """Neighbouring rows as they stand in a file."""

    offset: int
    end: int
    line: int
    rows: int
    content: bytes | None
    """None for whoever can read the file."""


@dataclass(frozen=True, slots=True)
class FilePortion:
    """Some rows of a file, not read yet: quick to send to a worker, which reads them."""

    file: RowFile
    pieces: Sequence[Piece]

    def __len__(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        path = self.file.path
        for piece, content in self.file._contents(self.pieces):
            lines = _Lines(path, BytesIO(content), piece.offset, piece.line)
            for _, line, row in islice(self.file._rows(lines), piece.rows):
                yield f"{path}, line {line}", row


class PlainLines(RowFile):
    """One text per line; an empty line is an empty text."""

    def _rows(self, lines: _Lines) -> Iterator[tuple[int, int, Row]]:
        for text in lines:
            yield lines.start, lines.number, {TEXT: text.rstrip("\r\n")}


class Table(RowFile):
    """A table with a header and a separator."""

    def __init__(self, path: Path, wanted: Collection[str] = (), separator: str | None = None) -> None:
        """Read the header; `wanted` are columns that help to find the separator where none is given."""
        super().__init__(path)
        csv.field_size_limit(LONGEST_CELL)
        with opened(path) as file:
            lines = _Lines(path, file)
            header = next(iter(lines), "")
            if not header.strip():
                raise InputError("the table has no header", where=f"{path}, line 1", expected=_listed(wanted))
            self._separator = separator or _separator(header, wanted)
            self.columns = tuple(name.strip() for name in self._cells(header, f"{path}, line 1"))
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

    def _rows(self, lines: _Lines) -> Iterator[tuple[int, int, Row]]:
        if lines.position < self._after_header:
            next(lines)
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
        try:
            return next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error as error:
            raise InputError("the header cannot be read", where=where, found=str(error)) from error


class JsonLines(RowFile):
    """One JSON object per line; blank lines are passed over."""

    def __init__(self, path: Path, example: str = '{"id": "1", "hypothesis": "...", "reference": "..."}') -> None:
        """`example` is a line as it should be, for messages."""
        super().__init__(path)
        self._example = example

    def blocks(self) -> list[Block]:
        """The file in blocks of whole lines, which can be read apart from each other."""
        found = []
        with opened(self.path) as file:
            self._state = _state(file)
            offset, line = 0, 1
            while content := file.read(BLOCK):
                content += file.readline()
                found.append(Block(offset, line, len(content)))
                offset, line = offset + len(content), line + content.count(b"\n")
        self._end = offset
        return found

    def scan_block(self, block: Block) -> Iterator[Row]:
        """Every row of a block; of all blocks in their order, it is what `scan` gives."""
        with self._unchanged() as file:
            file.seek(block.offset)
            content = BytesIO(file.read(block.length))
        yield from self._noted(_Lines(self.path, content, block.offset, block.line))

    def _rows(self, lines: _Lines) -> Iterator[tuple[int, int, Row]]:
        for text in lines:
            if not text.strip():
                continue
            where = f"{self.path}, line {lines.number}"
            try:
                row = loads(text)
            except JSONDecodeError as error:
                raise InputError(
                    "the line is not JSON",
                    where=f"{where}, column {error.colno}",
                    found=shorten(text.strip()),
                    expected=f"one JSON object per line, e.g. {self._example}",
                ) from error
            if not isinstance(row, dict):
                raise InputError(
                    "the line is not a JSON object", where=where, found=shorten(row), expected="an object per line"
                )
            yield lines.start, lines.number, row


class HeldRows:
    """Rows in memory, read like a file."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows
        self.columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, row: int) -> str:
        """Which record, for messages."""
        return f"data[{row}]"

    def scan(self) -> Iterator[Row]:
        """Every record."""
        for number, row in enumerate(self._rows):
            if not isinstance(row, Mapping):
                raise InputError("a record is not a dictionary", where=self.where(number), found=shorten(row))
            yield row

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the records, by number."""
        return (self._rows[row] for row in rows)


def _at(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


def neighbours(rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of the rows that follow each other.

    >>> list(neighbours([4, 5, 6, 2, 3]))
    [(4, 6), (2, 3)]
    """
    for _, found in groupby(enumerate(rows), key=lambda place: place[1] - place[0]):
        same = [row for _, row in found]
        yield same[0], same[-1]


class _Lines:
    """The decoded lines of an open file, and where the last one began."""

    def __init__(self, path: Path, file: IO[bytes], position: int = 0, number: int = 1) -> None:
        self._path, self._file = path, file
        self.position = position
        """Where the next line begins."""
        self.start = position
        self.number = number - 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self.start, self.number = self.position, self.number + 1
        self.position += len(line)
        return decoded(line.removeprefix(BOM) if self.start == 0 else line, f"{self._path}, line {self.number}")


def decoded(data: bytes, where: str) -> str:
    """Text in UTF-8; anything else is refused with its place."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "the text is not UTF-8",
            where=f"{where}, byte {error.start + 1}",
            found=shorten(data[max(0, error.start - 10) : error.start + 10]),
            expected="UTF-8",
            remedy="save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
        ) from error


def opened(path: Path) -> IO[bytes]:
    """A file that is there, open for reading."""
    try:
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "a pipe or a device"
            raise InputError(
                f"{path} is not a regular file", found=what, remedy="files are read more than once: save it as a file"
            )
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read", found=error.strerror or str(error), remedy="check the path"
        ) from error


def _state(file: IO[bytes]) -> FileState:
    return state_of(os.fstat(file.fileno()))


def _separator(header: str, wanted: Collection[str]) -> str:
    """The separator that finds most of the wanted columns, the most frequent one of equals."""

    def found(separator: str) -> tuple[int, int]:
        cells = {cell.strip().strip('"') for cell in header.split(separator)}
        return len(cells & set(wanted)), header.count(separator)

    return max(SEPARATORS, key=found)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
