"""From bytes to text, tables and JSON values of the expected type; everything else is refused with its place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SEPARATORS = (",", ";", "\t", "|")


def read_bytes(path: Path) -> bytes:
    """The content of a file, without a byte order mark of UTF-8."""
    try:
        return path.read_bytes().removeprefix(BOM)
    except OSError as error:
        found = error.strerror or str(error)
        raise InputError(f"{path} cannot be read", found=found, remedy="check the path") from error


def read_start(path: Path, size: int = 4096) -> bytes:
    """How a file begins, without a byte order mark of UTF-8."""
    try:
        with path.open("rb") as file:
            return file.read(size).removeprefix(BOM)
    except OSError as error:
        found = error.strerror or str(error)
        raise InputError(f"{path} cannot be read", found=found, remedy="check the path") from error


def read_text(path: Path) -> str:
    """Text in UTF-8, or in UTF-16 with a byte order mark."""
    data = read_bytes(path)
    encoding = "utf-16" if data.startswith(UTF_16) else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            "the text is not UTF-8",
            where=f"{path}, byte {error.start + 1}",
            found=shorten(data[max(0, error.start - 10) : error.start + 10]),
            expected="UTF-8, or UTF-16 with a byte order mark",
            remedy="save the file as UTF-8",
        ) from error


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Place and text of every line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line.rstrip("\r")


def read_json(path: Path) -> Any:
    """The value in a JSON file."""
    return parsed(read_bytes(path), str(path))


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and value of every line of a file with one JSON object per line."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, object_in(parsed(line, where), where, "the line")


def parsed(data: bytes, where: str) -> Any:
    """A JSON value; broken ones are told from those that were cut off."""
    try:
        return loads(data)
    except JSONDecodeError as error:
        if not data.strip():
            raise InputError("the file is empty", where=where, expected="JSON") from error
        try:
            text = data.decode()
        except UnicodeDecodeError as reason:
            found = f"byte {reason.start}: {reason.reason}"
            raise InputError("this is not UTF-8 text", where=where, found=found, expected="JSON in UTF-8") from error
        place = where if ", line " in where else f"{where}, line {error.lineno}, column {error.colno}"
        if error.pos >= len(text.rstrip()):
            remedy = "it was probably cut off when it was written or copied: write it again"
            raise InputError(
                "it ends in the middle of a JSON value", where=place, found=error.msg, remedy=remedy
            ) from error
        around = shorten(text[error.pos : error.pos + 40])
        remedy = "write it with a JSON library; NaN and Infinity are not JSON"
        raise InputError("this is not JSON", where=place, found=f"{error.msg}, at {around}", remedy=remedy) from error


def read_table(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Place and cells of every row of a table with a header; these columns must be there."""
    text = read_text(path)
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns: list[str] = []
    try:
        columns = [name.strip() for name in next(reader, [])]
        _check_header(columns, needed, f"{path}, line 1")
        for cells in reader:
            where = f"{path}, line {reader.line_num}"
            if len(cells) == len(columns):
                yield where, dict(zip(columns, map(str.strip, cells), strict=True))
            elif any(cells):
                raise InputError(
                    "the row does not fit the header",
                    where=where,
                    found=f"{len(cells)} cells: {shorten(separator.join(cells))}",
                    expected=f"{len(columns)} cells: {', '.join(columns)}",
                    remedy=f'put cells that hold {separator!r}, quotes or line breaks in double quotes ("")',
                )
    except csv.Error as error:
        place = f"{path}, line {max(1, reader.line_num)}"
        raise InputError("the row cannot be read", where=place, found=str(error)) from error


def _check_header(columns: list[str], needed: tuple[str, ...], where: str) -> None:
    for name in needed:
        if name not in columns:
            raise InputError(
                f"the column {name!r} is missing",
                where=where,
                found=", ".join(columns) or "an empty file",
                expected=", ".join(needed),
                remedy=near_misses(name, columns) or None,
            )
    if len(set(columns)) < len(columns):
        raise InputError("a column stands twice in the header", where=where, found=", ".join(columns))


# Values of the expected type


def object_in(value: Any, where: str, name: str) -> dict[str, Any]:
    """A JSON object."""
    return value if isinstance(value, dict) else _wrong(value, where, name, "an object {...}")


def list_in(value: Any, where: str, name: str) -> list[Any]:
    """A JSON list."""
    return value if isinstance(value, list) else _wrong(value, where, name, "a list [...]")


def text_in(value: Any, where: str, name: str) -> str:
    """A text; nothing is the empty one."""
    return "" if value is None else value if isinstance(value, str) else _wrong(value, where, name, "a text")


def scalar_text(value: Any) -> str | None:
    """A text, number or truth value as text; None for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def _wrong(value: Any, where: str, name: str, expected: str) -> NoReturn:
    raise InputError(f"{name} has the wrong type", where=where, found=shorten(value), expected=expected)
