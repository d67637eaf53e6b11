"""From a file or folder to dialogues: detect the format, and read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.dialogue.formats import jsonl, multiwoz21, multiwoz22_rows, predictions, schema_guided, table, tau_bench
from turnwise.dialogue.formats.base import BOM, Dialogues, HeldDialogues, is_there, missing_file, read_json
from turnwise.dialogue.formats.streamed import StreamedDialogues
from turnwise.engine.parquet_rows import MAGIC, SUFFIXES
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.jsontext import JSONDecodeError, loads


class Reader(NamedTuple):
    """A format that is read as a whole."""

    name: str
    looks_like: Callable[[Any], bool]
    read: Callable[[Path, Any, str], HeldDialogues]
    """From the path, the parsed data and the hash of the file."""
    read_predictions: Callable[[Path, Any, str], HeldDialogues] | None = None
    """Where predictions are read otherwise than references."""


READERS = (
    Reader(multiwoz21.NAME, multiwoz21.looks_like, multiwoz21.read),
    Reader(multiwoz22_rows.NAME, multiwoz22_rows.looks_like, multiwoz22_rows.read),  # before its kin with other frames
    Reader(schema_guided.NAME, schema_guided.looks_like, schema_guided.read, schema_guided.read_predictions),
    Reader(schema_guided.SGD, schema_guided.looks_like_sgd, schema_guided.read_sgd),
    Reader(tau_bench.NAME, tau_bench.looks_like, tau_bench.read),
    Reader(predictions.NAME, predictions.looks_like, predictions.read),
)
STREAMED: dict[str, type[StreamedDialogues]] = {
    jsonl.NAME: jsonl.JsonlDialogues,
    table.CSV: table.CsvDialogues,
    table.PARQUET: table.ParquetDialogues,
}
"""Formats with an exchange per row."""
FORMATS = (*STREAMED, *(reader.name for reader in READERS))
FOLDERS = (None, schema_guided.NAME, schema_guided.SGD)
"""Formats that may be a folder."""
ZIP = b"PK\x03\x04"


def read_dialogues(path: Path | list[dict[str, Any]], form: str | None = None, side: str = "records") -> Dialogues:
    """A file of dialogues in a named format, or in the one it looks like; or exchanges that are already in memory."""
    if not isinstance(path, Path):
        return jsonl.held(path, side)
    if is_there(path) and not path.is_file() and not path.is_dir():
        raise InputError(
            f"{path} is a pipe or a device",
            where=str(path),
            found="something that can be read only once",
            expected="a file: it is read twice",
            remedy="save it to a file first",
        )
    if form is not None and form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r}", expected=", ".join(FORMATS), remedy=near_misses(form, FORMATS) or None
        )
    if is_there(path, Path.is_dir) and form in FOLDERS:
        data, sha256 = schema_guided.read_folder(path)
    else:
        begins = _peek(path)
        streamed = _streamed(path, begins) if form is None else STREAMED.get(form)
        if streamed is not None:
            return streamed(path)
        data, sha256 = _parsed(path, begins, form)
    for reader in READERS:
        if form == reader.name or (form is None and reader.looks_like(data)):
            read = (side == "predictions" and reader.read_predictions) or reader.read
            return read(path, data, sha256)
    raise InputError(
        "the format of the file is not known",
        where=str(path),
        found=f"a JSON {type(data).__name__}"
        + (f" with the keys {', '.join(list(data)[:5])}" if isinstance(data, dict) else ""),
        expected=f"one of {', '.join(FORMATS)}",
        remedy="convert it to turnwise JSONL (docs/dialogue.md), or name the format",
    )


class _Beginning(NamedTuple):
    """How a file begins."""

    start: bytes
    line: bytes = b""
    """The first line that is not blank, of a file of text."""
    first: dict[str, Any] | None = None
    """The same, if it is a whole JSON object."""


def _peek(path: Path) -> _Beginning:
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start in (ZIP, MAGIC):
                return _Beginning(start)
            file.seek(0)
            lines = (line.removeprefix(BOM).strip() for line in file)
            line = next((line for line in lines if line), b"")
    except (OSError, ValueError) as error:
        raise missing_file(path, error if isinstance(error, OSError) else OSError(0, str(error))) from error
    try:
        found = loads(line) if line.startswith(b"{") else None
    except JSONDecodeError:
        found = None
    return _Beginning(start, line, found if isinstance(found, dict) else None)


def _streamed(path: Path, begins: _Beginning) -> type[StreamedDialogues] | None:
    """The format with an exchange per row that a file looks like; None where it has another format."""
    kind = path.suffix.lower()
    if begins.start == MAGIC or kind in SUFFIXES:
        return None if multiwoz22_rows.is_row_table(path) else table.ParquetDialogues
    if begins.start == ZIP or multiwoz22_rows.is_row(begins.first):
        return None
    if kind in (".jsonl", ".ndjson") or (begins.first is not None and "dialogue_id" in begins.first):
        return jsonl.JsonlDialogues
    return table.CsvDialogues if kind in table.CSV_SUFFIXES or table.is_header(begins.line) else None


def _parsed(path: Path, begins: _Beginning, form: str | None) -> tuple[Any, str]:
    """What is in a file that is read as a whole, with the hash of its bytes."""
    if begins.start == MAGIC:
        return multiwoz22_rows.read_parquet(path)
    if multiwoz22_rows.is_row(begins.first) or (form == multiwoz22_rows.NAME and begins.first is not None):
        return multiwoz22_rows.read_lines(path)
    return read_json(path)
