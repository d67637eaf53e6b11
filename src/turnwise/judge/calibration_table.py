"""A calibration as tables for people and as JSON for programs and the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnwise.judge.calibrate import Calibration
from turnwise.judge.calibration_input import Rated
from turnwise.report.tables import Table, interval, number
from turnwise.stats.counted import Statistic

SHOWN = 10
"""Disagreements in the terminal."""
KEPT = 100
"""In JSON and in the store; `--out` writes every item."""
LONGEST = 160
"""Characters of the judge's reasoning in a table."""
_WORDS = {
    "exact": "exact agreement",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "kappa, quadratic weights",
    "alpha": "Krippendorff's alpha",
    "spearman": "Spearman's rho",
    "bias": "bias (judge - people)",
    "ceiling": "at the ceiling: judge",
    "reference_ceiling": "at the ceiling: people",
}


def tables(found: Calibration) -> list[Table]:
    """The coefficients, the confusion matrix, and the largest disagreements."""
    return [statistics_table(found), confusion_table(found), *disagreements_table(found)]


def statistics_table(found: Calibration) -> Table:
    """Every coefficient with its interval, and the raters' own agreement."""
    rows = [_row(_word(name, found), statistic) for name, statistic in found.statistics.items()]
    if found.people is not None:
        own, plain = found.people, found.step is None
        kappa = "Cohen's kappa" if plain else "kappa, quadratic weights"
        rows.append(_row(f"people among themselves: {kappa}", own.kappa))
        rows.append(_row("people among themselves: Krippendorff's alpha", own.alpha))
        rows.append(_row(f"judge with one person at a time: {kappa}", own.judge))
    header = ["statistic", "value", "95 % interval", "how"]
    model = found.model or "an unnamed model"
    title = (
        f"{found.rubric}.{found.dimension} ({found.rubric_hash}) by {model}, {found.how}: {_counted(found.n, 'item')}"
    )
    return Table(title, header, rows, _notes(found), (1,))


def confusion_table(found: Calibration) -> Table:
    """How often each score of the judge met each of people's."""
    names = [_shown(category) for category in found.confusion.categories]
    rows = [
        [name, *(str(count) if count else "." for count in row)]
        for name, row in zip(names, found.confusion.counts, strict=True)
        if any(row) or "." not in name  # a judge never gives the half points that people's medians have
    ]
    return Table("judge (rows) against people (columns)", ["", *names], rows, [], tuple(range(1, len(names) + 1)))


def disagreements_table(found: Calibration) -> list[Table]:
    """The items on which the judge and people are furthest apart; nothing where they agree on all."""
    apart = [one for one in found.compared if one.apart > 0]
    if not apart:
        return []
    rows = [[one.id, _shown(one.human), _shown(one.judge), _shortened(one.reasoning)] for one in apart[:SHOWN]]
    more = len(apart) - len(rows)
    title = f"the largest disagreements ({len(apart)} of {found.n} items differ)"
    return [
        Table(
            title, ["item", "people", "judge", "the judge's reasoning"], rows, [f"{more} more"] if more else [], (1, 2)
        )
    ]


def as_json(found: Calibration) -> dict[str, Any]:
    """Everything, as it is printed with `--json` and kept in the store."""
    people = found.people
    kept = [one for one in found.compared if one.apart > 0][:KEPT]
    return {
        "rubric": found.rubric,
        "rubric_hash": found.rubric_hash,
        "room": found.room,
        "dimension": found.dimension,
        "primary": found.primary,
        "model": found.model,
        "judged": found.how,
        "settings": dict(found.settings),
        "n": found.n,
        "clusters": found.clusters,
        "step": found.step,
        "kappa": found.kappa.value,
        "unscored": dict(found.unscored),
        "unrated": found.unrated,
        "undecided": found.undecided,
        "between_points": found.between,
        "statistics": {name: _statistic(one) for name, one in found.statistics.items()},
        "people": people
        and {
            "raters": people.raters,
            "items": people.items,
            "kappa": _statistic(people.kappa),
            "alpha": _statistic(people.alpha),
            "judge_with_each": _statistic(people.judge),
        },
        "confusion": {
            "categories": list(found.confusion.categories),
            "counts": [list(row) for row in found.confusion.counts],
        },
        "disagreements": [
            {"id": one.id, "human": one.human, "judge": one.judge, "reasoning": one.reasoning} for one in kept
        ],
        "verdict": {"answer": found.verdict.answer, "sentence": found.verdict.sentence},
    }


def item_rows(found: Calibration) -> list[Sequence[Any]]:
    """Every item, the largest disagreement first, for a file: `ITEM_HEADER` names the columns."""
    return [
        (found.dimension, one.id, one.cluster, one.human, one.judge, one.apart, one.reasoning) for one in found.compared
    ]


ITEM_HEADER = ("dimension", "id", "cluster", "people", "judge", "apart", "reasoning")


def _word(name: str, found: Calibration) -> str:
    if name == "within_one":
        return f"within {found.step:g}"
    kind = "nominal" if found.step is None else "ordinal"
    return f"{_WORDS[name]}, {kind}" if name == "alpha" else _WORDS[name]


def _row(name: str, found: Statistic) -> list[str]:
    own = {"low": found.interval.low, "high": found.interval.high}
    return [name, number(found.value), interval(own), found.reason or found.interval.method]


def _statistic(found: Statistic) -> dict[str, Any]:
    own = found.interval
    return {"value": found.value, "low": own.low, "high": own.high, "interval": own.method, "reason": found.reason}


def _notes(found: Calibration) -> list[str]:
    notes = [f"no score of the judge, left out ({reason}): {n}" for reason, n in found.unscored.items()]
    if found.unrated:
        notes.append(f"not rated by anybody: {_counted(found.unrated, 'item')}")
    if found.undecided:
        notes.append(f"left out, people's labels are tied: {_counted(found.undecided, 'item')}")
    if found.between:
        rest = "exact agreement, Cohen's kappa and people's ceiling count them as missed"
        notes.append(f"people's median lies between two points: {_counted(found.between, 'item')}; {rest}")
    if found.people is not None:
        notes.append(
            f"{found.people.raters} raters; {_counted(found.people.items, 'item')} rated by two or more of them"
        )
    if found.clusters < found.n:
        notes.append(f"intervals by cluster: {found.clusters}")
    return notes


def _shown(rating: Rated) -> str:
    return rating if isinstance(rating, str) else f"{rating:g}"


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 3]}..."


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
