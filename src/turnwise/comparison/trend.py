"""One metric over versions in the order of time, with the changes that chance does not explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from turnwise.comparison.checks import one_way, uncalibrated
from turnwise.comparison.selectors import VERSION, Chosen
from turnwise.comparison.sides import make_side
from turnwise.comparison.value import SideValue, find_output, find_rollup, side_value
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.jsontext import loads
from turnwise.kernel.metric import Direction, Output
from turnwise.kernel.rollup import Rollup
from turnwise.stats.changepoints import ChangePoint, Changes, change_points
from turnwise.store import schema
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

OTHER_DATA = "not the same data in all versions: a change may come from the data"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which series."""

    metric: str
    output: str | None = None
    rollup: str | None = None
    system: str | None = None
    room: str | None = None
    each_run: bool = False
    """A point for each run, not for each version."""
    allow_different: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One version (or run) of the series."""

    label: str
    started: str
    runs: tuple[Run, ...]
    found: SideValue
    change: ChangePoint | None = None
    """The change that this version began."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The series."""

    room: str
    system: str
    metric: str
    output: Output
    rollup: Rollup
    points: tuple[Point, ...]
    changes: Changes
    warnings: tuple[str, ...]

    @property
    def label(self) -> str:
        """The metric as tables name it."""
        name = self.metric if self.output.name == "value" else f"{self.metric}.{self.output.name}"
        return f"{name} ({self.rollup.name})"

    def word(self, change: ChangePoint) -> str:
        """What a change is for the reader."""
        up = change.change > 0
        if self.output.direction is Direction.NEITHER:
            return "higher" if up else "lower"
        return "better" if up == (self.output.direction is Direction.HIGHER) else "worse"

    def as_json(self) -> dict[str, Any]:
        """The published shape (docs/comparing.md)."""
        return {
            "suite": self.room,
            "system": self.system,
            "metric": self.metric,
            "output": self.output.name,
            "rollup": self.rollup.name,
            "direction": self.output.direction.value,
            "warnings": list(self.warnings),
            "scatter": self.changes.scatter,
            "no_changes_because": self.changes.reason,
            "points": [_point_json(self, point) for point in self.points],
        }


def make_trend(store: Store, wanted: Wanted) -> Trend:
    """The series of a metric; an error where it is not clear which one is meant."""
    runs = _runs(store, wanted)
    chosen = _points(store, runs, each_run=wanted.each_run)
    whole = make_side([one for _, ones in chosen for one in ones], wanted.system or "")
    name, output = find_output(whole, wanted.metric, wanted.output)
    rollup = find_rollup(wanted.metric, output, wanted.rollup)
    warnings = one_way(whole, wanted.metric, allow_different=wanted.allow_different, what="all versions")
    warnings += uncalibrated([whole], [name])
    points = []
    for label, ones in chosen:
        found = side_value(make_side(ones, label), name, output, rollup)
        points.append(Point(label, ones[0].run.started, tuple(one.run for one in ones), found))
    if len({frozenset(run.dataset_fingerprint for run in point.runs) for point in points}) > 1:
        warnings.append(OTHER_DATA)
    changes = change_points([p.found.value for p in points], [p.found.error for p in points])
    began = {change.index: change for change in changes.points}
    marked = tuple(Point(p.label, p.started, p.runs, p.found, began.get(number)) for number, p in enumerate(points))
    return Trend(runs[0].suite, runs[0].system, wanted.metric, output, rollup, marked, changes, tuple(warnings))


def _runs(store: Store, wanted: Wanted) -> list[Run]:
    """The finished runs that have the metric, the oldest first; of one room and one system."""
    table = schema.run_metrics
    query = select(table.c.run).where(table.c.name.endswith(f"/{wanted.metric}", autoescape=True))
    with store.reading() as connection:
        having = set(connection.scalars(query))
    finished = [run for run in reversed(store.runs()) if run.status == FINISHED]
    runs = [run for run in finished if run.key in having]
    if not runs:
        known = sorted({metric.name.partition("/")[2] for run in finished for metric in store.metrics(run)})
        raise UsageError(
            f"no finished run has a metric {wanted.metric!r}",
            expected=", ".join(known) or "no run that has finished",
            remedy=near_misses(wanted.metric, known) or None,
        )
    runs = _one(runs, "room", wanted.room, lambda run: run.suite)
    return _one(runs, "system", wanted.system, lambda run: run.system)


def _one(runs: list[Run], what: str, wanted: str | None, of: Any) -> list[Run]:
    names = list(dict.fromkeys(of(run) for run in runs))
    if wanted is None and len(names) > 1:
        raise UsageError(f"there are runs of several {what}s", found=", ".join(names), remedy=f'--{what} "{names[-1]}"')
    kept = [run for run in runs if wanted in (None, of(run))]
    if not kept:
        raise UsageError(
            f"no finished run with the metric has the {what} {wanted!r}",
            expected=", ".join(names),
            remedy=near_misses(str(wanted), names) or None,
        )
    return kept


def _points(store: Store, runs: Sequence[Run], *, each_run: bool) -> list[tuple[str, list[Chosen]]]:
    """Versions in the order of their first run (in a run of several, of their first item); a run without one alone."""
    found: dict[str, list[Chosen]] = {}
    for run in runs:
        if each_run:
            label = f"{run.version} {run.started[:16]}".strip()
            found[run.id if label in found else label] = [Chosen(store, run)]
            continue
        for version in _versions(store, run):
            found.setdefault(version or run.id, []).append(Chosen(store, run, version))
    return list(found.items())


def _versions(store: Store, run: Run) -> list[str]:
    """The versions of a run's items, in the order of the data; an item without one has the run's."""
    table = schema.items
    query = select(table.c.dimensions).where(table.c.run == run.key).order_by(table.c.number)
    with store.reading() as connection:
        known = dict.fromkeys(connection.scalars(query))
    return list(dict.fromkeys(loads(text).get(VERSION, run.version) for text in known)) or [run.version]


def _point_json(trend: Trend, point: Point) -> dict[str, Any]:
    change = point.change
    return {
        "version": point.label,
        "started": point.started,
        "runs": [run.id for run in point.runs],
        "data": list(dict.fromkeys(run.dataset_fingerprint for run in point.runs)),
        "value": point.found.value,
        "low": point.found.interval.low,
        "high": point.found.interval.high,
        "interval": point.found.interval.method,
        "error": point.found.error,
        "n_scored": point.found.n_scored,
        "n_total": point.found.n_total,
        "change": None
        if change is None
        else {
            "before": change.before,
            "after": change.after,
            "difference": change.change,
            "error": change.error,
            "p": change.p,
            "verdict": trend.word(change),
        },
    }
