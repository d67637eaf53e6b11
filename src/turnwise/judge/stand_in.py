"""The rule by which a judge may stand in for a person on a scale. It is stated in docs/judge_calibration.md.

The answer is `yes`, `no`, or `not yet` where more ratings could still decide; the sentence says what it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from turnwise.stats.counted import Statistic

ENOUGH = 50
"""Items that a person and the judge both scored."""
SUBSTANTIAL = 0.6
"""The least the lower end of kappa's interval may be."""
MODERATE = 0.4
"""The same where the judge agrees with single people as well as they agree among themselves."""
MOST_BIAS = 0.25
"""Of a step of the scale: as far as the judge may lie above or below people on average."""
MOST_FAILURES = 0.1
"""Share of the rated items that the judge may leave without a score."""
YES, NO, NOT_YET = "yes", "no", "not yet"


class Answer(NamedTuple):
    """May this judge stand in for a person?"""

    answer: str
    """`yes`, `no` or `not yet`."""
    sentence: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the rule looks at."""

    dimension: str
    n: int
    unscored: int
    """Rated items without a score of the judge."""
    kappa: Statistic
    """Quadratic-weighted on a scale, Cohen's on labels; with the median (or majority) of people."""
    name: str
    """What to call it."""
    bias: Statistic | None = None
    step: float = 1.0
    people: Statistic | None = None
    """The same kappa among people, one with another."""
    as_one: Statistic | None = None
    """The same kappa of the judge with people, one at a time."""


def may_stand_in(g: Grounds) -> Answer:
    """Apply the rule: enough items first, then what speaks against the judge, then what is still open."""
    against, still_open = _agreement(g)
    against += _others(g)
    if g.n < ENOUGH:
        few = f"n = {g.n} is too few, {ENOUGH} are needed"
        return Answer(NOT_YET, f"Not yet on {g.dimension}: {'; '.join([few, *against])}.")
    if against:
        return Answer(NO, f"No, not on {g.dimension}: {'; '.join(against)}.")
    if still_open:
        return Answer(NOT_YET, f"Not yet on {g.dimension}: {'; '.join(still_open)}.")
    bias = "" if g.bias is None or g.bias.value is None else f", bias {g.bias.value:+.2f}"
    how = "" if _sure(g, SUBSTANTIAL) else "; it agrees with single people as well as they do with each other"
    return Answer(
        YES, f"Yes, this judge may stand in for a person on {g.dimension}: {_said(g)} (n = {g.n}){bias}{how}."
    )


def _agreement(g: Grounds) -> tuple[list[str], list[str]]:
    """What kappa says against the judge, and what it leaves open."""
    value = g.kappa.value
    if value is None:
        return [], [f"{g.name} is undefined ({g.kappa.reason})"]
    if g.kappa.interval.low is None:
        return [], [f"{g.name} {value:.2f} has no interval ({g.kappa.interval.method.removeprefix('none: ')})"]
    if _sure(g, SUBSTANTIAL) or (_as_good_as_people(g) and _sure(g, MODERATE)):
        return [], []
    needed = MODERATE if _as_good_as_people(g) else SUBSTANTIAL
    if value < needed:
        return [f"{_said(g)} is below {needed}"], []
    return [], [f"{_said(g)}, whose lower end must reach {needed}: more ratings could decide"]


def _others(g: Grounds) -> list[str]:
    """What bias and failures say against the judge."""
    found = []
    if g.bias is not None and g.bias.value is not None and abs(g.bias.value) > MOST_BIAS * g.step:
        word = "above" if g.bias.value > 0 else "below"
        by = f"{abs(g.bias.value):.2f}"
        found.append(f"the judge scores {by} {word} people on average, more than {MOST_BIAS * g.step:g}")
    rated = g.n + g.unscored
    if rated and g.unscored > MOST_FAILURES * rated:
        found.append(f"the judge gave no score to {g.unscored} of {rated} items, more than {MOST_FAILURES:.0%}")
    return found


def _sure(g: Grounds, least: float) -> bool:
    return g.kappa.interval.low is not None and g.kappa.interval.low >= least


def _as_good_as_people(g: Grounds) -> bool:
    if g.people is None or g.as_one is None or g.people.value is None or g.as_one.value is None:
        return False
    return g.as_one.value >= g.people.value


def _said(g: Grounds) -> str:
    own = g.kappa.interval
    assert g.kappa.value is not None
    assert own.low is not None
    assert own.high is not None
    return f"{g.name} {g.kappa.value:.2f} [{own.low:.2f}, {own.high:.2f}]"
