"""Items and scores of a run as columns, for roll-ups: one metric output at a time, in portions of whole clusters."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import null, select, tuple_

from turnwise.kernel.jsontext import loads
from turnwise.kernel.rollup import BoolArray, FloatArray, IntArray
from turnwise.store import schema
from turnwise.store.run import Run, RunMetric
from turnwise.store.store import Store
from turnwise.store.stream import stream_chunks

SCORED = "scored"


@dataclass(frozen=True, slots=True)
class Codes:
    """A text column as integers into its distinct values; -1 where an item has none."""

    codes: IntArray
    names: list[str]


@dataclass(frozen=True, slots=True)
class ItemTable:
    """The items of a run without their contents."""

    numbers: IntArray
    clusters: Codes
    """The names are left out where nobody needs them."""
    dimensions: Mapping[str, Codes]
    clusters_in_all: int | None = None
    """Clusters of the whole run, where this is a part of it."""

    @property
    def n_clusters(self) -> int:
        """How many clusters the codes may stand for."""
        return len(self.clusters.names) if self.clusters_in_all is None else self.clusters_in_all

    def has(self, numbers: IntArray) -> BoolArray:
        """Which item numbers are in this table."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.asarray(self.numbers[places] == numbers)

    def rows_of(self, numbers: IntArray) -> IntArray:
        """Positions of item numbers in this table."""
        return np.searchsorted(self.numbers, numbers).astype(np.int64)


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """All rows of one metric output and variant."""

    output: str
    variant: str
    items: IntArray
    """Item numbers."""
    repeats: IntArray
    values: FloatArray
    """NaN where a row has no number."""
    statistics: FloatArray
    """(n, d), NaN where a row has none."""
    labels: list[str | None]
    reasons: Codes
    """Why a row is not scored; -1 where it is."""
    parts: PartColumns

    def only(self, which: BoolArray) -> ScoreColumns:
        """Some of the rows."""
        if which.all():
            return self
        kept = which[self.parts.rows]
        rows = (np.cumsum(which) - 1)[self.parts.rows[kept]]
        parts = PartColumns(rows, self.parts.codes[kept], self.parts.names, self.parts.statistics[kept])
        return ScoreColumns(
            self.output,
            self.variant,
            self.items[which],
            self.repeats[which],
            self.values[which],
            self.statistics[which],
            [self.labels[i] for i in np.flatnonzero(which).tolist()],
            Codes(self.reasons.codes[which], self.reasons.names),
            parts,
        )


@dataclass(frozen=True, slots=True)
class PartColumns:
    """The parts of all rows: the position of the row, which part, and the part's statistics (m, d)."""

    rows: IntArray
    codes: IntArray
    names: list[str]
    statistics: FloatArray


def read_columns(
    store: Store,
    run: Run,
    metric: RunMetric,
    *,
    with_parts: bool,
    ends: IntArray | None = None,
    only: tuple[str, str] | None = None,
    between: tuple[int, int] | None = None,
) -> Iterator[ScoreColumns]:
    """The rows of a metric, one output and variant at a time; in portions, where `ends` has the last item of each.

    `only` names one output and variant, `between` the first and the last item that is wanted of it.
    """
    for output, variant in stored_series(store, run, metric) if only is None else [only]:
        t = schema.scores
        own = (t.c.run == run.key, t.c.metric == metric.number, t.c.output == output, t.c.variant == variant)
        parts = t.c.parts if with_parts else null()
        query = select(
            t.c.item, t.c.repeat, t.c.value, t.c.label, t.c.statistics, t.c.reason, t.c.status, t.c.rater, parts
        ).where(*own)
        if between is not None:
            query = query.where(t.c.item.between(*between))
        with store.reading() as connection:
            # In the order of the key, so that nothing has to be sorted.
            chunks = stream_chunks(connection, query.order_by(t.c.item, t.c.repeat, t.c.source, t.c.rater))
            for builder in _portions(chunks, ends):
                yield builder.columns(output, variant)


def stored_series(store: Store, run: Run, metric: RunMetric) -> list[tuple[str, str]]:
    """The outputs and variants of a metric that have rows, found without reading the rows."""
    t = schema.scores
    known = select(t.c.output, t.c.variant).where(t.c.run == run.key, t.c.metric == metric.number)
    known = known.order_by(t.c.output, t.c.variant).limit(1)
    found: list[tuple[str, str]] = []
    with store.reading() as connection:
        row = connection.execute(known).first()
        while row is not None:
            found.append((row[0], row[1]))
            row = connection.execute(known.where(tuple_(t.c.output, t.c.variant) > found[-1])).first()
    return found


def _portions(chunks: Iterator[Sequence[Any]], ends: IntArray | None) -> Iterator[_Builder]:
    """Cut after the items in `ends`; what is behind the last of them was written later and is left out."""
    last = [inf] if ends is None else ends.tolist()
    window, builder = 0, _Builder()
    for whole in chunks:
        chunk = whole
        while chunk and window < len(last):
            if chunk[-1][0] <= last[window]:
                builder.add(chunk)
                break
            cut = bisect_right(chunk, last[window], key=itemgetter(0))
            builder.add(chunk[:cut])
            if builder.n:
                yield builder
            window, builder, chunk = window + 1, _Builder(), chunk[cut:]
    if builder.n:
        yield builder


class _Encoder:
    """Text to integer codes, in order of appearance."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._rows = array("q")
        self._codes = array("q")

    def put(self, row: int, text: str) -> None:
        self._rows.append(row)
        self._codes.append(self._known.setdefault(text, len(self._known)))

    def codes(self, n: int) -> Codes:
        codes = np.full(n, -1, dtype=np.int64)
        codes[np.frombuffer(self._rows, dtype=np.int64)] = np.frombuffer(self._codes, dtype=np.int64)
        return Codes(codes, list(self._known))


class _Builder:
    """Arrays from rows, chunk by chunk: the texts of a chunk are gone before the next one is read."""

    def __init__(self) -> None:
        self.n = 0
        self._chunks: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
        self._labels: list[str | None] = []
        self._reasons = _Encoder()
        self._parts = _PartsBuilder()
        self._raters = False

    def add(self, rows: Sequence[Any]) -> None:
        """Some more rows."""
        if not rows:
            return
        items, repeats, values, labels, statistics, reasons, statuses, raters, parts = zip(*rows, strict=True)
        self._chunks.append(
            (
                np.array(items, dtype=np.int64),
                np.array(repeats, dtype=np.int64),
                np.array(values, dtype=np.float64),  # None becomes NaN
                _decoded(statistics),
            )
        )
        if statuses.count(SCORED) < len(rows):
            for place, status in enumerate(statuses):
                if status != SCORED:
                    self._reasons.put(self.n + place, reasons[place])
        self._labels += labels
        self._raters = self._raters or any(raters)
        self._parts.add(parts, self.n)
        self.n += len(rows)

    def columns(self, output: str, variant: str) -> ScoreColumns:
        """All of them."""
        width = max(chunk[3].shape[1] for chunk in self._chunks)
        items, repeats = (np.concatenate([chunk[i] for chunk in self._chunks]) for i in (0, 1))
        values = np.concatenate([chunk[2] for chunk in self._chunks])
        statistics = np.concatenate([_widened(chunk[3], width) for chunk in self._chunks])
        reasons, parts = self._reasons.codes(self.n), self._parts.columns(width)
        found = ScoreColumns(output, variant, items, repeats, values, statistics, self._labels, reasons, parts)
        return _average_raters(found) if self._raters else found


def _decoded(texts: Sequence[str | None]) -> FloatArray:
    """The vectors of statistics in some rows; NaN where a row has none."""
    if None not in texts:
        return np.array(loads(f"[{','.join(texts)}]"), dtype=np.float64)  # type: ignore[arg-type]
    have = [place for place, text in enumerate(texts) if text is not None]
    vectors = loads("[" + ",".join([texts[place] or "" for place in have]) + "]")
    statistics = np.full((len(texts), len(vectors[0]) if vectors else 0), np.nan)
    if vectors:
        statistics[have] = vectors
    return statistics


def _widened(statistics: FloatArray, width: int) -> FloatArray:
    """A chunk without any statistics has none of the others' columns either."""
    return statistics if statistics.shape[1] == width else np.full((len(statistics), width), np.nan)


def no_parts(width: int) -> PartColumns:
    """For rows that were not split."""
    nothing = np.zeros(0, dtype=np.int64)
    return PartColumns(nothing, nothing, [], np.zeros((0, width)))


class _PartsBuilder:
    """The parts of many rows as columns."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._chunks: list[tuple[IntArray, IntArray, FloatArray]] = []

    def add(self, texts: Sequence[str | None], first: int) -> None:
        if texts.count(None) == len(texts):
            return
        have = [position for position, text in enumerate(texts) if text is not None]
        decoded = loads("[" + ",".join([texts[position] or "" for position in have]) + "]")
        if not decoded:
            return
        names = [name for parts in decoded for name in parts[0]]
        for name in dict.fromkeys(names):
            self._names.setdefault(name, len(self._names))
        columns = [[x for parts in decoded for x in parts[i]] for i in range(1, len(decoded[0]))]
        rows = np.repeat(np.array(have, dtype=np.int64) + first, [len(parts[0]) for parts in decoded])
        codes = np.array([self._names[name] for name in names], dtype=np.int64)
        self._chunks.append((rows, codes, np.array(columns, dtype=np.float64).T))

    def columns(self, width: int) -> PartColumns:
        if not self._chunks:
            return no_parts(width)
        rows, codes, statistics = (np.concatenate([chunk[i] for chunk in self._chunks]) for i in range(3))
        return PartColumns(rows, codes, list(self._names), statistics)


def _average_raters(columns: ScoreColumns) -> ScoreColumns:
    """Several raters of one item count once: their values are averaged per item and repeat first. Labels all count."""
    if any(label is not None for label in columns.labels):
        return columns
    keys = np.column_stack([columns.items, columns.repeats])
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    scored = ~np.isnan(columns.values)
    sums = np.bincount(inverse.reshape(-1), weights=np.where(scored, columns.values, 0.0))
    counts = np.bincount(inverse.reshape(-1), weights=scored)
    values = np.divide(sums, counts, out=np.full(len(first), np.nan), where=counts > 0)
    reasons = np.where(counts > 0, -1, columns.reasons.codes[first])
    return ScoreColumns(
        columns.output,
        columns.variant,
        columns.items[first],
        columns.repeats[first],
        values,
        values[:, None],
        [None] * len(first),
        Codes(reasons, columns.reasons.names),
        no_parts(1),
    )
