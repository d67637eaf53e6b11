"""The judge's scores of a stored run beside people's ratings of it: from the store, or a file that names its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnwise.judge.calibrated import judged_by, parts_of
from turnwise.judge.calibration_input import Comparable, RatedItem, Said, check_dimension
from turnwise.judge.metric import output_name
from turnwise.judge.ratings_file import RatingsFile
from turnwise.judge.records import Rubric
from turnwise.kernel.errors import InputError, UsageError
from turnwise.kernel.jsontext import loads
from turnwise.kernel.score import Source, Status
from turnwise.store.calibrations import OutputScore, output_scores
from turnwise.store.ratings import human_ratings
from turnwise.store.run import Run, RunMetric
from turnwise.store.store import Store

Scored = dict[int, tuple[str, str, Said]]
"""Item number to id, cluster and what the judge said."""


def from_file_and_run(
    file: RatingsFile, rubric: Rubric, rated: Mapping[str, str], store: Store, run: Run
) -> Comparable:
    """People's ratings come from a file whose ids are those of the run's items."""
    metric = judged_metric(store, run, rubric)
    dimensions, unrated = {}, {}
    for name, column in rated.items():
        about = rubric.dimension(name)
        scores = {item: (cluster, said) for item, cluster, said in _scores(store, run, metric, rubric, name).values()}
        given: list[RatedItem] = []
        unrated[name] = 0
        for item, rows in file.items.items():
            ratings = {row.rater: file.rating_of(row, column, about) for row in rows}
            people = {rater: rating for rater, rating in ratings.items() if rating is not None}
            cluster, said = scores.get(item, (item, Said(None, f"not among the {rubric.unit}s of the run")))
            unrated[name] += not people
            given += [RatedItem(item, cluster, people, said)] if people else []
        if not any(item.id in scores for item in given):
            raise _no_overlap(file, run, list(scores))
        dimensions[name] = given
    return _of_run(rubric, metric, run, dimensions, unrated)


def from_run(rubric: Rubric, store: Store, run: Run, only: str | None) -> Comparable:
    """People's ratings are in the store too, from `turnwise rate` or added by a program."""
    if only is not None:
        check_dimension(rubric, only)
    metric = judged_metric(store, run, rubric)
    people: dict[str, dict[int, dict[str, float]]] = {}
    for rating in human_ratings(store, run):
        if rating.value is not None:
            own = people.setdefault(rating.metric.partition("/")[2], {})
            own.setdefault(rating.item, {})[rating.rater] = rating.value
    dimensions, unrated = {}, {}
    for dimension in rubric.dimensions:
        if only not in (None, dimension.name) or dimension.scale is None:
            continue
        given = _rated_as(
            people, dimension.name, metric.name.partition("/")[2] if dimension.name == rubric.primary else ""
        )
        if not given:
            continue
        scores = _scores(store, run, metric, rubric, dimension.name)
        nobody = Said(None, f"not among the {rubric.unit}s that were judged")
        rows = [(scores.get(number, (str(number), str(number), nobody)), by) for number, by in given.items()]
        dimensions[dimension.name] = [RatedItem(item, cluster, by, said) for (item, cluster, said), by in rows]
        unrated[dimension.name] = len(scores.keys() - given.keys())
    if not dimensions:
        raise InputError(
            f"run {run.id} has no ratings by people of what the judge scored",
            found=f"ratings of {', '.join(sorted(people))}" if people else "no ratings",
            expected=f"ratings of {only or ', '.join(one.name for one in rubric.dimensions)}",
            remedy="turnwise rate, or a file: --ratings human.csv",
        )
    return _of_run(rubric, metric, run, dimensions, unrated)


def _of_run(
    rubric: Rubric,
    metric: RunMetric,
    run: Run,
    dimensions: Mapping[str, Sequence[RatedItem]],
    unrated: Mapping[str, int],
) -> Comparable:
    settings = {name: text for name, text in parts_of(metric.signature).items() if name not in ("judge", "rubric")}
    return Comparable(rubric, judged_by(metric.signature), f"in run {run.id}", dimensions, unrated, settings)


def _rated_as(people: Mapping[str, Any], dimension: str, metric: str) -> dict[int, dict[str, float]]:
    """People rate under the dimension's name, as `NAME_score` (the assistant room), or under the judged metric."""
    return next((people[name] for name in (dimension, f"{dimension}_score", metric) if name in people), {})


def judged_metric(store: Store, run: Run, rubric: Rubric) -> RunMetric:
    """The metric of a run whose scores were given under this rubric, word for word."""
    metrics = store.metrics(run)
    judged = {metric.name: parts_of(metric.signature) for metric in metrics if judged_by(metric.signature)}
    wanted = f"{rubric.name}:{rubric.hash}"
    for metric in metrics:
        if metric.name in judged and judged[metric.name].get("rubric") == wanted:
            return metric
    found = [parts.get("rubric", "") for parts in judged.values()]
    other = next((one for one in found if one.partition(":")[0] == rubric.name), None)
    raise UsageError(
        f"run {run.id} was judged with another version of {rubric.name}"
        if other
        else f"run {run.id} has no {rubric.name}",
        found=other or (f"judged: {', '.join(found)}" if found else "no metric of a judge"),
        expected=wanted,
        remedy="name the rubric that the run was judged with, or run it again with this one",
    )


def _scores(store: Store, run: Run, metric: RunMetric, rubric: Rubric, dimension: str) -> Scored:
    """What the judge said about each item, on one dimension."""
    # Evidence is kept once for all dimensions, with the main one.
    main = _outputs(store, run, metric, rubric, rubric.primary)
    own = main if dimension == rubric.primary else _outputs(store, run, metric, rubric, dimension)
    evidence = {row.item: row.evidence for row in main if row.evidence}
    # What was never asked has a row under the main dimension only, which says why.
    found: Scored = {row.item: (row.id, row.cluster, Said(None, row.reason or row.status)) for row in main}
    for row in own:
        score = row.label if row.value is None else row.value
        missing = "" if row.status == Status.SCORED else row.reason or row.status
        reasoning = _reasoning(evidence.get(row.item), dimension, score)
        found[row.item] = (row.id, row.cluster, Said(score, missing, reasoning))
    return found


def _outputs(store: Store, run: Run, metric: RunMetric, rubric: Rubric, dimension: str) -> list[OutputScore]:
    rows = output_scores(store, run, metric.number, output_name(rubric, rubric.dimension(dimension)))
    return [row for row in rows if row.source != Source.HUMAN.value]


def _reasoning(evidence: str | None, dimension: str, score: float | str | None) -> str:
    """The reasoning of the repeat that gave this score, else of the first."""
    kept = loads(evidence) if evidence else {}
    answers = [one for one in kept.get("answers", ()) if one.get("reasoning")]
    gave = [one for one in answers if one["scores"].get(dimension) == score]
    return str([*gave, *answers][0]["reasoning"]) if answers else ""


def _no_overlap(file: RatingsFile, run: Run, judged: Sequence[str]) -> InputError:
    return InputError(
        f"no id of {file.path} is an item that was judged in run {run.id}",
        found=f"ids such as {', '.join(list(file.items)[:3])}",
        expected=f"ids such as {', '.join(judged[:3])}" if judged else "scores of the judge, of which there are none",
        remedy=f"turnwise export {run.id} lists the items of the run",
    )
