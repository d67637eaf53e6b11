"""How well a judge agrees with people on one dimension of a rubric: every coefficient with its interval, and a verdict.

Where several people rated an item, the judge is compared with their median (of labels: the majority), and how well
they agree among themselves is reported beside it: no judge can be expected to agree with people better than people do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from turnwise.judge.calibration_input import Comparable, Rated, RatedItem
from turnwise.judge.records import Dimension, Scale
from turnwise.judge.stand_in import Answer, Grounds, may_stand_in
from turnwise.kernel.errors import InputError
from turnwise.stats import agreement
from turnwise.stats.agreement import Confusion
from turnwise.stats.counted import Statistic

LEAST = 2
"""Items below which there is nothing to compare."""
WIDE = 20
"""A scale of whole numbers wider than this has steps of a tenth of its width."""


@dataclass(frozen=True, slots=True)
class People:
    """How well the raters agree among themselves, on the items that two or more rated and the judge scored."""

    raters: int
    items: int
    kappa: Statistic
    """The mean over pairs of raters: quadratic-weighted on a scale, Cohen's on labels."""
    alpha: Statistic
    judge: Statistic
    """The mean of the same kappa of the judge with each rater: what theirs may be held against."""


@dataclass(frozen=True, slots=True)
class Compared:
    """An item with both scores."""

    id: str
    cluster: str
    human: Rated
    judge: Rated
    reasoning: str

    @property
    def apart(self) -> float:
        """How far the judge is from people; of labels, whether it is."""
        if isinstance(self.human, str) or isinstance(self.judge, str):
            return float(self.human != self.judge)
        return abs(self.judge - self.human)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found on one dimension."""

    rubric: str
    rubric_hash: str
    room: str
    dimension: str
    primary: bool
    """Whether it is the rubric's main question."""
    model: str | None
    how: str
    settings: Mapping[str, Any]
    """How the judge was asked, as far as that is known."""
    n: int
    clusters: int
    step: float | None
    """What "within one" and the bias are measured in; None for labels."""
    unscored: Mapping[str, int]
    """Why the judge gave no score to items that people rated, and how often."""
    unrated: int
    """Items that nobody rated."""
    undecided: int
    """Items whose raters' labels are tied."""
    between: int
    """Items whose median lies between two points of the scale."""
    statistics: Mapping[str, Statistic]
    confusion: Confusion
    people: People | None
    compared: tuple[Compared, ...]
    """The largest disagreement first."""
    verdict: Answer

    @property
    def kappa(self) -> Statistic:
        """The coefficient that the verdict rests on."""
        return self.statistics["weighted_kappa" if self.step is not None else "kappa"]


def calibrate(given: Comparable) -> list[Calibration]:
    """Compare on every dimension that has ratings; one with too few items is left out if another has enough."""
    found: list[Calibration] = []
    problem: InputError | None = None
    for name in given.dimensions:
        try:
            found.append(calibrate_dimension(given, name))
        except InputError as error:
            problem = problem or error
    if problem is not None and not found:
        raise problem
    return found


def calibrate_dimension(given: Comparable, name: str) -> Calibration:
    """Compare the judge with people on one dimension."""
    dimension, items = given.rubric.dimension(name), given.dimensions[name]
    middle = [(item, _middle(item, dimension)) for item in items]
    decided = [(item, human) for item, human in middle if human is not None]
    both = [(item, human, item.said.score) for item, human in decided if item.said.score is not None]
    unscored = Counter(item.said.missing for item, _ in decided if item.said.score is None)
    _check_enough(name, len(items), len(both), unscored)
    scored = [item for item, _, _ in both]
    clusters = [item.cluster for item in scored]
    humans, judges = [human for _, human, _ in both], [judge for _, _, judge in both]
    statistics, confusion = _statistics(judges, humans, clusters, dimension.scale)
    people = _people(scored, dimension.scale)
    compared = [Compared(item.id, item.cluster, human, judge, item.said.reasoning) for item, human, judge in both]
    step = None if dimension.scale is None else step_of(dimension.scale)
    return Calibration(
        rubric=given.rubric.name,
        rubric_hash=given.rubric.hash,
        room=given.rubric.room,
        dimension=name,
        primary=name == given.rubric.primary,
        model=given.model,
        how=given.how,
        settings=given.settings,
        n=len(both),
        clusters=len(set(clusters)),
        step=step,
        unscored=unscored,
        unrated=given.unrated.get(name, 0),
        undecided=len(items) - len(decided),
        between=_between(humans, dimension.scale),
        statistics=statistics,
        confusion=confusion,
        people=people,
        compared=tuple(sorted(compared, key=lambda one: -one.apart)),
        verdict=may_stand_in(_grounds(name, len(both), unscored, statistics, step, people)),
    )


def _grounds(
    name: str,
    n: int,
    unscored: Mapping[str, int],
    statistics: Mapping[str, Statistic],
    step: float | None,
    people: People | None,
) -> Grounds:
    """What the rule is applied to."""
    return Grounds(
        dimension=name,
        n=n,
        unscored=sum(unscored.values()),
        kappa=statistics["kappa" if step is None else "weighted_kappa"],
        name="kappa" if step is None else "weighted kappa",
        bias=statistics.get("bias"),
        step=step or 1.0,
        people=None if people is None else people.kappa,
        as_one=None if people is None else people.judge,
    )


def step_of(scale: Scale) -> float:
    """One point of a scale of few whole numbers, a tenth of the width of any other (0 to 100: 10)."""
    width = scale.high - scale.low
    return 1.0 if scale.whole and width <= WIDE else width / 10


def _middle(item: RatedItem, dimension: Dimension) -> Rated | None:
    """What people say of an item together: the median, or the label that most gave; None where labels are tied."""
    if dimension.scale is not None:
        return float(median(_numbers(list(item.people.values()))))
    counts = Counter(map(str, item.people.values())).most_common(2)
    return None if len(counts) == 2 and counts[0][1] == counts[1][1] else counts[0][0]


def _check_enough(name: str, rated: int, both: int, unscored: Mapping[str, int]) -> None:
    if both >= LEAST:
        return
    why = "; ".join(f"{reason}: {n}" for reason, n in unscored.items())
    raise InputError(
        f"too little to compare on {name}",
        found=f"{both} of {rated} rated items have a score of the judge" + (f" ({why})" if why else ""),
        expected=f"at least {LEAST}, and 50 for an answer",
        remedy="rate more items" if rated < LEAST else "look at why the judge gave no scores",
    )


def _statistics(
    judges: Sequence[Rated], humans: Sequence[Rated], clusters: Sequence[str], scale: Scale | None
) -> tuple[dict[str, Statistic], Confusion]:
    """All coefficients of the judge (first) with people (second), in the order they are shown."""
    if scale is None:
        labels = agreement.label_agreement(list(map(str, judges)), list(map(str, humans)), clusters)
        return {"exact": labels.exact, "kappa": labels.kappa, "alpha": labels.alpha}, labels.confusion
    first, second = _numbers(judges), _numbers(humans)
    found = agreement.pair_agreement(first, second, clusters, scale=(scale.low, scale.high), step=step_of(scale))
    names = (
        "exact",
        "within_one",
        "kappa",
        "weighted_kappa",
        "alpha",
        "spearman",
        "bias",
        "ceiling",
        "reference_ceiling",
    )
    confusion = found.confusion if len(found.confusion.categories) <= WIDE + 1 else _binned(first, second, scale)
    return {name: getattr(found, name) for name in names}, confusion


def _people(items: Sequence[RatedItem], scale: Scale | None) -> People | None:
    """The raters among themselves; None where no item has two of them."""
    several = [item for item in items if len(item.people) > 1]
    if not several:
        return None
    raters = sorted({rater for item in several for rater in item.people})
    clusters = [item.cluster for item in several]
    rows: list[list[Any]] = [[item.people.get(rater) for item in several] for rater in raters]
    judge: list[Any] = [item.said.score for item in several]
    if scale is None:
        labels = agreement.label_rater_agreement(rows, clusters)
        with_each = agreement.label_kappa_with_each(judge, rows, clusters)
        return People(len(raters), labels.items, labels.kappa, labels.alpha, with_each)
    ends = (scale.low, scale.high)
    found = agreement.rater_agreement(rows, clusters, scale=ends)
    with_each = agreement.kappa_with_each(judge, rows, clusters, scale=ends)
    return People(len(raters), found.items, found.weighted_kappa, found.alpha, with_each)


def _binned(judges: Sequence[float], humans: Sequence[float], scale: Scale) -> Confusion:
    """The table of a scale with many points, by tenths of its width; the top belongs to the last."""
    width = (scale.high - scale.low) / 10
    edges = [scale.low + width * i for i in range(11)]
    names = [f"{edges[i]:g} to {edges[i + 1]:g}" for i in range(10)]
    counts = [[0] * 10 for _ in range(10)]
    for judge, human in zip(judges, humans, strict=True):
        row, column = (min(9, int((value - scale.low) / width + 1e-9)) for value in (judge, human))
        counts[row][column] += 1
    return Confusion(tuple(names), tuple(map(tuple, counts)))


def _between(humans: Sequence[Rated], scale: Scale | None) -> int:
    if scale is None or not scale.whole:
        return 0
    return sum(value % 1 != 0 for value in _numbers(humans))


def _numbers(ratings: Sequence[Rated]) -> list[float]:
    return [float(rating) for rating in ratings]
