"""The rows of one metric output, ready to be grouped by any dimensions: items' own, or the parts of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import CLUSTER, ITEM, IntArray, Rows, Value, combinations
from turnwise.store.columns import ItemTable, ScoreColumns


@dataclass(frozen=True, slots=True)
class Series:
    """One output and variant of one metric."""

    metric: str
    """Short name."""
    signature: str
    output: Output
    variant: str
    value: Value
    part: str | None
    columns: ScoreColumns
    positions: IntArray
    """Row of each score in the item table."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The scored rows of a series with the group each belongs to."""

    keys: list[tuple[str, ...]]
    rows: Rows
    groups: IntArray
    n_total: list[int]
    missing: list[dict[str, int]]


def has_dimension(series: Series, items: ItemTable, name: str) -> bool:
    """Whether the series can be grouped by `name`."""
    return name == series.part or name in items.dimensions


def group_rows(series: Series, items: ItemTable, by: Sequence[str]) -> Grouped:
    """Rows grouped by item dimensions and, where one of them is the metric's part, split into parts first."""
    columns = series.columns
    own = {name: items.dimensions[name].codes[series.positions] for name in by if name != series.part}
    names = {name: items.dimensions[name].names for name in own}
    scored = columns.reasons.codes < 0
    if series.part is not None and series.part in by:
        parts = columns.parts
        source, statistics = parts.rows, parts.statistics
        values = series.value(statistics) if len(statistics) else np.zeros(0)
        own = {name: codes[source] for name, codes in own.items()} | {series.part: parts.codes}
        names[series.part] = parts.names
        reasons = np.full(len(source), -1, dtype=np.int64)
    else:
        source = np.arange(len(columns.items), dtype=np.int64)
        statistics, values, reasons = columns.statistics, columns.values, columns.reasons.codes
    keys, groups = _keys([own[name] for name in by], [names[name] for name in by], len(source))
    kept = (groups >= 0) & (reasons < 0)
    chosen = source[kept]
    labels = [columns.labels[i] for i in chosen.tolist()] if any(columns.labels) else None
    positions = series.positions[chosen]
    steps = {name for rollup in series.output.rollups for step in rollup.steps for name in step.by}
    keyed = {CLUSTER: items.clusters.codes[positions], ITEM: positions}
    for name in steps - keyed.keys():  # a metadata column may be called cluster, too; it is not the cluster
        known = items.dimensions.get(name)
        # Items without the dimension form a level of their own.
        keyed[name] = known.codes[positions] + 1 if known else np.zeros(len(positions), dtype=np.int64)
    rows = Rows(values[kept], statistics[kept], keyed, labels)
    n_total = np.bincount(groups[groups >= 0], minlength=len(keys)).tolist()
    missing = _missing(groups, reasons, columns.reasons.names, len(keys)) if not scored.all() else [{} for _ in keys]
    return Grouped(keys, rows, groups[kept], n_total, missing)


def _keys(codes: list[IntArray], names: list[list[str]], n: int) -> tuple[list[tuple[str, ...]], IntArray]:
    """The groups that occur, and each row's group; -1 for a row that lacks one of the dimensions."""
    if not codes:
        return [()], np.zeros(n, dtype=np.int64)
    complete = np.logical_and.reduce([column >= 0 for column in codes])
    groups = np.full(n, -1, dtype=np.int64)
    groups[complete], members = combinations([column[complete] for column in codes], int(complete.sum()))
    keys = [tuple(names[i][code] for i, code in enumerate(member)) for member in members.tolist()]
    return keys, groups


def _missing(groups: IntArray, reasons: IntArray, names: Sequence[str], n_groups: int) -> list[dict[str, int]]:
    found: list[dict[str, int]] = [{} for _ in range(n_groups)]
    for reason, name in enumerate(names):
        counted = np.bincount(groups[(reasons == reason) & (groups >= 0)], minlength=n_groups)
        for group in np.flatnonzero(counted).tolist():
            found[group][name] = found[group].get(name, 0) + int(counted[group])
    return found
