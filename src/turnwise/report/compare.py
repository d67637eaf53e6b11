"""The difference between two runs on the items they share, with a paired interval clustered like everything else.

Tests of significance, power and gates build on this; here is only the estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Metric, Output
from turnwise.kernel.rollup import CLUSTER, ITEM, FloatArray, Pooled, Rows, combinations, compile_rollup
from turnwise.kernel.score import Score, Status
from turnwise.stats.intervals import Resampler, pooled_intervals

Key = tuple[str, str, int]


def compare_scores(
    metrics: Iterable[Metric], a: Sequence[Score], b: Sequence[Score], resamples: int = 1000
) -> list[dict[str, Any]]:
    """Per metric output: the primary roll-up of both on their shared items, b - a, and its 95 % interval."""
    rows = []
    for metric in metrics:
        for output in metric.outputs:
            first, second = (_by_item(scores, metric.spec.full_name, output.name) for scores in (a, b))
            _check_signatures(metric, first, second)
            rows.append(_compare(metric, output, first, second, resamples))
    return rows


def _by_item(scores: Sequence[Score], metric: str, output: str) -> dict[Key, Score]:
    """The real, scored rows by item and repeat; several raters of one item are averaged first."""
    found: dict[Key, list[Score]] = {}
    for score in scores:
        wanted = score.metric == metric and score.output == output and not score.variant
        if wanted and score.status is Status.SCORED:
            found.setdefault((score.unit.kind, score.unit.id, score.repeat), []).append(score)
    return {key: _averaged(group) for key, group in found.items()}


def _averaged(scores: list[Score]) -> Score:
    values = [score.value for score in scores if score.value is not None]
    if len(scores) == 1 or len(values) < len(scores):
        return scores[0]
    value = sum(values) / len(values)
    return replace(scores[0], value=value, statistics=(value,))


def _check_signatures(metric: Metric, a: dict[Key, Score], b: dict[Key, Score]) -> None:
    signs = {score.signature for score in (*a.values(), *b.values())}
    if len(signs) > 1:
        raise UsageError(
            f"{metric.spec.name} was measured in two ways, so the numbers cannot be compared",
            found=" and ".join(sorted(signs)),
            remedy="evaluate both with the same profile, settings and normaliser",
        )


def _compare(
    metric: Metric, output: Output, a: dict[Key, Score], b: dict[Key, Score], resamples: int
) -> dict[str, Any]:
    shared = [key for key in a if key in b]
    row: dict[str, Any] = {"metric": metric.spec.name, "output": output.name, "rollup": output.primary.name}
    row |= {"n": len(shared), "unpaired": len(a) + len(b) - 2 * len(shared)}
    row |= {"a": None, "b": None, "difference": None, "low": None, "high": None}
    if not shared:
        return row
    names = {cluster: code for code, cluster in enumerate(dict.fromkeys(a[key].unit.cluster for key in shared))}
    clusters = np.array([names[a[key].unit.cluster] for key in shared], dtype=np.int64)
    sides = [_compiled(metric, output, [side[key] for key in shared], clusters, len(names)) for side in (a, b)]
    if any(side is None for side in sides):
        return row
    left, right = (side for side in sides if side is not None)
    width = left.totals.shape[-1]

    def difference(statistics: FloatArray) -> FloatArray:
        return right.value(statistics[..., width:]) - left.value(statistics[..., :width])

    totals = np.concatenate([left.totals, right.totals], axis=-1)
    found = pooled_intervals(totals, left.present, difference, Resampler(len(names), resamples))[0]
    values = float(left.point()[0]), float(right.point()[0])
    return {
        **row,
        "a": values[0],
        "b": values[1],
        "difference": values[1] - values[0],
        "low": found.low,
        "high": found.high,
    }


def _compiled(metric: Metric, output: Output, scores: list[Score], clusters: Any, n_clusters: int) -> Pooled | None:
    """One side as cluster totals; None where its roll-up is a percentile."""
    width = len(output.statistics)
    statistics = np.array([score.statistics or [np.nan] * width for score in scores], dtype=np.float64)
    ids = {unit: code for code, unit in enumerate(dict.fromkeys(score.unit.id for score in scores))}
    items = np.array([ids[score.unit.id] for score in scores], dtype=np.int64)
    keys = {CLUSTER: clusters, ITEM: items}
    for name in {name for step in output.primary.steps for name in step.by} - set(keys):
        column = [score.unit.dimensions.get(name, "") for score in scores]
        numbers = {text: code for code, text in enumerate(dict.fromkeys(column))}
        keys[name] = np.array([numbers[text] for text in column], dtype=np.int64)
    values = np.array([np.nan if score.value is None else score.value for score in scores])
    rows = Rows(values, statistics, keys, [score.label for score in scores])
    groups, _ = combinations([], len(scores))
    made = compile_rollup(output.primary, rows, groups, 1, n_clusters, lambda s: metric.pooled(output.name, s))
    return made if isinstance(made, Pooled) else None
