"""Cells of Arrow columns as the values that JSON would hold: texts, numbers, lists, dictionaries and None.

| Arrow | here |
|---|---|
| NULL, NaN | None |
| struct | a dictionary without the fields that are NULL: a struct has every field in every row |
| map | a dictionary |
| list, whatever its size | a list |
| decimal | a whole number where it has no fraction by its type, else a number |
| date, time, timestamp | text, `2025-10-24 10:00:00`, to the microsecond; with a time zone, in UTC |
| binary | text, which has to be UTF-8: some writers do not mark their texts as texts |

Durations, intervals and unions have no form in JSON and are refused before any row is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

from turnwise.kernel.errors import InputError, shorten

Convert = Callable[[Any], Any]


def same(value: Any) -> Any:
    """A value that JSON has, too."""
    return value


class Column:
    """How the cells of one column are read."""

    def __init__(self, pa: Any, name: str, kind: Any, path: str) -> None:
        """`pa` is the package pyarrow; a type that cannot be read is refused here."""
        self.name, self._path = name, path
        self._errors = (ValueError, OverflowError, pa.ArrowException)
        self._wanted = _readable(pa, kind)
        self._cast = self._wanted != kind
        convert = _converter(pa, kind)
        if convert is None:
            raise InputError(
                f"the column {name!r} has a type that cannot be read",
                where=path,
                found=str(kind),
                expected="texts, numbers, dates, lists, structs or maps",
                remedy="write the column as text or as a number, or leave it out",
            )
        self._convert = convert

    def cells(self, array: Any, rows: Sequence[int]) -> list[Any]:
        """Cells of the column; `rows` are the numbers of their rows in the file, from 0."""
        try:
            plain = array.cast(self._wanted, safe=False) if self._cast else array
            values = plain.to_pylist()
            return values if self._convert is same else [self._convert(value) for value in values]
        except self._errors as error:
            raise self._unreadable(array, rows, error) from error

    def _unreadable(self, array: Any, rows: Sequence[int], error: Exception) -> InputError:
        """The error, with the place of the cell."""
        if len(rows) > 1:
            for place, row in enumerate(rows):  # once more, one by one
                try:
                    self.cells(array.slice(place, 1), [row])
                except InputError as found:
                    return found
        return InputError(
            f"the column {self.name!r} holds something that cannot be read",
            where=f"{self._path}, row {rows[0] + 1}",
            found=shorten(str(error)),
            expected="text in UTF-8, a number, a date, or a list or struct of them",
            remedy="write the column anew, or leave it out",
        )


def _readable(pa: Any, kind: Any) -> Any:
    """The type that a column is cast to before it is read: Python has no nanoseconds, and zones need a database."""
    types = pa.types
    if types.is_timestamp(kind):
        return pa.timestamp("us")
    if types.is_time64(kind):
        return pa.time64("us")
    if types.is_struct(kind):
        return pa.struct([field.with_type(_readable(pa, field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_readable(pa, kind.key_type), _readable(pa, kind.item_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(_readable(pa, kind.value_type), kind.list_size)
    if types.is_large_list(kind):
        return pa.large_list(_readable(pa, kind.value_type))
    return pa.list_(_readable(pa, kind.value_type)) if types.is_list(kind) else kind


def _converter(pa: Any, kind: Any) -> Convert | None:
    """What makes a value that JSON has of a value of this type; None where there is none."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return str_or_none if kind.extension_name == "arrow.uuid" else _converter(pa, kind.storage_type)
    if types.is_dictionary(kind):
        return _converter(pa, kind.value_type)
    if types.is_null(kind) or types.is_boolean(kind) or types.is_integer(kind) or _is_text(types, kind):
        return same
    if types.is_floating(kind):
        return number_or_none
    if types.is_decimal(kind):
        return _decimal(whole=kind.scale <= 0)
    if types.is_timestamp(kind):
        return _timestamp("" if kind.tz is None else "+00:00")
    if types.is_date(kind) or types.is_time(kind):
        return _iso
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return _decoded
    return _nested(pa, kind)


def _is_text(types: Any, kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


def _nested(pa: Any, kind: Any) -> Convert | None:
    types = pa.types
    if types.is_struct(kind):
        inner = {field.name: _converter(pa, field.type) for field in kind}
        return None if None in inner.values() else _struct({name: one for name, one in inner.items() if one})
    if types.is_map(kind):
        key, item = _converter(pa, kind.key_type), _converter(pa, kind.item_type)
        return None if key is None or item is None else _map(key, item)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        one = _converter(pa, kind.value_type)
        return None if one is None else _list(one)
    return None


def number_or_none(value: float | None) -> float | None:
    """A number; NaN is what some writers put where there is none."""
    return None if value is None or isnan(value) else float(value)


def str_or_none(value: Any) -> str | None:
    """The text of a value."""
    return None if value is None else str(value)


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _iso(value: Any) -> str | None:
    return None if value is None else value.isoformat()


def _timestamp(zone: str) -> Convert:
    return lambda value: None if value is None else value.isoformat(sep=" ") + zone


def _decimal(*, whole: bool) -> Convert:
    return lambda value: None if value is None else int(value) if whole else float(value)


def _list(one: Convert) -> Convert:
    if one is same:
        return same
    return lambda value: None if value is None else [one(inner) for inner in value]


def _struct(fields: dict[str, Convert]) -> Convert:
    def convert(value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is None:
            return None
        read = ((name, fields[name](inner)) for name, inner in value.items())
        return {name: inner for name, inner in read if inner is not None}

    return convert


def _map(key: Convert, item: Convert) -> Convert:
    def convert(value: list[tuple[Any, Any]] | None) -> dict[str, Any] | None:
        if value is None:
            return None
        found = {str(key(name)): item(inner) for name, inner in value}
        if len(found) != len(value):
            raise ValueError(f"a map with a key that stands twice: {', '.join(str(name) for name, _ in value)}")
        return found

    return convert
