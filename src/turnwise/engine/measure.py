"""One batch through all metrics: measurements to rows. Runs in the process or in a worker; touches no database.

A metric that raises costs the unit it fails on, never the run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any

import numpy as np

from turnwise.kernel.jsontext import dumps_clean
from turnwise.kernel.metric import Batch, Metric, MetricSpec
from turnwise.kernel.score import Measurement, Parts, Status, Unit, failed, skipped
from turnwise.store.rows import SCORE_COLUMNS, Valued, measurement_row, measurement_rows
from turnwise.store.run import BatchRows

ITEM_BITS = 20
"""Item numbers are the batch's index and the place in it, so they are the same whoever measures in whatever order."""

ITEM_COLUMN = SCORE_COLUMNS.index("item")
_PLACE = itemgetter(*map(SCORE_COLUMNS.index, ("item", "output", "variant", "repeat")))
"""What no two rows of a metric share."""

Found = tuple[Unit, str, Measurement]
_SCORED = Status.SCORED


@dataclass(frozen=True)
class Workload:
    """What is done with each batch; picklable."""

    metrics: Sequence[tuple[int, Metric]]
    """With their numbers in the run."""
    variants: Mapping[str, Callable[[Any], Batch]] = field(default_factory=dict)
    """Other answers to the same batch, scored beside the real ones (baselines, probes)."""
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Metrics that no record of the run carries the fields for, with the reason."""

    def __call__(self, batch: Batch) -> BatchRows:
        """Items and scores of a batch."""
        items: list[tuple[Any, ...]] = []
        numbers: dict[tuple[str, str], int] = {}
        dimensions: dict[tuple[tuple[str, str], ...], str] = {}
        for place, (unit, content) in enumerate(batch.items()):
            number = batch.index << ITEM_BITS | place
            numbers[unit.kind, unit.id] = number
            key = tuple(unit.dimensions.items())
            text = dimensions.get(key) or dimensions.setdefault(key, dumps_clean(unit.dimensions))
            items.append(
                (number, unit.kind, unit.id, unit.cluster, text, None if content is None else dumps_clean(content))
            )
        if len(numbers) != len(items):
            raise ValueError(f"batch {batch.index} names a unit twice")
        scores = self._scores(batch, "", numbers)
        for variant, change in self.variants.items():
            scores += self._scores(change(batch), variant, numbers)
        return BatchRows(batch.index, items, scores)

    def _scores(self, batch: Batch, variant: str, numbers: Mapping[tuple[str, str], int]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for number, metric in self.metrics:
            if metric.spec.name in self.not_measured:
                rows += [] if variant else self._skipped(number, metric.spec, numbers)
                continue
            if variant and not metric.spec.baselines:
                continue
            try:
                rows += _rows(number, metric, metric.measure(batch), variant, numbers)
            except Exception:  # whatever a metric raises is looked at unit by unit
                rows += _one_by_one(number, metric, batch, variant, numbers)
        return rows

    def _skipped(self, number: int, spec: MetricSpec, numbers: Mapping[tuple[str, str], int]) -> list[tuple[Any, ...]]:
        """One row per unit that says why there is nothing; under the first output, so that it is said once."""
        reason = skipped(self.not_measured[spec.name])
        row = measurement_row(number, spec.outputs[0].name, 0, None, reason)
        items = (item for (kind, _), item in numbers.items() if kind == spec.unit)
        return [(*row[:ITEM_COLUMN], item, *row[ITEM_COLUMN + 1 :]) for item in items]


def _one_by_one(
    number: int, metric: Metric, batch: Batch, variant: str, numbers: Mapping[tuple[str, str], int]
) -> list[tuple[Any, ...]]:
    """Measure each unit alone, so that an exception becomes the error of the unit it belongs to."""
    rows: list[tuple[Any, ...]] = []
    for unit, part in batch.split(metric.spec.unit):
        try:
            rows += _rows(number, metric, metric.measure(part), variant, numbers)
        except Exception as error:
            reason = failed(_reason(error))
            outputs: list[Found] = [(unit, output.name, reason) for output in metric.spec.outputs]
            rows += _rows(number, metric, outputs, variant, numbers)
    return rows


def _rows(
    number: int, metric: Metric, found: Iterable[Found], variant: str, numbers: Mapping[tuple[str, str], int]
) -> list[tuple[Any, ...]]:
    measurements = list(found)
    known = {output.name for output in metric.spec.outputs}
    if unknown := {output for _, output, _ in measurements} - known:
        raise ValueError(f"{metric.spec.full_name} has no output {', '.join(sorted(unknown))}")
    values = _values(metric, measurements)
    valued: list[Valued] = []
    about, item = None, 0
    for (unit, output, measurement), value in zip(measurements, values, strict=True):
        if value is not None and not isfinite(value):
            measurement, value = failed("the value is not a finite number"), None
        if unit is not about:  # the outputs of a unit follow each other
            about, item = unit, numbers[unit.kind, unit.id]
        if variant:
            # A baseline needs no explanation; its own probes stay apart from those of the real system.
            own = f"{variant}/{measurement.variant}" if measurement.variant else variant
            measurement = measurement._replace(evidence=None, variant=own)
        if measurement.parts is not None:
            _check_parts(metric, output, measurement.parts)
        valued.append((output, item, value, measurement))
    rows = measurement_rows(number, valued)
    if len(set(map(_PLACE, rows))) < len(rows):
        again = Counter(map(_PLACE, rows)).most_common(1)[0][0]
        unit = next(one for (one, *_), row in zip(measurements, rows, strict=True) if _PLACE(row) == again)
        raise ValueError(f"{metric.spec.full_name} scored {unit.id} twice")
    return rows


def _check_parts(metric: Metric, output: str, parts: Parts) -> None:
    lengths = {len(parts.names), *(len(column) for column in parts.statistics)}
    if len(lengths) != 1 or len(parts.statistics) != len(metric.spec.output(output).statistics):
        raise ValueError(f"parts of output {output} are not one column per statistic, all as long as their names")
    if any(number - number != 0 for column in parts.statistics for number in column):  # NaN and infinity
        raise ValueError(f"parts of output {output} are not finite")


def _values(metric: Metric, measurements: Sequence[Found]) -> list[float | None]:
    """The value of each scored statistics vector, one call per output."""
    values: list[float | None] = [None] * len(measurements)
    places: defaultdict[str, list[int]] = defaultdict(list)
    vectors: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for place, (_, output, measurement) in enumerate(measurements):
        if measurement.statistics is not None and measurement.status is _SCORED:
            places[output].append(place)
            vectors[output].append(measurement.statistics)
    for output, chosen in places.items():
        for place, value in zip(chosen, _values_of(metric, output, vectors[output]), strict=True):
            values[place] = value
    return values


def _values_of(metric: Metric, output: str, statistics: list[tuple[float, ...]]) -> list[float]:
    """The values of an output; NaN where a vector is not finite."""
    layout = metric.spec.output(output).statistics
    if len(layout) == 1 and type(metric).value is Metric.value and set(map(len, statistics)) == {1}:
        numbers = list(chain.from_iterable(statistics))
        if set(map(type, numbers)) == {float}:
            return numbers  # a statistic that is the value
    vectors = np.array(statistics, dtype=np.float64)
    if vectors.shape != (len(statistics), len(layout)):
        raise ValueError(f"output {output} has the statistics {', '.join(layout)}; found {vectors.shape[1:]}")
    values: list[float] = np.where(np.isfinite(vectors).all(axis=1), metric.value(output, vectors), np.nan).tolist()
    return values


def _reason(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:197]}..."
