"""One side of a comparison: the runs it is made of, read as if they were one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from turnwise.comparison.merging import Portion, merged
from turnwise.comparison.selectors import Chosen
from turnwise.comparison.universe import Part, Universe
from turnwise.kernel.derived import Derived, When
from turnwise.kernel.metric import Metric, Output
from turnwise.kernel.selection import Selection
from turnwise.report.derive import Rolled, derived_per_unit
from turnwise.report.series import Series
from turnwise.report.summary import run_selection
from turnwise.store.columns import Codes, ItemTable, read_columns
from turnwise.store.run import FINISHED, Run

Node = Series | Rolled
Name = tuple[str, str]
"""Metric (short name) and output."""


class Side:
    """The runs of a side. Scores are read when they are asked for, one metric at a time."""

    def __init__(self, universe: Universe, number: int, text: str, *, as_repeats: bool = False) -> None:
        self.text = text
        self.universe = universe
        self.parts = universe.parts(number)
        self.items: ItemTable = universe.table(number)
        self.has = universe.has(number)
        self.as_repeats = as_repeats
        self.replaced = 0
        """Most items of a metric whose older scores were left out for newer ones."""
        self._selections: list[Selection] | None = None

    @property
    def runs(self) -> list[Run]:
        """The runs, the oldest first."""
        return [part.chosen.run for part in self.parts]

    @property
    def label(self) -> str:
        """System and version, as a reader knows them."""
        systems = dict.fromkeys(run.system for run in self.runs)
        return " ".join(part for part in (" + ".join(systems), " + ".join(filter(None, self.versions))) if part)

    @property
    def versions(self) -> list[str]:
        """The versions it holds; the empty text for a run that says none."""
        chosen = (part.chosen for part in self.parts)
        return list(dict.fromkeys(c.run.version if c.version is None else c.version for c in chosen))

    @property
    def selections(self) -> list[Selection]:
        """The metrics of each run with the settings it used."""
        if self._selections is None:
            self._selections = [run_selection(part.chosen.store, part.chosen.run) for part in self.parts]
        return self._selections

    def outputs(self) -> dict[Name, Output]:
        """Every output of every metric, in the order of the newest run that has it."""
        found: dict[Name, Output] = {}
        for selection in reversed(self.selections):
            for metric in selection.metrics:
                for output in metric.outputs:
                    found.setdefault((metric.spec.name, output.name), output)
            for derived, _ in selection.derived:
                found.setdefault((derived.spec.name, derived.output.name), derived.output)
        return found

    def signatures(self, metric: str) -> list[str]:
        """The ways in which a metric was measured in the runs of this side."""
        full = f"{self.runs[0].suite}/{metric}"
        found = (sign for selection in self.selections for name, sign in selection.plain_signatures if name == full)
        return list(dict.fromkeys(found))

    def part_of(self, metric: str) -> str | None:
        """The dimension along which a metric's measurements can be split."""
        specs = (m.spec for selection in self.selections for m in selection.metrics)
        return next((spec.part for spec in specs if spec.name == metric), None)

    def node(self, name: Name, variant: str = "") -> Node | None:
        """The scores of one output, or what a number after roll-up is made of; None where no run has any."""
        derived = self._derived(name[0])
        return self._measured(name, variant) if derived is None else self._made(*derived)

    def _derived(self, metric: str) -> tuple[Derived, str] | None:
        for selection in reversed(self.selections):
            for derived, signature in selection.derived:
                if derived.spec.name == metric:
                    return derived, signature
        return None

    def _made(self, derived: Derived, signature: str) -> Node:
        inputs: dict[str, Node] = {}
        for wanted in derived.inputs:
            node = self.node((wanted.metric, wanted.output), wanted.variant)
            if node is not None:
                inputs[wanted.label] = node
        if derived.when is When.AFTER_ROLLUP:
            return Rolled(derived, inputs)
        rows = {label: node for label, node in inputs.items() if isinstance(node, Series)}
        made = derived_per_unit(derived, signature, "", rows, self._own_items())
        return replace(made, positions=made.columns.items)

    def _own_items(self) -> ItemTable:
        """The items of this side alone: a metric none of whose inputs has a row is missing for each of them."""
        own = np.flatnonzero(self.has)
        clusters = Codes(self.items.clusters.codes[own], self.items.clusters.names)
        dimensions = {name: Codes(found.codes[own], found.names) for name, found in self.items.dimensions.items()}
        return ItemTable(own.astype(np.int64), clusters, dimensions)

    def _measured(self, name: Name, variant: str) -> Series | None:
        portions: list[Portion] = []
        last: tuple[Metric, Output, str] | None = None
        for part, selection in zip(self.parts, self.selections, strict=True):
            metric = next((m for m in selection.metrics if m.spec.name == name[0]), None)
            output = None if metric is None else next((o for o in metric.outputs if o.name == name[1]), None)
            if metric is None or output is None:
                continue
            last = metric, output, metric.signature
            portions += _portions(part, metric, name[1], variant)
        if last is None or not portions:
            return None
        metric, output, signature = last
        columns, replaced = merged(portions, as_repeats=self.as_repeats)
        self.replaced = max(self.replaced, replaced)
        value = partial(metric.pooled, output.name)
        return Series(name[0], signature, output, "", value, metric.spec.part, columns, columns.items)


def _portions(part: Part, metric: Metric, output: str, variant: str) -> list[Portion]:
    """The rows of one output in one run: the plain ones, or of a variant that goes into a derived metric."""
    store, run = part.chosen.store, part.chosen.run
    stored = next(one for one in store.metrics(run) if one.name == metric.spec.full_name)
    return [
        (columns, part.places_of(columns.items))
        for columns in read_columns(store, run, stored, with_parts=metric.spec.part is not None)
        if columns.output == output and columns.variant == variant
    ]


def make_sides(
    a: Sequence[Chosen], b: Sequence[Chosen], texts: tuple[str, str] = ("A", "B"), *, as_repeats: bool = False
) -> tuple[Side, Side]:
    """Both sides of a comparison, over common items."""
    universe = Universe(a, b)
    return (
        Side(universe, 0, texts[0], as_repeats=as_repeats),
        Side(universe, 1, texts[1], as_repeats=as_repeats),
    )


def make_side(chosen: Sequence[Chosen], text: str = "", *, as_repeats: bool = False) -> Side:
    """A side of its own, for a gate or a trend."""
    return Side(Universe(chosen), 0, text, as_repeats=as_repeats)


def unfinished(side: Side) -> list[Run]:
    """Runs that were named although they have not finished."""
    return [run for run in side.runs if run.status != FINISHED]


def about(side: Side) -> dict[str, Any]:
    """A side as outputs name it."""
    return {
        "selector": side.text,
        "label": side.label,
        "runs": [run.id for run in side.runs],
        "system": list(dict.fromkeys(run.system for run in side.runs)),
        "version": side.versions,
        "profile": list(dict.fromkeys(run.profile for run in side.runs)),
        "data": list(dict.fromkeys(run.dataset_fingerprint for run in side.runs)),
        "items": int(side.has.sum()),
    }
