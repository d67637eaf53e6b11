"""A table (CSV, TSV, Parquet) or JSON lines, a row per sample: `id, source, hypothesis, reference`, language, audio."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.audio.remote import url_of
from turnwise.engine.json_lines import JsonLines
from turnwise.engine.parquet_rows import ParquetRows, is_parquet
from turnwise.engine.plan import Finding
from turnwise.engine.rows import HeldRows, RowFile
from turnwise.engine.table import Table
from turnwise.engine.text_lines import opened
from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten
from turnwise.kernel.jsontext import clean, finite
from turnwise.translation.formats.base import Order, Seen, comes_twice, language_matches
from turnwise.translation.languages import language_name, short_code
from turnwise.translation.records import AUDIO, OPERATIONS, Sample

NAMES = ("id", "source", "hypothesis", "reference", "language", "source_language", "document", *AUDIO, *OPERATIONS)
"""Columns with a meaning; any other one is a dimension to slice by."""
LONGEST_DIMENSION = 80
"""A longer text in another column is no dimension."""

_MORE_REFERENCES = re.compile(r"references?_?\d*$")
_LIST = re.compile(r"""\s*\[\s*(["']).*\1\s*\]\s*""", re.DOTALL)
_LIKE_A_LIST = "references that look like a list, each taken as one text: give several in reference, reference_2, ..."


class DataSamples:
    """Rows of a file, or records in memory."""

    mode = "data"

    def __init__(
        self,
        data: Path | Sequence[Mapping[str, Any]],
        columns: Mapping[str, str] | None = None,
        languages: Sequence[str] = (),
    ) -> None:
        self.findings: list[Finding] = []
        self.order = Order()
        self._columns = _renamed(columns or {})
        self._folder = data.parent if isinstance(data, Path) else Path()
        self._languages = languages
        self._rows = _open(data, self._columns) if isinstance(data, Path) else HeldRows(data)
        self._kept: array[int] | None = None
        self._notes: Counter[str] = Counter()
        self._repeated = False
        """Whether an id occurs in several languages, so that the language belongs to the name of a sample."""
        self._index()

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by their numbers among those of the chosen languages."""
        places = numbers if self._kept is None else [self._kept[number] for number in numbers]
        return [self._sample(row, place) for row, place in zip(self._rows.read(places), places, strict=True)]

    def _index(self) -> None:
        keys, ids = Seen(), Seen()
        others = 0
        seen: set[str] = set()
        kept = array("q")
        for place, row in enumerate(self._rows.scan()):
            seen.update(map(str, row))
            if place == 0:
                self._check_columns(row)
            sample = self._sample(row, place, note=True)
            keys.add((sample.language or "", sample.segment))
            ids.add(sample.segment)
            if language_matches(self._languages, sample.language):
                kept.append(place)
                self.order.add(sample.cluster or None)
            else:
                others += 1
        if found := keys.twice():
            raise self._twice(*found)
        self._repeated = ids.twice() is not None
        if not kept:
            raise InputError(
                "there is no sample" + (f" in {', '.join(self._languages)}" if others else ""),
                where=self._rows.where(0) if others else str(getattr(self._rows, "path", "data")),
                found=f"{others} of other languages" if others else "no row",
            )
        if others:
            self._kept = kept
            message = f"rows of other languages than {', '.join(self._languages)}, left out"
            self.findings.append(Finding("other_languages", message, others))
        self.findings += [Finding("input", message, count) for message, count in self._notes.items()]
        missing = [column for column in _parts(self._columns.values()) if column not in seen]
        if missing:
            raise self._no_column(missing[0], seen)

    def _twice(self, place: int, before: int) -> InputError:
        (row,) = self._rows.read([place])
        sample = self._sample(row, place)
        name = ", ".join(part for part in (sample.language, sample.segment) if part)
        return comes_twice("id", name, place, before, self._rows)

    def _no_column(self, name: str, known: Iterable[str]) -> UsageError:
        return UsageError(
            f"--column names {name!r}, which the data do not have",
            expected=", ".join(sorted(known)),
            remedy=near_misses(name, known) or None,
        )

    def _check_columns(self, row: Mapping[str, Any]) -> None:
        renamed = [column for column in _parts(self._columns.values()) if column not in row]
        if renamed and self._rows.columns:
            raise self._no_column(renamed[0], row)
        wanted = ("hypothesis", "hypothesis_audio", "reference_audio")
        if not any(self._columns.get(name, name) in row for name in wanted):
            raise InputError(
                "the data have no column 'hypothesis'",
                where=self._rows.where(0),
                found=", ".join(map(str, row)),
                expected=", ".join(NAMES),
                remedy=near_misses("hypothesis", map(str, row)) or "name it: --column hypothesis=NAME",
            )

    def _sample(self, row: Mapping[str, Any], place: int, note: bool = False) -> Sample:
        where = self._rows.where(place)
        found = {name: row.get(self._columns.get(name, name)) for name in NAMES}
        name = _text(found["id"], "id", where, number=True)
        sample_id = clean((name or "").strip()) or str(place + 1)
        written = _text(found["language"], "language", where) or ""
        language = language_name(written) if written.strip() else self._only_language()
        source_language = _text(found["source_language"], "source_language", where)
        target = short_code(language) if language else ""
        return Sample(
            id=f"{language}/{sample_id}" if self._repeated else sample_id,
            segment=sample_id,
            cluster=_text(found["document"], "document", where, number=True) or "",
            language=language,
            source_language=language_name(source_language) if source_language else None,
            pair=f"{short_code(source_language)}-{target}" if source_language and target else target,
            source=_text(found["source"], "source", where),
            hypothesis=_text(found["hypothesis"], "hypothesis", where),
            references=self._texts(row, where, note),
            metadata=self._metadata(row, note),
            operations=_operations(found, where),
            source_audio=_audio(found, "source_audio", where, self._folder),
            hypothesis_audio=_audio(found, "hypothesis_audio", where, self._folder),
            reference_audio=_audio(found, "reference_audio", where, self._folder),
        )

    def _only_language(self) -> str | None:
        return self._languages[0] if len(self._languages) == 1 else None

    def _texts(self, row: Mapping[str, Any], where: str, note: bool) -> tuple[str | None, ...]:
        """The references: a text or a list of texts, or columns `reference`, `reference_2`, `reference_3` ..."""
        found: list[str | None] = []
        named = self._columns.get("reference")
        names = _parts([named]) if named else sorted(filter(_MORE_REFERENCES.match, row), key=_reference_number)
        for name in names:
            value = row.get(name)
            if note and isinstance(value, str) and _LIST.fullmatch(value):
                self._notes[_LIKE_A_LIST] += 1
            for text in value if isinstance(value, list) else [value]:
                found.append(_text(text, name, where))
        return tuple(found)

    def _metadata(self, row: Mapping[str, Any], note: bool) -> dict[str, str]:
        used = {*_parts(self._columns.values()), *(n for n in NAMES if n not in self._columns)}
        found = {}
        for name, value in row.items():
            if name in used or _MORE_REFERENCES.match(name) or value is None or value == "":
                continue
            if isinstance(value, list | dict) or not finite(value) or len(str(value)) > LONGEST_DIMENSION:
                if note:
                    self._notes[
                        f"values in the column {name!r} that cannot be sliced by (long, or no text), left out"
                    ] += 1
                continue
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
        return found


def _open(path: Path, columns: Mapping[str, str]) -> RowFile | ParquetRows:
    if is_parquet(path):
        return ParquetRows(path)
    kind = path.suffix.lower()
    if kind not in (".jsonl", ".ndjson", ".json", ".csv", ".tsv"):
        with opened(path) as file:
            kind = ".jsonl" if file.read(64).lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{" else ".csv"
    if kind in (".csv", ".tsv"):
        wanted = list(dict.fromkeys([*NAMES, *_parts(columns.values())]))
        return Table(path, wanted, "\t" if kind == ".tsv" else None)
    return JsonLines(path)


def _renamed(columns: Mapping[str, str]) -> dict[str, str]:
    for name in columns:
        if name not in NAMES:
            raise UsageError(
                f"--column {name}=...: there is no such column",
                expected=", ".join(NAMES),
                remedy=near_misses(name, NAMES) or None,
            )
    return dict(columns)


def _reference_number(name: str) -> int:
    """The place of a reference's column: `reference` is the first, `reference_2` the second."""
    digits = "".join(filter(str.isdigit, name))
    return int(digits) if digits else 0


def _parts(names: Iterable[str]) -> list[str]:
    """Columns that are named together: `ref_a,ref_b` for several references."""
    return [part.strip() for name in names for part in name.split(",")]


def _text(value: Any, name: str, where: str, number: bool = False) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if number and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{name} is not a text", where=where, found=shorten(value), expected="a text")


def _audio(found: Mapping[str, Any], name: str, where: str, folder: Path) -> Path | None:
    text = _text(found[name], name, where)
    if not text or not text.strip():
        return None
    return Path(text) if url_of(text) else folder / text


def _operations(found: Mapping[str, Any], where: str) -> dict[str, float]:
    operations = {}
    for name in OPERATIONS:
        value = found[name]
        if value is None or value == "":
            continue
        try:
            number = float(value)
            if not 0 <= number < float("inf"):
                raise ValueError(value)
        except (TypeError, ValueError):
            raise InputError(f"{name} is not a number from 0", where=where, found=shorten(value)) from None
        operations[name] = number
    return operations
