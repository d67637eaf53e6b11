"""Records that come one by one, from a generator or a query: written to a file as they come, never held together."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise TurnwiseError(
            "the records cannot be kept while they are measured",
            where=str(folder),
            found=error.strerror or str(error),
            remedy="make room, or set TMPDIR to a folder that has some",
        ) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return {**records, **written}, folder


def _write(path: Path, name: str, records: Iterable[Any]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, record in enumerate(records):
            where = f"{name}[{number}]"
            if not isinstance(record, Mapping):
                raise InputError("a record is not a dictionary", where=where, found=shorten(record))
            try:
                file.write(dumps(dict(record)) + "\n")
            except (TypeError, ValueError) as error:
                raise InputError(
                    "a record holds something that JSON cannot write",
                    where=where,
                    found=str(error),
                    expected="text, numbers, lists and dictionaries",
                ) from error
    return path
