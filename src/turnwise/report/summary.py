"""The results of a run: every metric, group and roll-up with its interval, from the stored rows alone."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from turnwise.engine.executors.nursery import needs_script
from turnwise.engine.parallel import in_parallel
from turnwise.kernel.derived import When
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.metric import COMPONENT
from turnwise.kernel.registry import REGISTRY, Registry
from turnwise.kernel.selection import Selection, select_metrics
from turnwise.report.derive import Rolled, derived_after_rollup, no_interval
from turnwise.report.intervals import pooled_rollup_intervals
from turnwise.report.portions import RunRows, count_groups, needed_dimensions
from turnwise.report.rolling import By, Rolling, entry
from turnwise.stats.intervals import Interval, Resampler
from turnwise.store.columns import ItemTable
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

RESAMPLES = 1000


def run_selection(store: Store, run: Run) -> Selection:
    """The metrics of a stored run with the settings it used, and those that came with later ratings.

    A metric that is not installed (any more) is left out; `not_installed` names it.
    """
    config = run.config
    registry = registry_of(run)
    known = {name.partition("/")[2] for name in registry.names(run.suite)}
    stored = [metric.name.partition("/")[2] for metric in store.metrics(run)]
    return select_metrics(
        run.suite,
        [name for name in stored if name in known],
        profile=run.profile,
        overrides=config.get("set", {}),
        context=config.get("context", {}),
        registry=registry,
    )


def registry_of(run: Run) -> Registry:
    """All metrics, and those of the rubrics that a run brought along."""
    own = run.config.get("rubrics", [])
    if not own:
        return REGISTRY
    from turnwise.judge.metric import registry_with
    from turnwise.judge.rubric import rubric_from

    return registry_with(rubric_from(content, f"run {run.id}", run.suite) for content in own)


def not_installed(store: Store, run: Run) -> list[str]:
    """Metrics of a stored run whose code is not here: their scores are kept, but cannot be rolled up anew."""
    known = set(registry_of(run).names(run.suite))
    return [metric.name for metric in store.metrics(run) if metric.name not in known]


def summarise(
    store: Store,
    run: Run,
    by: Sequence[By] | None = None,
    *,
    selection: Selection | None = None,
    resamples: int | None = None,
    workers: int = 1,
) -> list[dict[str, Any]]:
    """All results of a run for the whole data set and for each grouping in `by` (the run's own where none is given).

    `workers`: how many processes share the metrics; the numbers do not depend on it.
    """
    selection = selection or run_selection(store, run)
    groupings: list[By] = [(), *(tuple(names) for names in (run.config.get("by", []) if by is None else by))]
    plain = list(dict.fromkeys(_without_component(names) for names in groupings))
    dimensions = needed_dimensions(selection, plain)
    draws = resamples or run.config.get("resamples", RESAMPLES)
    rolling = Rolling(store, run, selection.metrics, plain, dimensions, draws)
    if by is not None:
        parts = {m.spec.part for m in selection.metrics if m.spec.part}
        check_dimensions(by, {COMPONENT, *rolling.items.names, *parts})
    left_out = run.config.get("not_measured", {})
    measured = [number for number, metric in enumerate(selection.metrics) if metric.spec.name not in left_out]
    results = list(_shared(rolling, measured, workers))
    results += _derived(rolling, selection)
    results += _not_measured(rolling, left_out)
    order = {name: place for place, (name, _) in enumerate(selection.signatures)}
    # The outputs as they are declared: the first is the one that people mean by the metric's name.
    outputs = {(m.spec.name, output.name): place for m in selection.metrics for place, output in enumerate(m.outputs)}
    results.sort(
        key=lambda one: (order[f"{run.suite}/{one['metric']}"], outputs.get((one["metric"], one["output"]), 0))
    )
    return list(_by_component(results, groupings, selection))


def _shared(rolling: Rolling, numbers: Sequence[int], workers: int) -> Iterator[dict[str, Any]]:
    """The results of the measured metrics, dealt out one by one."""
    if rolling.store.in_memory or (workers > 1 and needs_script(pickle.dumps(rolling))):
        workers = 1
    # What is rolled up goes along once per process, which then reads the items once for all its metrics.
    for found in in_parallel(rolling.measured, [(number,) for number in numbers], workers):
        yield from found


def _derived(rolling: Rolling, selection: Selection) -> Iterator[dict[str, Any]]:
    """The results of the metrics that are made of others: per unit first."""
    rows = RunRows(rolling.store, rolling.run, selection, rolling.items) if selection.derived else rolling.rows
    for derived, signature in selection.derived:
        if derived.when is When.PER_UNIT:
            yield from rolling.results(rows.derived(derived, signature))
    for derived, signature in selection.derived:
        if derived.when is When.AFTER_ROLLUP:
            for variant, rolled in rows.rolled(derived):
                for names in rolling.groupings:
                    yield from _derived_results(rolled, signature, variant, rows.whole, names, rolling.resampler)


def _not_measured(rolling: Rolling, reasons: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A line without a value for every group and roll-up of a metric that nothing in the run could be measured by."""
    groups: dict[str, list[tuple[dict[str, str], int]]] = {}
    for number, metric in enumerate(rolling.metrics):
        reason = reasons.get(metric.spec.name)
        if reason is None:
            continue
        unit = metric.spec.unit
        if unit not in groups:
            found = count_groups(rolling.rows.measured(number), rolling.groupings)
            groups[unit] = found or [({}, 1)]  # there is no such unit at all: said once
        for output in metric.outputs:
            for (group, n), rollup in product(groups[unit], output.rollups):
                nothing, counts = Interval(None, None, ""), (0, n, {reason: n})
                yield entry(metric.spec.name, output, "", group, rollup, None, nothing, counts, metric.signature)


def _without_component(names: By) -> By:
    return tuple(name for name in names if name != COMPONENT)


def _by_component(
    results: Iterable[dict[str, Any]], groupings: Sequence[By], selection: Selection
) -> Iterator[dict[str, Any]]:
    """Results of the groupings asked for: one that names the component has a copy for each that a metric tests."""
    specs = [metric.spec for metric in selection.metrics] + [derived.spec for derived, _ in selection.derived]
    components = {spec.name: spec.components for spec in specs}
    for result in results:
        own = tuple(result["group"])
        if own in groupings:
            yield result
        for names in groupings:
            if COMPONENT in names and _without_component(names) == own:
                for component in components[result["metric"]]:
                    group = {COMPONENT: component, **result["group"]}
                    yield {**result, "group": {name: group[name] for name in names}}


def stored_or_new(store: Store, run: Run) -> list[dict[str, Any]]:
    """The stored results, made anew where they were invalidated by a later rating."""
    results = store.rollups(run) if run.status == FINISHED else []
    if not results:
        as_of = store.run(run.id).updated
        results = summarise(store, run)
        if run.status == FINISHED:
            store.save_rollups(run, results, as_of=as_of)
    return results


def with_calibration(store: Store, results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results, those of a judge marked with how well it is known to agree with people; as of now."""
    if not any("|rubric=" in result["signature"] for result in results):
        return list(results)
    from turnwise.judge.calibrated import marks

    known = marks(store, ((result["signature"], result["output"]) for result in results))
    marked = ((result, known.get((result["signature"], result["output"]))) for result in results)
    return [{**result, "calibration": mark} if mark else result for result, mark in marked]


def summary_object(run: Run, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`summary.json`: the same shape for every room (docs/summary.schema.json)."""
    return {
        "run": {
            "id": run.id,
            "suite": run.suite,
            "system": run.system,
            "version": run.version,
            "status": run.status,
            "started": run.started,
            "finished": run.finished,
            "as_of": run.updated,
            "dataset_fingerprint": run.dataset_fingerprint,
            "turnwise_version": run.turnwise_version,
            "profile": run.profile,
            "config": dict(run.config),
            "coverage": run.config.get("coverage", {}),
            "findings": list(run.findings),
            "environment": dict(run.environment),
        },
        "results": list(results),
    }


def check_dimensions(by: Sequence[By], known: Collection[str]) -> None:
    """Refuse to slice by what no item has."""
    for name in (name for names in by for name in names):
        if name not in known:
            raise UsageError(
                f"--by {name}: no item has that dimension",
                expected=", ".join(sorted(known)) or "no dimension: the items have none",
                remedy=near_misses(name, known) or None,
            )


def _derived_results(
    rolled: Rolled, signature: str, variant: str, items: ItemTable, names: By, resampler: Resampler
) -> Iterator[dict[str, Any]]:
    spec, output = rolled.derived.spec, rolled.derived.output
    why_none = no_interval(rolled)
    for key, value, pooled, missing in derived_after_rollup(rolled, items, names):
        found = value is not None and pooled is not None
        interval = Interval(None, None, f"none: {why_none}" if why_none else "")
        if found and pooled and not why_none:
            interval = pooled_rollup_intervals(pooled, output, resampler)[0]
        group = dict(zip(names, key, strict=True))
        counts = (int(found), 1, missing)
        yield entry(spec.name, output, variant, group, output.primary, value, interval, counts, signature)
