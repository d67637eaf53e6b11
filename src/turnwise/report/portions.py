"""The rows of a run as roll-ups read them: one output at a time, a window of whole clusters after the other.

Measured rows are streamed; those of a derived metric are made of the rows that its inputs have in the same window.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

from turnwise.kernel.derived import Derived, Input, When
from turnwise.kernel.metric import Metric
from turnwise.kernel.selection import Selection
from turnwise.report.derive import Rolled, derived_per_unit
from turnwise.report.series import Series, group_rows
from turnwise.store.columns import ItemTable, ScoreColumns, read_columns, stored_series
from turnwise.store.items import StoredItems
from turnwise.store.run import Run, RunMetric
from turnwise.store.store import Store

By = tuple[str, ...]
Inputs = dict[str, dict[str, Series | Rolled]]
"""By variant and label."""


class Portion(NamedTuple):
    """Rows of one output and variant, with the items of their window."""

    series: Series
    items: ItemTable


class RunRows:
    """The rows of a run."""

    def __init__(self, store: Store, run: Run, selection: Selection, items: StoredItems) -> None:
        self._store, self._run, self._selection = store, run, selection
        self.items = items
        self._numbers = {metric.spec.name: number for number, metric in enumerate(selection.metrics)}
        self._others = {derived.spec.name: (derived, signature) for derived, signature in selection.derived}
        self._known = cache(self._stored_series)

    @cached_property
    def whole(self) -> ItemTable:
        """All items at once, for numbers that are made of other numbers."""
        return self.items.whole()

    @cached_property
    def _stored(self) -> dict[str, RunMetric]:
        return {metric.name: metric for metric in self._store.metrics(self._run)}

    def measured(self, number: int) -> Iterator[Portion]:
        """Every output and variant of a metric, one after the other."""
        metric = self._selection.metrics[number]
        stored, ends = self._stored[metric.spec.full_name], self.items.ends
        last = ends.tolist()
        for columns in read_columns(self._store, self._run, stored, with_parts=_split(metric), ends=ends):
            table = self.items.window(bisect_left(last, int(columns.items[0])))
            yield Portion(self._series(metric, columns, table), table)

    def derived(self, derived: Derived, signature: str) -> Iterator[Portion]:
        """A metric that is made per unit; its variants take turns, window by window."""
        windows = range(len(self.items.ends))
        for table in map(self.items.window, windows) if windows else [self.whole]:
            for variant, inputs in self._inputs(derived, table).items():
                yield Portion(_per_unit(derived, signature, variant, inputs, table), table)

    def rolled(self, derived: Derived) -> Iterator[tuple[str, Rolled]]:
        """A metric that exists only after roll-up, for each variant: all rows of its inputs."""
        for variant, inputs in self._inputs(derived, self.whole).items():
            yield variant, Rolled(derived, inputs)

    def _inputs(self, derived: Derived, table: ItemTable) -> Inputs:
        """The inputs of a derived metric by label, for each variant that has any of them among some items.

        One that has no rows at all is missing for every item; one that has them elsewhere is just not there.
        """
        found: Inputs = {}
        for wanted in derived.inputs:
            if wanted.metric in self._numbers:
                for variant in self._variants(wanted):
                    series = self._among(self._numbers[wanted.metric], (wanted.output, variant), table)
                    if series is not None:
                        found.setdefault("" if wanted.variant else variant, {})[wanted.label] = series
                continue
            inner, signature = self._others[wanted.metric]
            for variant, nodes in self._inputs(inner, table).items():
                late = inner.when is When.AFTER_ROLLUP
                node = Rolled(inner, nodes) if late else _per_unit(inner, signature, variant, nodes, table)
                found.setdefault(variant, {})[wanted.label] = node
        return found if found or self._has_rows(derived) else {"": {}}

    def _has_rows(self, derived: Derived) -> bool:
        """Whether any input of a derived metric has a row anywhere."""
        # A derived input has a row for each item, if only to say what it lacks.
        return any(wanted.metric not in self._numbers or self._variants(wanted) for wanted in derived.inputs)

    def _variants(self, wanted: Input) -> list[str]:
        """The variants of a measured input that have rows: the one it names, or those that are not kept apart."""
        number = self._numbers[wanted.metric]
        apart = self._selection.metrics[number].apart
        stored = [variant for output, variant in self._known(number) if output == wanted.output]
        return [one for one in stored if (one == wanted.variant if wanted.variant else one not in apart)]

    def _stored_series(self, number: int) -> list[tuple[str, str]]:
        stored = self._stored[self._selection.metrics[number].spec.full_name]
        return stored_series(self._store, self._run, stored)

    def _among(self, number: int, only: tuple[str, str], table: ItemTable) -> Series | None:
        """The rows that one output and variant of a metric has for some items."""
        if not len(table.numbers):
            return None
        metric = self._selection.metrics[number]
        stored, between = self._stored[metric.spec.full_name], (int(table.numbers[0]), int(table.numbers[-1]))
        for columns in read_columns(
            self._store, self._run, stored, with_parts=_split(metric), only=only, between=between
        ):
            return self._series(metric, columns, table)
        return None

    def _series(self, metric: Metric, found: ScoreColumns, table: ItemTable) -> Series:
        columns = found.only(table.has(found.items))  # a run that goes on may have written since the items were read
        return Series(
            metric.spec.name,
            metric.signed_as(columns.variant, self._stored[metric.spec.full_name].signature),
            next(output for output in metric.outputs if output.name == columns.output),
            columns.variant,
            partial(metric.pooled, columns.output),
            metric.spec.part,
            columns,
            table.rows_of(columns.items),
        )


def _per_unit(
    derived: Derived, signature: str, variant: str, inputs: dict[str, Series | Rolled], table: ItemTable
) -> Series:
    rows = {label: node for label, node in inputs.items() if isinstance(node, Series)}
    return derived_per_unit(derived, signature, variant, rows, table)


def _split(metric: Metric) -> bool:
    return metric.spec.part is not None


def needed_dimensions(selection: Selection, groupings: Sequence[By]) -> set[str]:
    """The dimensions of the items that anything is grouped by, or made of."""
    outputs = [output for metric in selection.metrics for output in metric.outputs]
    outputs += [derived.output for derived, _ in selection.derived]
    steps = (step for output in outputs for rollup in output.rollups for step in rollup.steps)
    asked = {name for derived, _ in selection.derived for name in derived.dimensions}
    return asked | {name for step in steps for name in step.by} | {name for names in groupings for name in names}


def count_groups(portions: Iterable[Portion], groupings: Sequence[By]) -> list[tuple[dict[str, str], int]]:
    """The groups of items, in the order in which their values appear in the data, with how many are in each."""
    counted: dict[By, dict[tuple[str, ...], int]] = {names: {} for names in groupings}
    order: dict[str, dict[str, int]] = {}
    for series, items in portions:
        order = order or {name: {v: i for i, v in enumerate(codes.names)} for name, codes in items.dimensions.items()}
        for names in groupings:
            if all(name in items.dimensions for name in names):
                grouped = group_rows(series, items, names)
                for key, n in zip(grouped.keys, grouped.n_total, strict=True):
                    counted[names][key] = counted[names].get(key, 0) + n
    found: list[tuple[dict[str, str], int]] = []
    for names, own in counted.items():
        ordered = sorted(own, key=lambda key: [order[name][value] for name, value in zip(names, key, strict=True)])
        found += [(dict(zip(names, key, strict=True)), own[key]) for key in ordered]
    return found
