"""Several answers to one question made one: the median of numbers, the majority of labels, and how far they agree.

Only readable answers count; the others are kept in the evidence. What no readable answer was given to has no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnwise.judge.records import Dimension, Failure, Judgement, Rubric, Verdict
from turnwise.kernel.jsontext import clean
from turnwise.kernel.score import JSON

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Combined:
    """What a judge says about a unit, all repeats together."""

    scores: Mapping[str, Value]
    """Dimension to number or label; None where it does not apply."""
    spread: Mapping[str, float]
    """Highest less lowest number, of the dimensions that two repeats or more gave a number."""
    consistency: float | None
    """The share of readable repeats that say, on the primary dimension, what they were combined to; None with one."""
    evidence: JSON
    ties: tuple[str, ...] = ()
    """Dimensions where the repeats leave the choice between two values."""
    repeats: int = 1
    """Readable answers."""


def combine(rubric: Rubric, judgement: Judgement) -> Combined | None:
    """The readable answers as one; None where there is none."""
    verdicts = judgement.verdicts
    if not verdicts:
        return None
    scores: dict[str, Value] = {}
    spread: dict[str, float] = {}
    ties = []
    for dimension in rubric.dimensions:
        values = [verdict.scores[dimension.name] for verdict in verdicts]
        scores[dimension.name], tied = _combined(dimension, values, rubric.lower_is_better)
        ties += [dimension.name] if tied else []
        numbers = [value for value in values if isinstance(value, int | float)]
        if len(numbers) > 1:
            spread[dimension.name] = max(numbers) - min(numbers)
    consistency = _consistency([one.scores[rubric.primary] for one in verdicts], scores[rubric.primary])
    evidence = evidence_of(judgement, spread=spread, ties=ties)
    return Combined(scores, spread, consistency, evidence, tuple(ties), len(verdicts))


def evidence_of(judgement: Judgement, *, spread: Mapping[str, float] | None = None, ties: Sequence[str] = ()) -> JSON:
    """What is kept of a judgement: every answer, in order, with its reasons or with why it is none."""
    evidence: dict[str, Any] = {"answers": [_answer(one) for one in judgement.answers]}
    if judgement.model:
        evidence["model"] = judgement.model
    if spread:
        evidence["spread"] = dict(spread)
    if ties:
        evidence["ties"] = list(ties)
    return evidence


def _answer(answer: Verdict | Failure) -> dict[str, Any]:
    if isinstance(answer, Failure):
        kept = {"failed": clean(answer.reason), "raw": clean(answer.raw)}
        return {name: text for name, text in kept.items() if text or name == "failed"}
    own = {"reasoning": answer.reasoning, "scores": dict(answer.scores)}
    more = {
        "spans": [dict(span) for span in answer.spans],
        "repaired": answer.repaired,
        "confidence": answer.confidence,
    }
    return {**own, **{name: value for name, value in more.items() if value not in ([], False, None)}}


def _combined(dimension: Dimension, values: Sequence[Value], lower_is_better: bool) -> tuple[Value, bool]:
    """The value, and whether it was one of two; that something does not apply takes more than half of the answers."""
    given = [value for value in values if value is not None]
    none = len(values) - len(given)
    if none > len(given):
        return None, False
    if dimension.scale is None:
        value, tied = _majority([str(label) for label in given], list(dimension.labels))
        return value, tied or none == len(given)
    number, tied = _median([float(value) for value in given], dimension.scale.whole, lower_is_better)
    return number, tied or none == len(given)


def _median(numbers: Sequence[float], whole: bool, lower_is_better: bool) -> tuple[float, bool]:
    """The middle one. Of two in the middle of a whole scale, the worse: half a point is no answer that anybody gave."""
    ordered = sorted(numbers)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low == high:
        return low, False
    if not whole:
        return low + (high - low) / 2, False
    return (high if lower_is_better else low), True


def _majority(labels: Sequence[str], order: Sequence[str]) -> tuple[str, bool]:
    """The most frequent label; of several, the first of the rubric."""
    counts = Counter(labels)
    most = max(counts.values())
    first = [label for label in order if counts[label] == most]
    return first[0], len(first) > 1


def _consistency(values: Sequence[Value], combined: Value) -> float | None:
    if len(values) < 2:
        return None
    return sum(value == combined for value in values) / len(values)
