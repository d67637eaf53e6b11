"""Derived metrics, computed when read: per unit from their inputs' rows, or from their inputs' roll-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from turnwise.kernel.derived import Derived
from turnwise.kernel.rollup import FloatArray, Pooled, Rollup, compile_rollup
from turnwise.report.series import Series, group_rows, has_dimension
from turnwise.store.reading import Codes, ItemTable, ScoreColumns, no_parts

Counts = tuple[int, int, dict[str, int]]


def derived_per_unit(
    derived: Derived, signature: str, variant: str, inputs: Mapping[str, Series], items: ItemTable
) -> Series:
    """The derived metric as if it had been measured: a row for each item that any input has a row for."""
    output = derived.spec.outputs[0]
    keys = [np.column_stack([s.columns.items, s.columns.repeats]) for s in inputs.values()]
    units = np.unique(np.concatenate(keys), axis=0)
    values = {wanted.label: _aligned(units, inputs.get(wanted.label)) for wanted in derived.inputs}
    missing = np.full(len(units), -1, dtype=np.int64)
    names: list[str] = []
    for label, column in values.items():
        lacking = np.isnan(column) & (missing < 0)
        if lacking.any():
            missing[lacking] = len(names)
            names.append(f"missing input: {label}")
    result = np.full(len(units), np.nan)
    complete = missing < 0
    if complete.any():
        result[complete] = derived.function({label: column[complete] for label, column in values.items()})
    undefined = complete & ~np.isfinite(result)
    if undefined.any():
        missing[undefined], result[undefined] = len(names), np.nan
        names.append("the value is not a finite number")
    columns = ScoreColumns(
        output.name,
        variant,
        units[:, 0],
        units[:, 1],
        result,
        result[:, None],
        [None] * len(units),
        Codes(missing, names),
        no_parts(1),
    )
    return Series(derived.spec.name, signature, output, variant, _first, None, columns, items.rows_of(units[:, 0]))


def derived_after_rollup(
    derived: Derived, inputs: Mapping[str, Series], items: ItemTable, by: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Rollup, float | None, Pooled, Counts]]:
    """Per group: the function of the inputs' primary roll-ups.

    The inputs' cluster totals are joined side by side, so that one resample draws them together.
    """
    n_clusters = max(1, len(items.clusters.names))
    rollup = derived.spec.outputs[0].primary
    known = {label: s for label, s in inputs.items() if all(has_dimension(s, items, name) for name in by)}
    grouped = {label: group_rows(series, items, by) for label, series in known.items()}
    keys = sorted({key for found in grouped.values() for key in found.keys})
    for key in keys:
        parts: dict[str, Pooled] = {}
        lacking: dict[str, int] = {}
        for wanted in derived.inputs:
            found = grouped.get(wanted.label)
            chosen = found.groups == found.keys.index(key) if found and key in found.keys else None
            if found is None or chosen is None or not chosen.any():
                lacking[f"missing input: {wanted.label}"] = 1
                continue
            rows = found.rows
            part = type(rows)(
                rows.values[chosen],
                rows.statistics[chosen],
                {name: codes[chosen] for name, codes in rows.keys.items()},
                None if rows.labels is None else [rows.labels[i] for i in np.flatnonzero(chosen).tolist()],
            )
            series = known[wanted.label]
            zeros = np.zeros(len(part), dtype=np.int64)
            compiled = compile_rollup(series.output.primary, part, zeros, 1, n_clusters, series.value)
            if isinstance(compiled, Pooled):
                parts[wanted.label] = compiled
            else:
                lacking[f"missing input: {wanted.label} has no additive roll-up"] = 1
        joined = _join(derived, parts) if not lacking else None
        value = None if joined is None else float(joined.point()[0])
        if value is not None and not np.isfinite(value):
            value, lacking = None, {"the value is not a finite number": 1}
        yield key, rollup, value, joined or _NOTHING, (int(value is not None), 1, lacking)


def _join(derived: Derived, parts: Mapping[str, Pooled]) -> Pooled:
    widths = [part.totals.shape[-1] for part in parts.values()]
    ends = np.cumsum(widths).tolist()

    def value(statistics: FloatArray) -> FloatArray:
        numbers = {
            label: part.value(statistics[..., end - width : end])
            for (label, part), width, end in zip(parts.items(), widths, ends, strict=True)
        }
        return derived.function(numbers)

    present = np.logical_or.reduce([part.present for part in parts.values()])
    return Pooled(np.concatenate([part.totals for part in parts.values()], axis=-1), present, value)


def _aligned(units: np.ndarray[tuple[int, int], np.dtype[np.int64]], series: Series | None) -> FloatArray:
    """An input's values in the order of `units`; NaN where it has none."""
    column = np.full(len(units), np.nan)
    if series is not None:
        place = {tuple(unit): i for i, unit in enumerate(units.tolist())}
        own = zip(series.columns.items.tolist(), series.columns.repeats.tolist(), strict=True)
        column[[place[unit] for unit in own]] = series.columns.values
    return column


def _first(statistics: FloatArray) -> FloatArray:
    return statistics[..., 0]


_NOTHING = Pooled(np.zeros((1, 1, 1)), np.zeros((1, 1), dtype=bool), _first)
