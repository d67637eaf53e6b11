"""Derived metrics, computed when read: per unit from their inputs' rows, or from their inputs' roll-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turnwise.kernel.derived import Derived
from turnwise.kernel.rollup import FloatArray, IntArray, Pooled, compile_rollup
from turnwise.report.series import Grouped, Series, group_rows, has_dimension
from turnwise.store.columns import Codes, ItemTable, ScoreColumns, no_parts

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rolled:
    """A derived metric that exists only after roll-up, with its inputs."""

    derived: Derived
    inputs: Mapping[str, Series | Rolled]


def derived_per_unit(
    derived: Derived, signature: str, variant: str, inputs: Mapping[str, Series], items: ItemTable
) -> Series:
    """The derived metric as if it had been measured: a row for each item that any input has a row for."""
    output = derived.output
    keys = [np.column_stack([s.columns.items, s.columns.repeats]) for s in inputs.values()]
    if not keys:  # no input has a single row yet: missing for every item
        keys = [np.column_stack([items.numbers, np.zeros_like(items.numbers)])]
    units = np.unique(np.concatenate(keys), axis=0)
    values = {wanted.label: _aligned(units, inputs.get(wanted.label)) for wanted in derived.inputs}
    missing = np.full(len(units), -1, dtype=np.int64)
    names: list[str] = []
    if derived.partial:
        nothing = np.logical_and.reduce([np.isnan(column) for column in values.values()])
        missing[nothing] = 0
        names += [NO_INPUT] if nothing.any() else []
    for label, column in values.items() if not derived.partial else ():
        lacking = np.isnan(column) & (missing < 0)
        if lacking.any():
            missing[lacking] = len(names)
            names.append(f"missing input: {label}")
    result = np.full(len(units), np.nan)
    complete = missing < 0
    if complete.any():
        dimensions = _dimensions(derived, items, units[complete, 0])
        result[complete] = _apply(derived, {label: column[complete] for label, column in values.items()}, dimensions)
    undefined = complete & ~np.isfinite(result)
    if undefined.any():
        missing[undefined], result[undefined] = len(names), np.nan
        names.append(NOT_FINITE)
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


NOT_FINITE = "the value is not a finite number"
NO_INPUT = "no input has a value"


def _dimensions(derived: Derived, items: ItemTable, numbers: IntArray) -> dict[str, list[str]]:
    """What the units have in the dimensions that a derived metric asks for."""
    rows = items.rows_of(numbers)
    found = {}
    for name in derived.dimensions:
        known = items.dimensions.get(name)
        codes = [-1] * len(rows) if known is None else known.codes[rows].tolist()
        found[name] = ["" if known is None or code < 0 else known.names[code] for code in codes]
    return found


def derived_after_rollup(
    rolled: Rolled, items: ItemTable, by: Sequence[str]
) -> Iterator[tuple[Key, float | None, Pooled | None, dict[str, int]]]:
    """Per group: the value, what its interval is made of, and the inputs that are missing.

    The inputs' cluster totals are joined side by side, so that one resample draws them together.
    """
    grouped = {id(s): group_rows(s, items, by) for s in _leaves(rolled) if all(has_dimension(s, items, n) for n in by)}
    keys = {key for found in grouped.values() for key in found.keys}
    for key in sorted(keys if by else {()}):  # the whole data set is there even before any input is
        missing: dict[str, int] = {}
        pooled = _pooled(rolled, rolled.derived.spec.name, grouped, key, max(1, items.n_clusters), missing)
        value = None if pooled is None or missing else float(pooled.point()[0])
        if value is not None and not np.isfinite(value):
            value, missing = None, {NOT_FINITE: 1}
        if len(missing) > 1:  # one value is missing once, whatever it lacks
            missing = {f"missing input: {', '.join(name.removeprefix('missing input: ') for name in missing)}": 1}
        yield key, value, pooled, missing


def no_interval(rolled: Rolled) -> str:
    """Why there is no interval, where an input has none."""
    return next((leaf.output.no_interval for leaf in _leaves(rolled) if leaf.output.no_interval), "")


def _leaves(node: Series | Rolled) -> Iterator[Series]:
    if isinstance(node, Series):
        yield node
    else:
        for inner in node.inputs.values():
            yield from _leaves(inner)


def _pooled(
    node: Series | Rolled,
    label: str,
    grouped: Mapping[int, Grouped],
    key: Key,
    n_clusters: int,
    missing: dict[str, int],
) -> Pooled | None:
    """An input's cluster totals in one group; what it lacks goes into `missing`."""
    if isinstance(node, Rolled):
        parts = {}
        for wanted in node.derived.inputs:
            inner = node.inputs.get(wanted.label)
            found = None if inner is None else _pooled(inner, wanted.label, grouped, key, n_clusters, missing)
            if found is None:
                named = any(reason.startswith(f"missing input: {wanted.label} ") for reason in missing)
                missing.update({} if named else {f"missing input: {wanted.label}": 1})
            else:
                parts[wanted.label] = found
        return joined(node.derived, parts) if len(parts) == len(node.derived.inputs) else None
    groups = grouped.get(id(node))
    if groups is None or key not in groups.keys:
        return None
    place = groups.keys.index(key)
    chosen = groups.groups == place
    if not chosen.any() or node.output.voided_by in groups.missing[place]:
        return None
    rows = groups.rows.chosen(chosen)
    made = compile_rollup(node.output.primary, rows, np.zeros(len(rows), dtype=np.int64), 1, n_clusters, node.value)
    if not isinstance(made, Pooled):
        missing[f"missing input: {label} has no additive roll-up"] = 1
        return None
    return made


def joined(derived: Derived, parts: Mapping[str, Pooled]) -> Pooled:
    """The cluster totals of all inputs side by side, valued by the derived metric's function."""
    widths = [part.totals.shape[-1] for part in parts.values()]
    ends = np.cumsum(widths).tolist()

    def value(statistics: FloatArray) -> FloatArray:
        numbers = {
            label: part.value(statistics[..., end - width : end])
            for (label, part), width, end in zip(parts.items(), widths, ends, strict=True)
        }
        return _apply(derived, numbers)

    present = np.logical_or.reduce([part.present for part in parts.values()])
    return Pooled(np.concatenate([part.totals for part in parts.values()], axis=-1), present, value)


def _apply(
    derived: Derived, numbers: Mapping[str, FloatArray], dimensions: Mapping[str, Sequence[str]] | None = None
) -> FloatArray:
    """The function; what it cannot compute becomes NaN, which the caller turns into a missing value."""
    shape = np.shape(next(iter(numbers.values())))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        try:
            return np.broadcast_to(np.asarray(derived.apply(numbers, dimensions), dtype=np.float64), shape)
        except Exception:  # a function may raise anything; the caller says that the value is missing
            return np.full(shape, np.nan)


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
