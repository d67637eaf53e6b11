"""A gate: does a run meet its rules? Floors, ceilings, coverage, and no worse than a baseline by more than a margin.

A margin is met where the whole 95 % interval of the difference lies on the right side of it. All rules have to be met,
so that nothing has to be paid for testing several (Berger 1982): a run that should fail one of them does, 97.5 % of
the time, however many others there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from turnwise.comparison.checks import check_comparable, uncalibrated
from turnwise.comparison.differences import Pair
from turnwise.comparison.rules import MAX_DROP, MIN, MIN_COVERAGE, RELATIVE, Rule
from turnwise.comparison.selectors import Chosen
from turnwise.comparison.sides import Name, Side, about, make_side, make_sides, unfinished
from turnwise.comparison.value import SideValue, find_output, find_rollup, side_value
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import Rollup
from turnwise.report.tables import number
from turnwise.stats.difference import ROUNDING, Difference


class State(StrEnum):
    """How a limit was met."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "not shown"
    """The interval reaches beyond the margin: it may be met, and it may not."""
    NO_VALUE = "no value"


@dataclass(frozen=True, slots=True)
class Check:
    """One limit of one rule."""

    criterion: str
    limit: float
    state: State
    found: float | None
    low: float | None
    high: float | None
    n: int
    message: str
    """The limit and the numbers, in one line."""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """A rule and what became of its limits."""

    rule: Rule
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether all of them were met."""
        return all(check.state is State.PASSED for check in self.checks)

    @property
    def message(self) -> str:
        """What went wrong, or the numbers where nothing did."""
        wrong = [check.message for check in self.checks if check.state is not State.PASSED]
        return "; ".join(wrong or [check.message for check in self.checks])


@dataclass(frozen=True, slots=True)
class Gated:
    """What a gate found."""

    run: Side
    baseline: Side | None
    outcomes: tuple[RuleOutcome, ...]
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every rule is met."""
        return all(outcome.passed for outcome in self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """The published shape (docs/gate.md)."""
        return {
            "passed": self.passed,
            "run": about(self.run),
            "baseline": None if self.baseline is None else about(self.baseline),
            "warnings": list(self.warnings),
            "rules": [_outcome_json(outcome) for outcome in self.outcomes],
        }


def check_gate(
    rules: Sequence[Rule],
    run: Sequence[Chosen],
    baseline: Sequence[Chosen] | None = None,
    *,
    texts: tuple[str, str] = ("run", "baseline"),
    allow_different: bool = False,
    as_repeats: bool = False,
) -> Gated:
    """Hold a run against rules; an error where a rule names what the run does not have."""
    own = make_side(run, texts[0], as_repeats=as_repeats)
    relative = [rule for rule in rules if rule.is_relative]
    if relative and baseline is None:
        first = next(name for name in RELATIVE if name in relative[0].limits)
        raise UsageError(
            f"{first} compares with a baseline, and none is given",
            where=relative[0].where,
            remedy="name one: --baseline RUN",
        )
    warnings: list[str] = []
    if not relative:  # otherwise said with the other differences between the two
        warnings = [f"run {one.id} is {one.status}; what was measured so far" for one in unfinished(own)]
    sides = None
    if baseline is not None:
        sides = make_sides(baseline, run, (texts[1], texts[0]), as_repeats=as_repeats)
        metrics = [rule.metric for rule in relative]
        for rule in relative:
            find_output(sides[0], rule.metric, rule.output, rule.where)
        warnings += check_comparable(*sides, metrics, allow_different=allow_different) if relative else []
    warnings += uncalibrated([own], (find_output(own, rule.metric, rule.output, rule.where)[0] for rule in rules))
    outcomes = tuple(_outcome(rule, own, sides) for rule in rules)
    return Gated(own, None if sides is None else sides[0], outcomes, tuple(warnings))


def _outcome(rule: Rule, own: Side, sides: tuple[Side, Side] | None) -> RuleOutcome:
    name, output = find_output(own, rule.metric, rule.output, rule.where)
    rollup = find_rollup(rule.metric, output, rule.rollup, rule.where)
    _check_group(rule, own)
    return RuleOutcome(rule, tuple(_checks(rule, own, sides, name, output, rollup)))


def _check_group(rule: Rule, own: Side) -> None:
    part = own.part_of(rule.metric)
    for dimension in rule.group:
        if dimension != part and dimension not in own.items.dimensions:
            known = [*own.items.dimensions, *([part] if part else [])]
            raise UsageError(
                f"no item has the dimension {dimension!r}",
                where=rule.where,
                expected=", ".join(known) or "no dimension: the items have none",
            )


def _checks(
    rule: Rule, own: Side, sides: tuple[Side, Side] | None, name: Name, output: Output, rollup: Rollup
) -> Iterator[Check]:
    absolute = any(limit not in RELATIVE for limit in rule.limits)
    value = side_value(own, name, output, rollup, rule.group) if absolute else None
    gap = _difference(rule, sides, name, output, rollup) if rule.is_relative and sides is not None else None
    for criterion, limit in rule.limits.items():
        if criterion in RELATIVE:
            assert gap is not None
            yield _margin(criterion, limit, *gap)
        elif value is not None:
            yield _coverage(limit, value) if criterion == MIN_COVERAGE else _bound(criterion, limit, value, rollup)


def _no_value(criterion: str, limit: float, n: int, why: str) -> Check:
    return Check(criterion, limit, State.NO_VALUE, None, None, None, n, f"{criterion} {limit:g}: no value ({why})")


def _bound(criterion: str, limit: float, found: SideValue, rollup: Rollup) -> Check:
    """A floor or a ceiling, by the value itself; its interval is shown beside."""
    value, low, high = found.value, found.interval.low, found.interval.high
    if value is None:
        why = ", ".join(f"{reason}: {n}" for reason, n in found.missing.items()) or "nothing scored"
        return _no_value(criterion, limit, found.n_scored, why)
    slack = ROUNDING * max(1.0, abs(limit))  # 0.1 + 0.2 meets a floor of 0.3
    met = value >= limit - slack if criterion == MIN else value <= limit + slack
    sign = (">=" if met else "<") if criterion == MIN else ("<=" if met else ">")
    numbers = f"{rollup.name} {number(value)}{_between(low, high)} {sign} {limit:g}, n {found.n_scored}"
    state = State.PASSED if met else State.FAILED
    return Check(criterion, limit, state, value, low, high, found.n_scored, f"{criterion} {limit:g}: {numbers}")


def _coverage(limit: float, found: SideValue) -> Check:
    share = found.coverage
    if share is None:
        return _no_value(MIN_COVERAGE, limit, 0, "nothing to score")
    met = share >= limit - ROUNDING
    scored, applicable = found.counts
    counted = f"{number(share)} {'>=' if met else '<'} {limit:g} ({scored} of {applicable} scored)"
    state = State.PASSED if met else State.FAILED
    said = f"{MIN_COVERAGE} {limit:g}: {counted}"
    return Check(MIN_COVERAGE, limit, state, share, None, None, applicable, said)


def _difference(
    rule: Rule, sides: tuple[Side, Side] | None, name: Name, output: Output, rollup: Rollup
) -> tuple[Difference | None, int]:
    assert sides is not None
    a, b = sides
    alike = len({*a.signatures(name[0]), *b.signatures(name[0])}) <= 1
    pair = Pair(a, b, a.node(name), b.node(name), output, alike=alike)
    by, key = tuple(rule.group), tuple(rule.group.values())
    for found in pair.differences(rollup, by):
        if found.key == key:
            return found.difference, found.n_a if found.difference.paired else found.n_a + found.n_b
    return None, 0


def _margin(criterion: str, limit: float, gap: Difference | None, n: int) -> Check:
    """No worse than the baseline by more than a margin, shown by the whole interval."""
    if gap is None or gap.difference is None:
        why = "nothing to compare" if gap is None else gap.interval.method.removeprefix("none: ")
        return _no_value(criterion, limit, n, why)
    low, high = gap.interval.low, gap.interval.high
    sign = -1.0 if criterion == MAX_DROP else 1.0
    end = low if criterion == MAX_DROP else high
    reach = limit + ROUNDING * max(1.0, limit)
    if end is not None and sign * end <= reach:
        state = State.PASSED
    else:
        state = State.FAILED if sign * gap.difference > reach else State.NOT_SHOWN
    word = {State.PASSED: "within", State.FAILED: "beyond"}.get(state, "not shown to stay within")
    why = f" ({gap.interval.method.removeprefix('none: ')})" if end is None else ""
    said = (
        f"{criterion} {limit:g}: {number(gap.a)} to {number(gap.b)}, difference {number(gap.difference)}"
        f"{_between(low, high)}{why} {word} {sign * limit:+g}, n {n}{'' if gap.paired else ', unpaired'}"
    )
    return Check(criterion, limit, state, gap.difference, low, high, n, said)


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{number(low)}, {number(high)}]"


def _outcome_json(outcome: RuleOutcome) -> dict[str, Any]:
    rule = outcome.rule
    return {
        "name": rule.name,
        "metric": rule.metric,
        "output": rule.output,
        "rollup": rule.rollup,
        "group": dict(rule.group),
        "passed": outcome.passed,
        "checks": [
            {
                "criterion": check.criterion,
                "limit": check.limit,
                "state": check.state.value,
                "found": check.found,
                "low": check.low,
                "high": check.high,
                "n": check.n,
                "message": check.message,
            }
            for check in outcome.checks
        ],
    }
