"""What the contract looks at: measurements of records, their values, their rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output, Settings
from turnwise.kernel.rollup import CLUSTER, ITEM, Rollup, Rows, compile_rollup
from turnwise.kernel.score import Measurement, Parts, Score, Status, Unit


class Found(NamedTuple):
    """A measurement with its value."""

    unit: Unit
    output: str
    measurement: Measurement
    value: float | None

    @property
    def scored(self) -> bool:
        """Whether there is a value or a label."""
        return self.value is not None or self.measurement.label is not None


def measure(metric: Metric, batch: Any, without: Collection[str] = ()) -> list[Found]:
    """Every measurement of a batch, but for some variants, each with its value worked out on its own."""
    found = []
    for unit, output, measurement in metric.measure(batch):
        if measurement.variant in without:
            continue
        value = None
        if measurement.statistics is not None:
            value = float(metric.value(output, np.array([measurement.statistics], dtype=np.float64))[0])
        found.append(Found(unit, output, measurement, value))
    return found


def by_unit(found: Sequence[Found]) -> dict[tuple[str, str, str, int], Any]:
    """What is said about each unit; the order inside its evidence and of its parts does not count."""
    said = {}
    for one in found:
        m = one.measurement
        key = (one.unit.id, one.output, m.variant, m.repeat)
        assert key not in said, f"{key} is scored twice"
        said[key] = (one.unit, m._replace(evidence=_unordered(m.evidence), parts=None), vectors(m.parts), one.value)
    return said


def vectors(parts: Parts | None) -> dict[str, tuple[float, ...]]:
    """The statistics vector of each part by its name."""
    if parts is None:
        return {}
    found = dict(zip(parts.names, zip(*parts.statistics, strict=True), strict=True)) if parts.names else {}
    assert len(found) == len(parts.names), f"a part is named twice: {parts.names}"
    return found


def comparable(scores: list[Score]) -> list[tuple[Score, list[Any]]]:
    """In the order of their places; no parts are the same as none, and a column of parts is a list or a tuple."""
    ordered = sorted(scores, key=lambda score: (score.unit.id, score.output, score.variant, score.repeat))
    return [(replace(score, parts=None), list(vectors(score.parts).items())) for score in ordered]


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_unordered(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def all_settings(spec: MetricSpec) -> Iterator[Settings]:
    """Each profile, and each parameter set to each value it can have (numbers: their default)."""
    for profile in dict.fromkeys(("turnwise", "spec", *spec.profiles)):
        yield Settings(profile)
    for parameter in spec.parameters:
        others = parameter.choices or ((not parameter.default,) if isinstance(parameter.default, bool) else ())
        for value in others:
            if value != parameter.default:
                yield Settings("turnwise", {parameter.name: value})


def best(output: Output) -> float:
    """The best value of an output's range in its direction."""
    assert output.direction is not Direction.NEITHER, f"{output.name} is neither good nor bad"
    value = output.range[1] if output.direction is Direction.HIGHER else output.range[0]
    assert value is not None, f"{output.name} has no best value: its range is {output.range}"
    return value


class Table:
    """The scored rows of one output in several batches, with clusters and items numbered alike in all of them.

    A number is about one variant; here it is the real thing.
    """

    def __init__(self, metric: Metric, output: Output, *batches: Sequence[Found]) -> None:
        self.metric, self.output = metric, output
        self.scored = [
            [one for one in found if one.output == output.name and _is_real_score(one.measurement)] for found in batches
        ]
        everything = [one for found in self.scored for one in found]
        names = [step_name for rollup in output.rollups for step in rollup.steps for step_name in step.by]
        self.codes: dict[str, dict[str, int]] = {}
        for name in {CLUSTER, ITEM, *names}:
            texts = sorted({_key(one.unit, name) for one in everything})
            self.codes[name] = {text: code for code, text in enumerate(texts)}

    def rows(self, *which: int) -> Rows:
        chosen = [one for place in which for one in self.scored[place]]
        width = len(self.output.statistics)
        statistics = [one.measurement.statistics or () for one in chosen]
        keys = {
            name: np.array([codes[_key(one.unit, name)] for one in chosen], dtype=np.int64)
            for name, codes in self.codes.items()
        }
        return Rows(
            np.array([np.nan if one.value is None else one.value for one in chosen], dtype=np.float64),
            np.array(statistics, dtype=np.float64).reshape(len(chosen), -1 if chosen else width),
            keys,
            [one.measurement.label for one in chosen],
        )

    def compiled(self, rollup: Rollup, *which: int) -> Any:
        rows = self.rows(*which)
        groups = np.zeros(len(rows), dtype=np.int64)
        n_clusters = max(1, len(self.codes[CLUSTER]))
        return compile_rollup(
            rollup, rows, groups, 1, n_clusters, lambda statistics: self.metric.pooled(self.output.name, statistics)
        )


def _is_real_score(measurement: Measurement) -> bool:
    return measurement.status is Status.SCORED and not measurement.variant


def _key(unit: Unit, name: str) -> str:
    own = {CLUSTER: unit.cluster, ITEM: unit.id}
    return own[name] if name in own else unit.dimensions.get(name, "")


def rolled_up(metric: Metric, output: Output, found: Sequence[Found], rollup: Rollup | None = None) -> float | None:
    """The number of a data set; None where nothing is scored."""
    table = Table(metric, output, found)
    if not table.scored[0]:
        return None
    return float(table.compiled(rollup or output.primary, 0).point()[0])
