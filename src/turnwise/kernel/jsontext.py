"""JSON as turnwise reads and keeps it: orjson, which is several times as fast as the standard library for short texts.

A run writes and reads back some hundred thousand of them (docs/benchmarks.md has the measurement). NaN and infinity are
refused in both directions.
"""

from __future__ import annotations

from typing import Any

import orjson

JSONDecodeError = orjson.JSONDecodeError
loads = orjson.loads


def dumps(value: Any) -> str:
    """Compact JSON text; a metric may hand in the numbers of numpy."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()
