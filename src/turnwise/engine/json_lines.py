"""JSON lines, also in blocks that several processes read at once."""

from __future__ import annotations

from collections.abc import Iterator
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import NamedTuple

from turnwise.engine.rows import Row, RowFile, at
from turnwise.engine.text_lines import Lines, opened, state_of_open
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

BLOCK = 4 << 20
"""Bytes of a block, and the rest of its last line."""
NOT_JSON = "write the file with a JSON library; NaN and Infinity are not JSON"


class Block(NamedTuple):
    """Whole lines of a file."""

    offset: int
    length: int
    line: int = 1
    """The number of its first line, as far as it is known: lines are counted where the block is read."""


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
            self._state = state_of_open(file)
            self._end = file.seek(0, SEEK_END)
            offset = 0
            while offset < self._end:
                file.seek(offset + BLOCK)
                file.readline()
                end = min(file.tell(), self._end)
                found.append(Block(offset, end - offset))
                offset = end
        return found

    def scan_block(self, block: Block) -> Iterator[Row]:
        """Every row of a block; of all blocks in their order, it is what `scan` gives, but for the lines' numbers."""
        with self._unchanged() as file:
            content = BytesIO(at(file, block.offset, block.offset + block.length))
        yield from self._noted(Lines(self.path, content, block.offset, block.line))

    def numbered(self, block: Block) -> Block:
        """The block with the number of its first line, for messages: everything before it is read."""
        line = 1
        with self._unchanged() as file:
            for offset in range(0, block.offset, BLOCK):
                line += at(file, offset, min(offset + BLOCK, block.offset)).count(b"\n")
        return block._replace(line=line)

    def _rows(self, lines: Lines) -> Iterator[tuple[int, int, Row]]:
        for text in lines:
            if not text.strip():
                continue
            where = f"{self.path}, line {lines.number}"
            try:
                row = loads(text)
            except JSONDecodeError as error:
                raise not_json(error, text, where, f"one JSON object per line, e.g. {self._example}") from error
            if not isinstance(row, dict):
                raise InputError(
                    "the line is not a JSON object", where=where, found=shorten(row), expected="an object per line"
                )
            yield lines.start, lines.number, row


def not_json(error: JSONDecodeError, text: str, where: str, expected: str) -> InputError:
    """The error for a line that is not JSON."""
    column = min(error.pos, len(text.rstrip())) + 1
    return InputError(
        "the line is not JSON",
        where=f"{where}, column {column}",
        found=said_at(error, text),
        expected=expected,
        remedy=NOT_JSON,
    )


def said_at(error: JSONDecodeError, text: str) -> str:
    """What the parser says, and what stands there."""
    rest = text[error.pos :].strip()
    return f"{error.msg}, at {shorten(rest[:40])}" if rest else f"{error.msg}, behind {shorten(text.strip()[-40:])}"
