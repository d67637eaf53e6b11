"""Files beside a run: written whole or not at all, CSV that a spreadsheet cannot mistake for formulas."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from turnwise.kernel.errors import TurnwiseError, UsageError

_SPECIAL = re.compile(r'[,"\r\n]')
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A text file that appears under its name only when it is complete."""
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe or a device is written to, not replaced
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise TurnwiseError(
            f"{path} cannot be written", found=error.strerror or str(error), remedy="check the folder, or name another"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def make_folder(path: Path) -> Path:
    """The folder, made if needed."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {path} cannot be a folder", found=error.strerror or str(error)) from error
    return path


def write_json(path: Path, value: Any) -> Path:
    """Indented JSON, UTF-8."""
    with whole_file(path) as file:
        json.dump(value, file, ensure_ascii=False, indent=2, allow_nan=False)
        file.write("\n")
    return path


class CsvWriter:
    """CSV rows into an open file, the header first; None is an empty cell."""

    def __init__(self, file: IO[str], header: Sequence[str]) -> None:
        self._file = file
        self.write(header)

    def write(self, row: Sequence[Any]) -> None:
        """One more row."""
        self._file.write(",".join([_quoted(safe_cell(cell)) for cell in row]) + "\n")


def _quoted(cell: Any) -> str:
    """A cell as RFC 4180 has it. Python's writer leaves a lone carriage return bare, which breaks the row."""
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """A whole CSV file."""
    with whole_file(path) as file:
        writer = CsvWriter(file, header)
        for row in rows:
            writer.write(row)
    return path


def safe_cell(cell: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets a leading apostrophe; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell


def describe_files(folder: Path, paths: Iterable[Path]) -> list[tuple[str, str, str, int]]:
    """(name, path, sha256, bytes) of each file, for the store."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        found.append((str(path.relative_to(folder)), str(path.resolve()), sha256, path.stat().st_size))
    return found
