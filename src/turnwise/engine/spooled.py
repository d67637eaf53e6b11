"""Records that come one by one, from a generator or a query: written to a file as they come, never held together."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.kernel.errors import InputError, TurnwiseError, shorten
from turnwise.kernel.jsontext import dumps


def comes_one_by_one(value: object) -> bool:
    """Whether a value is a stream of records: anything to iterate over that is no list, no path and no text."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | os.PathLike | Mapping | Sequence)


def spool(records: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """The records with each stream as a JSONL file, and the folder of these files; None where there is no stream."""
    streams = [name for name, value in records.items() if comes_one_by_one(value)]
    if not streams:
        return dict(records), None
    folder = Path(tempfile.mkdtemp(prefix="turnwise-"))
    try:
        written = {name: _write(folder / f"{name}.jsonl", name, records[name]) for name in streams}
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return {**records, **written}, folder


def name_records(error: TurnwiseError, folder: Path) -> None:
    """Put the places of records in their streams into an error: nobody knows the files that they were written to."""
    line = re.compile(re.escape(f"{folder}{os.sep}") + r"(\w+)\.jsonl, line (\d+)(?:, (?:column|byte) \d+)?")

    def told(text: str | None) -> str | None:
        return text and line.sub(lambda found: f"{found[1]}[{int(found[2]) - 1}]", text)

    for name in ("what", "where", "found", "expected", "remedy"):
        setattr(error, name, told(getattr(error, name)))
    error.args = (error.message,)


def _write(path: Path, name: str, records: Iterable[Any]) -> Path:
    with _or_no_room(path):
        file = path.open("w", encoding="utf-8")
    try:
        for number, record in enumerate(records):
            line = _line(record, f"{name}[{number}]")
            with _or_no_room(path):
                file.write(line)
    finally:
        with _or_no_room(path):
            file.close()
    return path


@contextmanager
def _or_no_room(path: Path) -> Iterator[None]:
    """What the file system says while something is written; whoever yields the records may raise the same errors."""
    try:
        yield
    except OSError as error:
        raise TurnwiseError(
            "the records cannot be kept while they are measured",
            where=str(path.parent),
            found=error.strerror or str(error),
            remedy="make room, or set TMPDIR to a folder that has some",
        ) from error


def _line(record: Any, where: str) -> str:
    """A record as a line of JSON."""
    if not isinstance(record, Mapping):
        raise InputError("a record is not a dictionary", where=where, found=shorten(record))
    try:
        text = dumps(dict(record))
    except (TypeError, ValueError) as error:
        raise InputError(
            "a record holds something that JSON cannot write",
            where=where,
            found=str(error),
            expected="text, numbers, lists and dictionaries",
        ) from error
    # JSON has no NaN and no infinity: they are written as if nothing were there.
    if "null" in text and (odd := _not_finite(record)) is not None:
        raise InputError(
            "a record holds a number that is not finite",
            where=where,
            found=str(odd),
            expected="a finite number, or None where there is none",
        )
    return f"{text}\n"


def _not_finite(value: Any) -> Any:
    """A number inside that is NaN or infinite; None where there is none."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, list | tuple):
        return next((odd for one in value if (odd := _not_finite(one)) is not None), None)
    return value if isinstance(value, float | np.floating) and not np.isfinite(value) else None
