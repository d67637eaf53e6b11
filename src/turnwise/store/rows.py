"""Scores as rows of the table: from a `Score`, or from a measurement straight to a tuple for bulk inserts.

Both ways end in the same checks, so that nothing inconsistent and no NaN reaches the database.
"""

from __future__ import annotations

from typing import Any

from turnwise.kernel.jsontext import clean, dumps, dumps_clean, loads
from turnwise.kernel.score import Measurement, Parts, Score, Source, check_consistent

SCORE_COLUMNS = (
    "metric",
    "output",
    "variant",
    "item",
    "repeat",
    "source",
    "rater",
    "value",
    "label",
    "statistics",
    "parts",
    "status",
    "reason",
    "evidence",
)
_CODE = Source.CODE.value


def score_values(score: Score, metric: int, item: int) -> dict[str, Any]:
    """A score as column values."""
    row = (
        metric,
        score.output,
        score.variant,
        item,
        score.repeat,
        score.source.value,
        score.rater,
        score.value,
        _cleaned(score.label),
        dumps(score.statistics) if score.statistics is not None else None,
        _parts_text(score.parts),
        score.status.value,
        _cleaned(score.reason),
        dumps_clean(score.evidence) if score.evidence is not None else None,
    )
    return dict(zip(SCORE_COLUMNS, row, strict=True))


def _cleaned(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _parts_text(parts: Parts | None) -> str | None:
    return dumps([parts.names, *parts.statistics]) if parts is not None and parts.names else None


def parts_from(text: str | None) -> Parts | None:
    """Parts as they were stored."""
    if text is None:
        return None
    names, *statistics = loads(text)
    return Parts(names, statistics)


def measurement_row(metric: int, output: str, item: int, value: float | None, found: Measurement) -> tuple[Any, ...]:
    """A measurement and its value as a tuple in the order of `SCORE_COLUMNS`."""
    check_consistent(found.status, value, found.label, found.reason)
    return (
        metric,
        output,
        found.variant,
        item,
        found.repeat,
        _CODE,
        "",
        value,
        _cleaned(found.label),
        dumps(found.statistics) if found.statistics is not None else None,
        _parts_text(found.parts),
        found.status.value,
        _cleaned(found.reason),
        dumps_clean(found.evidence) if found.evidence is not None else None,
    )
