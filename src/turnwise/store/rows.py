"""Scores as rows of the table: from a `Score`, or from a measurement straight to a tuple for bulk inserts.

Both ways end in the same checks, so that nothing inconsistent and no NaN reaches the database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from math import isfinite
from operator import itemgetter
from typing import Any

from turnwise.kernel.jsontext import clean, dumps, dumps_clean, dumps_vectors, loads
from turnwise.kernel.score import Measurement, Parts, Score, Source, Status, check_consistent

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
Valued = tuple[str, int, float | None, Measurement]
"""An output, the number of an item, the value, and the measurement behind it."""
Row = tuple[Any, ...]
_ROW = ("run", *SCORE_COLUMNS)
_NULLABLE = ("value", "label", "statistics", "parts", "reason", "evidence")
_CODE, _SCORED = Source.CODE, Status.SCORED
_CODE_TEXT, _SCORED_TEXT = Source.CODE.value, Status.SCORED.value


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
    return measurement_rows(metric, [(output, item, value, found)])[0]


def measurement_rows(metric: int, found: Sequence[Valued]) -> list[tuple[Any, ...]]:
    """The same for many measurements of one metric: what they share is written out once."""
    vectors = iter(dumps_vectors([one.statistics for _, _, _, one in found if one.statistics is not None]))
    rows = []
    told, told_text = None, None
    for output, item, value, one in found:
        statistics, label, status, reason, evidence, parts, repeat, variant, source, rater = one
        if status is not _SCORED or value is None or not isfinite(value):  # a number that is scored is what most are
            check_consistent(status, value, label, reason)
        if evidence is not told:  # the outputs of a metric often stand on the same evidence
            told, told_text = evidence, None if evidence is None else dumps_clean(evidence)
        row = (
            metric,
            output,
            variant,
            item,
            repeat,
            _CODE_TEXT if source is _CODE else source.value,
            rater,
            value,
            None if label is None else clean(label),
            None if statistics is None else next(vectors),
            None if parts is None else _parts_text(parts),
            _SCORED_TEXT if status is _SCORED else status.value,
            None if reason is None else clean(reason),
            told_text,
        )
        rows.append(row)
    return rows


def without_nulls(rows: Iterable[Row]) -> Iterator[tuple[Sequence[str], Iterable[Row]]]:
    """Rows of scores, each after its run, in groups with values in the same columns: their names, the values alone.

    A column that is not named becomes NULL. Most scores have neither label nor parts nor reason, and the driver of
    SQLite takes several times as long to write NULL as to write a text.
    """
    groups: defaultdict[tuple[bool, ...], list[Row]] = defaultdict(list)
    for row in rows:
        _, _, _, _, _, _, _, _, value, label, statistics, parts, _, reason, evidence = row
        empty = (value is None, label is None, statistics is None, parts is None, reason is None, evidence is None)
        groups[empty].append(row)
    for pattern, own in groups.items():
        left_out = set(compress(_NULLABLE, pattern))
        names = [name for name in _ROW if name not in left_out]
        yield names, map(itemgetter(*map(_ROW.index, names)), own)
