"""From a file or folder to dialogues: detect the format, and read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.dialogue.formats import jsonl, multiwoz21, multiwoz22_rows, predictions, schema_guided, tau_bench
from turnwise.dialogue.formats.base import BOM, Dialogues, HeldDialogues, is_there, missing_file, read_json
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
FORMATS = (jsonl.NAME, *(reader.name for reader in READERS))
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
        start, first = _peek(path)
        if form == jsonl.NAME or (form is None and _is_jsonl(path, start, first)):
            return jsonl.JsonlDialogues(path)
        data, sha256 = _parsed(path, start, first, form)
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


def _peek(path: Path) -> tuple[bytes, dict[str, Any] | None]:
    """How a file begins, and its first line if that is a whole JSON object."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start in (ZIP, multiwoz22_rows.PARQUET):
                return start, None
            file.seek(0)
            lines = (line.removeprefix(BOM).strip() for line in file)
            first = next((line for line in lines if line), b"")
    except (OSError, ValueError) as error:
        raise missing_file(path, error if isinstance(error, OSError) else OSError(0, str(error))) from error
    try:
        found = loads(first) if first.startswith(b"{") else None
    except JSONDecodeError:
        return start, None
    return start, found if isinstance(found, dict) else None


def _is_jsonl(path: Path, start: bytes, first: dict[str, Any] | None) -> bool:
    """Turnwise JSONL by its name, or because its first line is about one dialogue; not if it is a whole dialogue."""
    if start in (ZIP, multiwoz22_rows.PARQUET) or multiwoz22_rows.is_row(first):
        return False
    return path.suffix in (".jsonl", ".ndjson") or (first is not None and "dialogue_id" in first)


def _parsed(path: Path, start: bytes, first: dict[str, Any] | None, form: str | None) -> tuple[Any, str]:
    """What is in a file that is read as a whole, with the hash of its bytes."""
    if start == multiwoz22_rows.PARQUET:
        return multiwoz22_rows.read_parquet(path)
    if multiwoz22_rows.is_row(first) or (form == multiwoz22_rows.NAME and first is not None):
        return multiwoz22_rows.read_lines(path)
    return read_json(path)
