"""Files of rows (plain lines, tables, JSON lines): checked once, then read again row by row.

Where each row begins is remembered, not what it holds, so memory does not grow with the texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.engine.text_lines import Lines, opened, state_of_open
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.unchanged import changed

TEXT = "text"
"""The one column of a file of plain lines."""

Row = Mapping[str, Any]


class Places(NamedTuple):
    """Where rows stand."""

    offsets: array[int]
    lines: array[int]
    last_line: int
    """Blank lines may follow the last row."""


class RowFile:
    """A file of rows. A subclass says how the rows of an open file are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: tuple[str, ...] = ()
        self._offsets = array("q")
        self._lines = array("q")
        self._last_line = 0
        self._end = 0

    def __len__(self) -> int:
        return len(self._offsets)

    def where(self, row: int) -> str:
        """File and line of a row, for messages."""
        return f"{self.path}, line {self._lines[row]}"

    def scan(self) -> Iterator[Row]:
        """Every row, in order; afterwards rows can be read by number."""
        with opened(self.path) as file:
            self._state = state_of_open(file)
            lines = Lines(self.path, file)
            yield from self._noted(lines)
            self._end = lines.position

    def _noted(self, lines: Lines) -> Iterator[Row]:
        for offset, line, row in self._rows(lines):
            self._offsets.append(offset)
            self._lines.append(line)
            yield row
        self._last_line = lines.number

    @property
    def places(self) -> Places:
        """Where the rows stand that were scanned."""
        return Places(self._offsets, self._lines, self._last_line)

    def add_places(self, later: Places) -> None:
        """Rows that another one scanned, who began to count lines behind those that are known."""
        self._offsets.extend(later.offsets)
        self._lines.extend(self._last_line + line for line in later.lines)
        self._last_line += later.last_line

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows, by number; neighbours are read in one go."""
        with self._unchanged() as file:
            last = -2
            found: Iterator[tuple[int, int, Row]] = iter(())
            for row in rows:
                if row != last + 1:
                    file.seek(self._offsets[row])
                    found = self._rows(Lines(self.path, file, self._offsets[row], self._lines[row]))
                last = row
                yield next(found)[2]

    def portion(self, rows: Sequence[int], *, whole: bool = False) -> FilePortion:
        """Some of the rows as they stand in the file, read by whoever needs them; `whole`: their text goes along."""
        with self._unchanged() as file:
            return FilePortion(self, [self._piece(file if whole else None, *near) for near in neighbours(rows)])

    def _piece(self, file: IO[bytes] | None, first: int, last: int) -> Piece:
        begin = self._offsets[first]
        end = self._offsets[last + 1] if last + 1 < len(self._offsets) else self._end
        content = None if file is None else at(file, begin, end)
        return Piece(begin, end, self._lines[first], last - first + 1, content)

    def _contents(self, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, bytes]]:
        """Each piece with its text, read from the file where it did not come along."""
        if all(piece.content is not None for piece in pieces):
            yield from ((piece, piece.content or b"") for piece in pieces)
            return
        with self._unchanged() as file:
            yield from ((piece, at(file, piece.offset, piece.end)) for piece in pieces)

    def _unchanged(self) -> IO[bytes]:
        file = opened(self.path)
        if state_of_open(file) != self._state:
            file.close()
            raise changed(self.path)
        return file

    def _rows(self, lines: Lines) -> Iterator[tuple[int, int, Row]]:
        """(offset, line number, row) of the rows from where the file stands."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_offsets": array("q"), "_lines": array("q")}  # a portion knows where its rows stand


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
            lines = Lines(path, BytesIO(content), piece.offset, piece.line)
            for _, line, row in islice(self.file._rows(lines), piece.rows):
                yield f"{path}, line {line}", row


class PlainLines(RowFile):
    """One text per line; an empty line is an empty text."""

    def _rows(self, lines: Lines) -> Iterator[tuple[int, int, Row]]:
        for text in lines:
            yield lines.start, lines.number, {TEXT: text.rstrip("\r\n")}


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


def at(file: IO[bytes], begin: int, end: int) -> bytes:
    """What stands there in an open file."""
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
