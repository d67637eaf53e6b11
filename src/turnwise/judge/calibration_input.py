"""What people and a judge said about the same items: put together from a file, a stored run, or by asking the judge.

The result is the same whichever way the judge's scores came in, and so are the statistics (calibrate.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from turnwise.judge.ratings_file import (
    CLUSTER,
    JUDGE,
    MODEL,
    RATING_COLUMNS,
    REASONING_COLUMNS,
    RatingRow,
    RatingsFile,
)
from turnwise.judge.records import Dimension, Question, Rubric, Verdict
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.score import Unit

if TYPE_CHECKING:
    from turnwise.judge.ask import Judge, Progress

NOT_APPLICABLE = "the judge says that it does not apply"

Rated = float | str
"""A number on a scale, or a label."""


class Said(NamedTuple):
    """What the judge said about an item on one dimension: a score, or why there is none."""

    score: Rated | None
    missing: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class RatedItem:
    """An item that at least one person rated on a dimension."""

    id: str
    cluster: str
    people: Mapping[str, Rated]
    """Rater to rating."""
    said: Said


@dataclass(frozen=True, slots=True)
class Comparable:
    """Everything that is to be compared, dimension by dimension."""

    rubric: Rubric
    model: str | None
    """None where nobody said which model gave the scores; then no record can be kept."""
    how: str
    """Where the judge's scores came from, in words."""
    dimensions: Mapping[str, Sequence[RatedItem]]
    unrated: Mapping[str, int]
    """Items, per dimension, that nobody rated on it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How the judge was asked, as far as that is known."""
    notes: tuple[str, ...] = ()


def rated_columns(columns: Sequence[str], rubric: Rubric, only: str | None) -> dict[str, str]:
    """The dimensions that a file has ratings of, each with its column; `only` names the one that is asked for."""
    if only is not None:
        check_dimension(rubric, only)
    main = only or rubric.primary
    found: dict[str, str] = {}
    for dimension in rubric.dimensions:
        if only not in (None, dimension.name):
            continue
        plain = RATING_COLUMNS if dimension.name == main else ()
        names = list(dict.fromkeys(name for name in (dimension.name.lower(), *plain) if name in columns))
        if len(names) > 1:
            raise InputError(
                f"several columns could be people's ratings of {dimension.name}",
                found=", ".join(names),
                remedy="keep one of them",
            )
        if names:
            found[dimension.name] = names[0]
    if not found:
        wanted = [only] if only else [one.name for one in rubric.dimensions]
        raise InputError(
            "the file has no column of people's ratings",
            found=f"columns {', '.join(columns)}",
            expected=f"{', '.join(RATING_COLUMNS)} (of {main}), or the name of a dimension: {', '.join(wanted)}",
        )
    return found


def check_dimension(rubric: Rubric, name: str) -> None:
    """Refuse the name of a dimension that the rubric does not have."""
    known = [one.name for one in rubric.dimensions]
    if name not in known:
        raise UsageError(
            f"the rubric {rubric.name} has no dimension {name!r}",
            expected=", ".join(known),
            remedy=near_misses(name, known) or None,
        )


def judge_columns(columns: Sequence[str], rubric: Rubric, dimensions: Sequence[str]) -> dict[str, str]:
    """The dimensions whose scores by a judge the file holds, each with its column."""
    main = dimensions[0] if len(dimensions) == 1 else rubric.primary
    found = {}
    for name in dimensions:
        own = f"{JUDGE}_{name.lower()}"
        if own in columns:
            found[name] = own
        elif name == main and JUDGE in columns:
            found[name] = JUDGE
    return found


def from_columns(file: RatingsFile, rubric: Rubric, rated: Mapping[str, str], model: str | None) -> Comparable:
    """The judge's scores stand in the file beside people's."""
    scored = judge_columns(file.columns, rubric, list(rated))
    reason = next((name for name in REASONING_COLUMNS if name in file.columns), "")
    said: dict[str, dict[str, Said]] = {}
    for dimension, column in scored.items():
        about = rubric.dimension(dimension)
        own = said[dimension] = {}
        for item, rows in file.items.items():
            holder = next((row for row in rows if column in row.cells), rows[0])
            file.same_for_item(rows, column)
            score = file.rating_of(holder, column, about)
            why = "no score of the judge in the file" if score is None else ""
            own[item] = Said(score, why, str(file.same_for_item(rows, reason) or "") if reason else "")
    both = {name: column for name, column in rated.items() if name in scored}
    found = _joined(file, rubric, both, said, _model(file, model), f"in {file.path.name}")
    alone = [name for name in rated if name not in scored]
    return (
        replace(found, notes=(f"rated by people, without scores of the judge: {', '.join(alone)}",)) if alone else found
    )


def _model(file: RatingsFile, given: str | None) -> str | None:
    """The model whose scores the file holds."""
    found = {str(row.cells[MODEL]).strip() for rows in file.items.values() for row in rows if MODEL in row.cells}
    if given is not None:
        found.add(given)
    if len(found) > 1:
        raise InputError(
            "the judge's scores are of several models",
            where=str(file.path),
            found=", ".join(sorted(found)),
            expected="one model at a time",
        )
    return next(iter(found), None)


def from_judge(
    file: RatingsFile,
    rubric: Rubric,
    rated: Mapping[str, str],
    judge: Judge,
    how: str,
    progress: Progress | None = None,
) -> Comparable:
    """The judge is asked now, about what the file holds of every rated item."""
    from turnwise.judge.metric import question
    from turnwise.judge.prompt import PROMPT_VERSION

    missing = [name for name in rubric.needs if name.lower() not in file.columns]
    if missing:
        raise InputError(
            f"the judge cannot be asked about {file.path.name}: the rubric {rubric.name} needs {missing[0]}",
            found=f"columns {', '.join(file.columns)}",
            expected=f"a column for each of {', '.join(rubric.needs)}",
            remedy="add it, or name a stored run with --run, or put the judge's scores in a column judge",
        )
    shown = (*rubric.needs, *rubric.sees)
    asked: dict[str, Any] = {}
    for item, rows in file.items.items():
        if any(column in row.cells for row in rows for column in rated.values()):
            pieces = {name: file.same_for_item(rows, name.lower()) for name in shown}
            asked[item] = question(rubric, Unit(item, _cluster(file, rows), kind=rubric.unit), pieces)
    judge.ask([one for one in asked.values() if isinstance(one, Question)], progress)
    answers = {item: _answer(rubric, judge, one) for item, one in asked.items()}
    said = {name: {item: own[name] for item, own in answers.items()} for name in rated}
    settings = {**judge.parameters, "repeats": judge.repeats, "prompt": PROMPT_VERSION}
    return replace(_joined(file, rubric, rated, said, judge.model, how), settings=settings)


def _answer(rubric: Rubric, judge: Judge, asked: Any) -> dict[str, Said]:
    """What the judge said on every dimension."""
    from turnwise.judge.combine import combine
    from turnwise.judge.metric import unanswered

    names = [one.name for one in rubric.dimensions]
    if not isinstance(asked, Question):
        return dict.fromkeys(names, Said(None, asked.reason or "not asked"))
    judgement = judge.judgement(asked)
    combined = combine(rubric, judgement)
    if combined is None:
        return dict.fromkeys(names, Said(None, unanswered(judgement).reason or "no readable answer"))
    return {name: _scored(name, combined.scores[name], judgement.verdicts) for name in names}


def _scored(dimension: str, score: Rated | None, verdicts: Sequence[Verdict]) -> Said:
    """A score with the reasoning of the repeat that gave it, or of the first where none did (a median of two)."""
    gave = next((one for one in verdicts if one.scores.get(dimension) == score), verdicts[0])
    return Said(score, "" if score is not None else NOT_APPLICABLE, gave.reasoning)


def _joined(
    file: RatingsFile,
    rubric: Rubric,
    rated: Mapping[str, str],
    said: Mapping[str, Mapping[str, Said]],
    model: str | None,
    how: str,
) -> Comparable:
    """People's ratings of a file beside what the judge said."""
    dimensions, unrated = {}, {}
    for name, column in rated.items():
        people = {item: _people(file, rows, column, rubric.dimension(name)) for item, rows in file.items.items()}
        dimensions[name] = [
            RatedItem(item, _cluster(file, file.items[item]), given, said[name][item])
            for item, given in people.items()
            if given
        ]
        unrated[name] = sum(not given for given in people.values())
    return Comparable(rubric, model, how, dimensions, unrated)


def _people(file: RatingsFile, rows: Sequence[RatingRow], column: str, dimension: Dimension) -> dict[str, Rated]:
    found = {row.rater: file.rating_of(row, column, dimension) for row in rows}
    return {rater: rating for rater, rating in found.items() if rating is not None}


def _cluster(file: RatingsFile, rows: Sequence[RatingRow]) -> str:
    return str(file.same_for_item(rows, CLUSTER) or rows[0].item)
