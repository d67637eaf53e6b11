"""Rows of a run to results: one output of a metric after the other, in every grouping."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import groupby
from typing import Any

from turnwise.kernel.metric import Direction, Metric, Output
from turnwise.kernel.rollup import Rollup
from turnwise.kernel.selection import Selection
from turnwise.report.collect import Collected
from turnwise.report.portions import Portion, RunRows
from turnwise.report.series import Series, group_rows, has_dimension
from turnwise.stats.intervals import Interval, Resampler
from turnwise.store.items import StoredItems
from turnwise.store.run import Run
from turnwise.store.store import Store

By = tuple[str, ...]


@dataclass(frozen=True)
class Rolling:
    """What is rolled up, and how. One that is sent to another process reads the rows there, from the same database."""

    store: Store
    run: Run
    metrics: Sequence[Metric]
    groupings: Sequence[By]
    dimensions: Collection[str] | None
    """What is needed of the items; None is all."""
    resamples: int

    @cached_property
    def items(self) -> StoredItems:
        """The items, with what is needed of them."""
        return StoredItems(self.store, self.run, self.dimensions)

    @cached_property
    def rows(self) -> RunRows:
        """The scores that were measured."""
        return RunRows(self.store, self.run, Selection(list(self.metrics)), self.items)

    @cached_property
    def resampler(self) -> Resampler:
        """The same weights for every metric."""
        return Resampler(max(1, self.items.n_clusters), self.resamples)

    def measured(self, number: int) -> list[dict[str, Any]]:
        """The results of a metric that was measured."""
        portions = groupby(self.rows.measured(number), key=lambda one: (one.series.output.name, one.series.variant))
        return [result for _, same in portions for result in self.results(same)]

    def results(self, portions: Iterable[Portion]) -> Iterator[dict[str, Any]]:
        """Those of one output."""
        return _results(portions, self.groupings, self.resampler)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _results(portions: Iterable[Portion], groupings: Sequence[By], resampler: Resampler) -> Iterator[dict[str, Any]]:
    """One output of one metric, in every grouping that its items or parts allow; variants may take turns."""
    collected: dict[str, dict[By, Collected]] = {}
    last: dict[str, Series] = {}
    for series, items in portions:
        own = collected.setdefault(series.variant, {})
        for names in groupings:
            if all(has_dimension(series, items, name) for name in names):
                found = own.setdefault(names, Collected(series.output, resampler.clusters))
                found.add(group_rows(series, items, names), series.value)
        last[series.variant] = series
    for variant, own in collected.items():
        for names, found in own.items():
            results = list(_entries(last[variant], found, names, resampler))
            yield from _worst_first(results, last[variant].output) if names else results


def _entries(series: Series, groups: Collected, names: By, resampler: Resampler) -> Iterator[dict[str, Any]]:
    rollups = series.output.rollups
    found = groups.estimates(resampler)
    why_none = series.output.no_interval
    for i, rollup in enumerate(rollups):
        for at, key in enumerate(groups.keys):
            value, interval = found[i][at]
            if series.output.voided_by in groups.missing[at]:
                value = None
            if why_none:
                interval = Interval(None, None, f"none: {why_none}")
            yield entry(
                series.metric,
                series.output,
                series.variant,
                dict(zip(names, key, strict=True)),
                rollup,
                value,
                interval,
                (groups.n_scored[at], groups.n_total[at], groups.missing_in(rollup, at)),
                series.signature,
            )


def entry(
    metric: str,
    output: Output,
    variant: str,
    group: dict[str, str],
    rollup: Rollup,
    value: float | None,
    interval: Interval,
    counts: tuple[int, int, dict[str, int]],
    signature: str,
) -> dict[str, Any]:
    """One result in the published shape."""
    return {
        "metric": metric,
        "output": output.name,
        "variant": variant,
        "group": group,
        "rollup": rollup.name,
        "primary": rollup.name == output.primary.name,
        "value": value,
        "low": interval.low if value is not None else None,
        "high": interval.high if value is not None else None,
        "interval": interval.method if value is not None else f"none: {'no value' if counts[0] else 'nothing scored'}",
        "n_scored": counts[0],
        "n_total": counts[1],
        "missing": counts[2],
        "band": output.bands.of(value) if output.bands and value is not None else None,
        "direction": output.direction.value,
        "signature": signature,
    }


def _worst_first(results: list[dict[str, Any]], output: Output) -> list[dict[str, Any]]:
    """Slices from the worst to the best, by each roll-up; those without a value last."""
    sign = -1.0 if output.direction is Direction.LOWER else 1.0
    order = {rollup.name: position for position, rollup in enumerate(output.rollups)}

    def key(result: dict[str, Any]) -> tuple[int, bool, float, str]:
        value = result["value"]
        return (order[result["rollup"]], value is None, sign * (value or 0), str(result["group"]))

    return sorted(results, key=key)
