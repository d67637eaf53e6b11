"""Files of people's ratings: CSV, TSV or JSON lines, one row for each item and rater, cells checked when they are used.

What the columns may be called stands in docs/judge_calibration.md. Nothing here knows of statistics or of the judge.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from turnwise.judge.records import Dimension
from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

ID_COLUMNS = ("id", "item")
RATING_COLUMNS = ("rating", "score", "human")
"""Any of these holds the ratings of the dimension that is asked for, else of the rubric's main one."""
RATER, CLUSTER, JUDGE, MODEL = "rater", "cluster", "judge", "judge_model"
REASONING_COLUMNS = ("judge_reasoning", "reasoning")
SOMEBODY = ""
"""The rater of a file that does not say who rated."""


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One row of the file."""

    line: int
    item: str
    rater: str
    cells: Mapping[str, Any]
    """Column to what stands there; empty cells are left out."""


@dataclass(frozen=True, slots=True)
class RatingsFile:
    """A file of ratings, its shape checked; `rating_of` checks a cell against a dimension."""

    path: Path
    columns: tuple[str, ...]
    items: Mapping[str, Sequence[RatingRow]]
    """The rows of each item, in the order of the file."""

    def rating_of(self, row: RatingRow, column: str, dimension: Dimension) -> float | str | None:
        """What a cell says on a dimension; None for an empty cell, an error for what cannot be a rating."""
        cell = row.cells.get(column)
        if cell is None:
            return None
        where = f"{self.path}, line {row.line}, column {column}"
        return _label(cell, dimension, where) if dimension.scale is None else _number(cell, dimension, where)

    def same_for_item(self, rows: Sequence[RatingRow], column: str) -> Any:
        """What stands in a column of an item, whoever rated it; None where it is empty, an error where rows differ."""
        found = [(row.cells[column], row.line) for row in rows if column in row.cells]
        for cell, line in found[1:]:
            if cell != found[0][0]:
                raise InputError(
                    f"item {rows[0].item!r} has two different values in the column {column}",
                    where=f"{self.path}, lines {found[0][1]} and {line}",
                    found=f"{shorten(found[0][0])} and {shorten(cell)}",
                    expected="the same in all rows of an item, whoever rated it",
                    remedy="give different items different ids",
                )
        return found[0][0] if found else None


def read_ratings(path: Path) -> RatingsFile:
    """Read a file of ratings; what is wrong with its shape is an error that names the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text", found=str(error), remedy="save it as UTF-8") from error
    lines = path.suffix.lower() in (".jsonl", ".ndjson")
    read = list(_json_lines(path, text) if lines else _cells(path, text))
    columns = tuple(dict.fromkeys(name for _, cells in read for name in cells))
    if not read:
        raise InputError(
            f"{path} has no ratings", expected="a row for each item, under a header" if not lines else None
        )
    named = next((name for name in ID_COLUMNS if name in columns), None)
    if named is None and RATER in columns:
        raise InputError(
            f"{path} says who rated, but not what",
            found=f"columns {', '.join(columns)}",
            expected="a column id, so that the ratings of one item by several raters are known to be of one item",
        )
    rows = tuple(_row(path, line, cells, named, RATER in columns, n) for n, (line, cells) in enumerate(read, start=1))
    _check_unique(path, rows, RATER in columns)
    items: dict[str, list[RatingRow]] = {}
    for row in rows:
        items.setdefault(row.item, []).append(row)
    return RatingsFile(path, columns, items)


def _cells(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV file; what separates cells is what the header has most of."""
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        twice = next((name for name in header if name and header.count(name) > 1), None)
        if twice:
            raise InputError(f"{path} has two columns called {twice}", remedy="rename one of them")
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{path}: a row does not fit its header",
                    where=f"line {reader.line_num}",
                    found=f"{len(row)} cells",
                    expected=f"{len(header)}: {', '.join(header)}",
                    remedy="put texts that hold the separator or a line break in double quotes",
                )
            yield reader.line_num, {name: cell for name, cell in zip(header, row, strict=True) if name}
    except csv.Error as error:
        raise InputError(f"{path} is not CSV", where=f"line {reader.line_num}", found=str(error)) from error


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = loads(line)
        except JSONDecodeError as error:
            raise InputError(f"{path} is not JSON lines", where=f"line {number}", found=str(error)) from error
        if not isinstance(found, dict):
            raise InputError(
                f"{path}: a line is no object", where=f"line {number}", found=shorten(found), expected="{...}"
            )
        yield number, {name.strip().lower(): value for name, value in found.items()}


def _row(path: Path, line: int, cells: Mapping[str, Any], named: str | None, by_rater: bool, number: int) -> RatingRow:
    full = {name: cell for name, cell in cells.items() if cell is not None and str(cell).strip()}
    for column in (named, RATER if by_rater else None):
        if column is not None and column not in full:
            raise InputError(f"{path}: a row without {column}", where=f"line {line}", remedy=f"fill in its {column}")
    item = str(number) if named is None else str(full[named]).strip()
    return RatingRow(line, item, str(full[RATER]).strip() if by_rater else SOMEBODY, full)


def _check_unique(path: Path, rows: Sequence[RatingRow], by_rater: bool) -> None:
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        first = seen.setdefault((row.item, row.rater), row.line)
        if first != row.line:
            who = f" by {row.rater!r}" if by_rater else ""
            raise InputError(
                f"item {row.item!r} is rated twice{who}",
                where=f"{path}, lines {first} and {row.line}",
                remedy="keep one of the two" if by_rater else "keep one, or say in a column rater whose rating each is",
            )


def _number(cell: Any, dimension: Dimension, where: str) -> float:
    scale = dimension.scale
    assert scale is not None
    expected = f"a number from {scale.low:g} to {scale.high:g}"
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"not a rating of {dimension.name}", where=where, found=shorten(cell), expected=expected)
    if not scale.low <= value <= scale.high:
        raise InputError(
            f"a rating of {dimension.name} outside its scale",
            where=where,
            found=f"{value:g}",
            expected=expected,
            remedy="correct it, or leave the cell empty if there is no rating",
        )
    return value


def _label(cell: Any, dimension: Dimension, where: str) -> str:
    text = str(cell).strip()
    if text not in dimension.labels:
        raise InputError(
            f"not a label of {dimension.name}",
            where=where,
            found=shorten(cell),
            expected=", ".join(dimension.labels),
            remedy=near_misses(text, dimension.labels) or None,
        )
    return text
