"""JSON as turnwise reads and keeps it: orjson, which is several times as fast as the standard library for short texts.

A run writes and reads back some hundred thousand of them (docs/benchmarks.md has the measurement). NaN and infinity are
refused in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

JSONDecodeError = orjson.JSONDecodeError
loads = orjson.loads


def dumps(value: Any) -> str:
    """Compact JSON text; a metric may hand in the numbers of numpy."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    except TypeError:
        return orjson.dumps(_cleaned(value), option=orjson.OPT_SERIALIZE_NUMPY).decode()


def clean(text: str) -> str:
    """Text that any database can hold: half characters and NUL are written out."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner) for inner in value]
    return value
