"""Tables about several conversations: `labels.csv`, `labels.jsonl` and `metadata.csv`, in any folder of the data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.duplex.categories import category_named, language_named
from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Tally
from turnwise.duplex.formats.files import json_lines, read_table, text_in
from turnwise.duplex.formats.listing import AUDIO, Listing
from turnwise.duplex.formats.spans import moment, moment_from_text
from turnwise.duplex.records import CATEGORY, LANGUAGE, Timeline
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import clean

LABELS, LABEL_LINES, METADATA = "labels.csv", "labels.jsonl", "metadata.csv"
LONGEST_DIMENSION = 80
"""A longer text in a column of `metadata.csv` is no dimension."""


class Row(NamedTuple):
    """A label of a table."""

    start: float
    end: float
    label: str
    text: str
    where: str


class Tables:
    """What the tables in a folder say, by conversation."""

    def __init__(self, found: Listing, keys: Collection[str], tally: Tally) -> None:
        self._found, self._keys, self._tally = found, keys, tally
        self._labels: dict[str, list[Row]] = defaultdict(list)
        self._about: dict[str, dict[str, str]] = {}
        names = [] if found.lone else found.having(LABELS, LABEL_LINES, METADATA)
        self.files: list[Path] = [found.root / name for name in names]
        for name in names:
            if name.endswith(METADATA):
                self._read_metadata(name)
            else:
                self._read_labels(name)

    def annotate(self, key: str, annotation: Annotation) -> None:
        """Add the labels of a conversation."""
        for row in self._labels.get(key, ()):
            annotation.mark(row.label, row.start, row.end, row.text, row.where)

    def timeline(self, key: str, **known: Any) -> Timeline:
        """A conversation of which only language, category and dimensions are known, and what `known` tells."""
        about = dict(self._about.get(key, {}))
        language, category = about.pop(LANGUAGE, ""), about.pop(CATEGORY, "")
        return Timeline(
            key=key,
            language=usual_language(language) or self._language_of(key),
            category=usual_category(category),
            metadata=about,
            **known,
        )

    def _language_of(self, key: str) -> str | None:
        """The language that a folder is called after."""
        names = [self._found.root.resolve().name, *key.split("/")[:-1]]
        return next((known for name in reversed(names) if (known := language_named(name))), None)

    def _key(self, written: str, name: str) -> str | None:
        """The conversation that a row is about; keys may be relative to the table's own folder."""
        folder = name.rpartition("/")[0]
        plain = written[: written.rindex(".")] if written.lower().endswith(AUDIO) else written
        given = [clean(one) for one in (written, plain)]
        inside = [f"{folder}/{one}" for one in given] if folder else []
        return next((one for one in (*inside, *given) if one in self._keys), None)

    def _read_labels(self, name: str) -> None:
        path = self._found.root / name
        for where, written, row in _csv_labels(path) if name.endswith(LABELS) else _json_labels(path):
            key = self._key(written, name)
            if key is None:
                self._tally.add("labels", "labels of an unknown conversation were left out", f"{where}: {written}")
                continue
            Annotation().mark(row.label, row.start, row.end, row.text, where)  # what is wrong is said now
            self._labels[key].append(row)

    def _read_metadata(self, name: str) -> None:
        for where, cells in read_table(self._found.root / name, ("key",)):
            written = cells.pop("key")
            key = self._key(written, name)
            if key is None:
                self._tally.add("input", "metadata of an unknown conversation were left out", f"{where}: {written}")
            elif key in self._about:
                raise InputError("the same key stands twice", where=where, found=written, expected="every key once")
            else:
                long = [column for column, cell in cells.items() if len(cell) > LONGEST_DIMENSION]
                for column in long:
                    self._tally.add("input", "metadata too long to slice by were left out", f"{key}: {column}")
                self._about[key] = {one: cell for one, cell in cells.items() if cell and one and one not in long}


@lru_cache(maxsize=256)
def usual_language(name: str | None) -> str | None:
    """A language as the challenge calls it (`cn`, `en`); one that it does not have stays as it is."""
    return language_named(name or "") or name or None


@lru_cache(maxsize=256)
def usual_category(name: str | None) -> str | None:
    """A category as the challenge spells it; one that it does not have stays as it is."""
    known = category_named(name or "")
    return known.name if known else name or None


def _csv_labels(path: Path) -> Iterator[tuple[str, str, Row]]:
    for where, cells in read_table(path, ("key", "start", "end", "label")):
        start, end = (moment_from_text(cells[name], where, name) for name in ("start", "end"))
        yield where, cells["key"], Row(start, end, cells["label"], cells.get("text", ""), where)


def _json_labels(path: Path) -> Iterator[tuple[str, str, Row]]:
    for where, row in json_lines(path):
        key = row.get("key")
        if not isinstance(key, str) or not key:
            raise InputError("key is missing", where=where, found=shorten(row), expected="key, start, end, label")
        start, end = (moment(row.get(name), where, name) for name in ("start", "end"))
        label, text = (text_in(row.get(name), where, name) for name in ("label", "text"))
        yield where, key, Row(start, end, label, text, where)
