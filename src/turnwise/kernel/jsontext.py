"""JSON as turnwise reads and keeps it: orjson, which is several times as fast as the standard library for short texts.

A run writes and reads back some hundred thousand of them (docs/benchmarks.md has the measurement). NaN and infinity
cannot be read; a value that is one is refused long before it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import orjson

NUMPY = orjson.OPT_SERIALIZE_NUMPY
JSONDecodeError = orjson.JSONDecodeError
loads = orjson.loads


def dumps(value: Any) -> str:
    """Compact JSON text; a metric may hand in the numbers of numpy. What JSON cannot write raises TypeError."""
    return orjson.dumps(value, option=NUMPY).decode()


def fingerprinted(value: Any) -> bytes:
    """What a record holds, for a hash; also where it holds what JSON cannot write."""
    try:
        return orjson.dumps(value, default=repr, option=NUMPY | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # half characters
        return repr(value).encode("utf-8", "surrogatepass")


def dumps_vectors(vectors: Sequence[Sequence[float]]) -> list[str]:
    """The texts of many short vectors of numbers, each as `dumps` writes it: in one call, which is much faster.

    >>> dumps_vectors([(1.0,), (0.5, 2.0)])
    ['[1.0]', '[0.5,2.0]']
    """
    if not vectors:
        return []
    return [f"[{inner}]" for inner in dumps(vectors)[2:-2].split("],[")]


def finite(value: Any) -> bool:
    """Whether JSON can hold a value that may be a number: anything but NaN and infinity."""
    return not isinstance(value, float) or isfinite(value)


def dumps_clean(value: Any) -> str:
    """The same for texts from anywhere: what no database can hold is written out, so that it costs no run."""
    try:
        return dumps(value)
    except TypeError:
        return dumps(_cleaned(value))


def clean(text: str) -> str:
    """Text that any database can hold: half characters and NUL are written out."""
    if type(text) is str and text.isascii() and "\x00" not in text:  # almost all, and nothing to do
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner) for inner in value]
    return value
