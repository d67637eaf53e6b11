"""The value of one roll-up of one side, with interval, standard error and coverage: what gates and trends stand on.

For a side of one run these are the numbers of `turnwise show`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from sqlalchemy import select

from turnwise.comparison.sides import Name, Side
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import MEAN, BoolArray, Pooled, Rollup, Sample, compile_rollup
from turnwise.kernel.score import Status
from turnwise.report.derive import Rolled, derived_after_rollup, no_interval
from turnwise.report.intervals import pooled_rollup_intervals, rollup_intervals
from turnwise.report.series import Series, group_rows, has_dimension
from turnwise.report.summary import RESAMPLES
from turnwise.stats.intervals import Interval, Resampler
from turnwise.stats.leave_one_out import spread
from turnwise.stats.student import t_quantile
from turnwise.store import schema

Group = Mapping[str, str]
NOTHING = Interval(None, None, "none: nothing scored")


@dataclass(frozen=True, slots=True)
class SideValue:
    """One number of one side."""

    value: float | None
    interval: Interval
    error: float | None
    """Standard error by cluster; None where there is no interval."""
    n_scored: int
    n_applicable: int
    """Scored, or missing although the question arises."""
    n_total: int
    missing: Mapping[str, int]
    thinnest: tuple[int, int] | None = None
    """Of a number made after roll-up: scored and applicable scores of the input that lacks the most."""

    @property
    def counts(self) -> tuple[int, int]:
        """Scores that are there, and those that could be."""
        return (self.n_scored, self.n_applicable) if self.thinnest is None else self.thinnest

    @property
    def coverage(self) -> float | None:
        """The share of scores that are there, of those that could be; None where the question arises nowhere."""
        scored, applicable = self.counts
        return scored / applicable if applicable else None


def find_output(side: Side, metric: str, output: str | None, where: str | None = None) -> tuple[Name, Output]:
    """The output that is meant: the named one, or the metric's first."""
    known = side.outputs()
    own = {name[1]: one for name, one in known.items() if name[0] == metric}
    if not own:
        metrics = list(dict.fromkeys(name for name, _ in known))
        raise UsageError(
            f"no run of {side.label or side.text} has a metric {metric!r}",
            where=where,
            expected=", ".join(metrics),
            remedy=near_misses(metric, metrics) or None,
        )
    chosen = output if output is not None else next(iter(own))
    if chosen not in own:
        raise UsageError(
            f"{metric} has no output {output!r}",
            where=where,
            expected=", ".join(own),
            remedy=near_misses(str(output), own) or None,
        )
    return (metric, chosen), own[chosen]


def find_rollup(metric: str, output: Output, rollup: str | None, where: str | None = None) -> Rollup:
    """The roll-up that is meant: the named one, or the primary."""
    if rollup is None:
        return output.primary
    found = rollup_named(output, rollup)
    if found is None:
        names = [one.name for one in output.rollups]
        raise UsageError(
            f"{metric} has no roll-up {rollup!r}",
            where=where,
            expected=", ".join(names),
            remedy=near_misses(rollup, names) or None,
        )
    return found


def rollup_named(output: Output, name: str) -> Rollup | None:
    """The roll-up of that name; `mean` is also the plain mean over items that most metrics call `micro`."""
    named = next((one for one in output.rollups if one.name == name), None)
    if named is None and name == MEAN.name:
        return next((one for one in output.rollups if one.steps == MEAN.steps), None)
    return named


def side_value(side: Side, name: Name, output: Output, rollup: Rollup, group: Group | None = None) -> SideValue:
    """The value in a group, or of everything."""
    node = side.node(name)
    by = tuple(group or ())
    key = tuple((group or {}).values())
    if node is None:
        return SideValue(None, NOTHING, None, 0, 0, 0, {})
    if isinstance(node, Rolled):
        return replace(_of_rolled(side, node, output, by, key), thinnest=_thinnest(side, node, by, key))
    missing_dimension = next((one for one in by if not has_dimension(node, side.items, one)), None)
    if missing_dimension is not None:
        known = ", ".join(side.items.dimensions) or "no dimension"
        raise UsageError(f"{name[0]} cannot be cut by {missing_dimension!r}", expected=known)
    return _of_series(side, node, rollup, by, key)


def _of_series(side: Side, series: Series, rollup: Rollup, by: tuple[str, ...], key: tuple[str, ...]) -> SideValue:
    grouped = group_rows(series, side.items, by)
    if key not in grouped.keys:
        return SideValue(None, NOTHING, None, 0, 0, 0, {})
    at = grouped.keys.index(key)
    rows = grouped.rows.chosen(grouped.groups == at)
    missing = grouped.missing[at]
    asked = group_rows(_only_where_asked(side, series), side.items, by)
    n_asked = asked.n_total[asked.keys.index(key)] if key in asked.keys else 0
    counts = len(rows), n_asked, grouped.n_total[at], missing
    if not len(rows) or series.output.voided_by in missing:
        return SideValue(None, NOTHING, None, *counts)
    n = max(1, len(side.items.clusters.names))
    groups = np.zeros(len(rows), dtype=np.int64)
    made = compile_rollup(rollup, rows, groups, 1, n, series.value)
    point = float(made.point()[0])
    if not isfinite(point):
        return SideValue(None, NOTHING, None, *counts)
    if series.output.no_interval:
        return SideValue(point, Interval(None, None, f"none: {series.output.no_interval}"), None, *counts)
    interval = rollup_intervals([made], series.output, _resampler(side, n))[0][0]
    return SideValue(point, interval, _error(made, interval), *counts)


def _of_rolled(side: Side, rolled: Rolled, output: Output, by: tuple[str, ...], key: tuple[str, ...]) -> SideValue:
    for own, value, pooled, missing in derived_after_rollup(rolled, side.items, by):
        if own != key:
            continue
        why_none = no_interval(rolled)
        if value is None or pooled is None:
            return SideValue(None, NOTHING, None, 0, 1, 1, missing)
        if why_none:
            return SideValue(value, Interval(None, None, f"none: {why_none}"), None, 1, 1, 1, missing)
        n = max(1, len(side.items.clusters.names))
        interval = pooled_rollup_intervals(pooled, output, _resampler(side, n))[0]
        return SideValue(value, interval, _error(pooled, interval), 1, 1, 1, missing)
    return SideValue(None, NOTHING, None, 0, 0, 0, {})


def _thinnest(side: Side, rolled: Rolled, by: tuple[str, ...], key: tuple[str, ...]) -> tuple[int, int] | None:
    """Scored and applicable scores of the measured input with the smallest share of them."""
    found: list[tuple[int, int]] = []
    for node in rolled.inputs.values():
        if isinstance(node, Rolled):
            inner = _thinnest(side, node, by, key)
            found += [inner] if inner is not None else []
        elif all(has_dimension(node, side.items, one) for one in by):
            scored, asked = group_rows(node, side.items, by), group_rows(_only_where_asked(side, node), side.items, by)
            n = int((scored.groups == scored.keys.index(key)).sum()) if key in scored.keys else 0
            found.append((n, asked.n_total[asked.keys.index(key)] if key in asked.keys else 0))
    return min((one for one in found if one[1]), key=lambda one: one[0] / one[1], default=None)


def _resampler(side: Side, n: int) -> Resampler:
    """As the newest run asked for."""
    return Resampler(n, side.runs[-1].config.get("resamples", RESAMPLES))


def _error(made: Pooled | Sample, interval: Interval) -> float | None:
    if interval.low is None or interval.high is None:
        return None
    if isinstance(made, Sample):  # half of the interval over t
        clusters = len(np.unique(made.clusters))
        return (interval.high - interval.low) / 2 / float(t_quantile(0.975, max(1.0, clusters - 1.0)))
    return float(spread(made.totals, made.present, made.value, (None, None)).error[0])


def _only_where_asked(side: Side, series: Series) -> Series:
    """The rows of a series without those that say that the question does not arise."""
    columns = series.columns.only(~_not_applicable(side, series))
    return replace(series, columns=columns, positions=columns.items)


def _not_applicable(side: Side, series: Series) -> BoolArray:
    """Which rows say so; of a metric made per unit, those that lack an input which says so."""
    reasons = series.columns.reasons
    derived = next((d for s in side.selections for d, _ in s.derived if d.spec.name == series.metric), None)
    if derived is None:
        known = _reasons(side, series)
        return np.isin(reasons.codes, [code for code, name in enumerate(reasons.names) if name in known])
    found = np.zeros(len(reasons.codes), dtype=bool)
    for wanted in derived.inputs:
        lacking = [code for code, name in enumerate(reasons.names) if name == f"missing input: {wanted.label}"]
        node = side.node((wanted.metric, wanted.output)) if lacking else None
        if isinstance(node, Series):
            unasked = node.columns.items[_not_applicable(side, node)]
            found |= np.isin(reasons.codes, lacking) & np.isin(series.columns.items, unasked)
    return found


def _reasons(side: Side, series: Series) -> set[str]:
    """The reasons under which a metric's rows are `not_applicable`."""
    table = schema.scores
    found: set[str] = set()
    for part in side.parts:
        store, run = part.chosen.store, part.chosen.run
        numbers = [m.number for m in store.metrics(run) if m.name == f"{run.suite}/{series.metric}"]
        query = select(table.c.reason).where(
            table.c.run == run.key,
            table.c.metric.in_(numbers),
            table.c.output == series.output.name,
            table.c.status == Status.NOT_APPLICABLE.value,
        )
        with store.reading() as connection:
            found |= set(connection.scalars(query.distinct()))
    return found
