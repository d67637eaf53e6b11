"""A score and what it is about: `Unit`, `Status`, `Measurement`, `Score`.

A score that has no number says why; NaN, infinity and sentinels cannot be built.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

JSON = Any
"""A value that `json.dumps` writes: evidence and item content."""


class Status(StrEnum):
    """Why a score has a value, or has none."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    """The question does not arise for this unit (no reference slots, nothing cited)."""
    SKIPPED = "skipped"
    """An input is missing (no prediction, no audio file, no judge)."""
    ERROR = "error"
    """The measurement itself failed."""


class Source(StrEnum):
    """Who gave the score."""

    CODE = "code"
    JUDGE = "judge"
    HUMAN = "human"


@dataclass(frozen=True, slots=True)
class Unit:
    """What a score is about."""

    id: str
    cluster: str
    """The natural group that makes items dependent: dialogue, session, recording."""
    dimensions: Mapping[str, str] = field(default_factory=dict)
    """Language, category, domain, scenario, version, any metadata column."""
    kind: str = "item"
    """Exchange, dialogue, sample, pair of turns ...: as in `MetricSpec.unit`."""

    def __post_init__(self) -> None:
        if not self.id or not self.cluster:
            raise ValueError(f"a unit needs an id and a cluster, found id={self.id!r}, cluster={self.cluster!r}")


class Parts(NamedTuple):
    """A measurement's statistics split along the metric's part dimension (a state's slots)."""

    names: Sequence[str]
    statistics: Sequence[Sequence[float]]
    """One sequence per element of the statistics vector, each as long as `names`."""


class Measurement(NamedTuple):
    """What a metric says about one unit: a statistics vector, a label, or the reason why there is neither."""

    statistics: tuple[float, ...] | None = None
    label: str | None = None
    status: Status = Status.SCORED
    reason: str | None = None
    evidence: JSON = None
    parts: Parts | None = None
    """For slices below the unit."""
    repeat: int = 0
    variant: str = ""
    source: Source = Source.CODE
    rater: str = ""
    """Who gave it, where it was not code: the name of a model."""


_SCORED, _CODE = Status.SCORED, Source.CODE
_NEW = tuple.__new__
"""Looking up a member of an enumeration, and calling a named tuple, would be most of the time of making one."""


def measured(statistics: tuple[float, ...], *, evidence: JSON = None, parts: Parts | None = None) -> Measurement:
    """A scored measurement from its statistics vector."""
    return _NEW(Measurement, (statistics, None, _SCORED, None, evidence, parts, 0, "", _CODE, ""))


def labelled(label: str, *, evidence: JSON = None) -> Measurement:
    """A scored measurement that is a category rather than a number."""
    return Measurement(label=label, evidence=evidence)


def not_applicable(reason: str, *, evidence: JSON = None) -> Measurement:
    """The question does not arise for this unit."""
    return Measurement(status=Status.NOT_APPLICABLE, reason=reason, evidence=evidence)


def skipped(reason: str, *, evidence: JSON = None) -> Measurement:
    """An input is missing."""
    return Measurement(status=Status.SKIPPED, reason=reason, evidence=evidence)


def failed(reason: str, *, evidence: JSON = None) -> Measurement:
    """The measurement failed; the run goes on."""
    return Measurement(status=Status.ERROR, reason=reason, evidence=evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row: a measurement with everything needed to roll it up, resample it and compare it again."""

    metric: str
    """Full name, `room/name`."""
    unit: Unit
    signature: str
    output: str = "value"
    variant: str = ""
    """Keeps a baseline, a probe or another clock apart; the empty string is the real thing."""
    repeat: int = 0
    value: float | None = None
    label: str | None = None
    statistics: tuple[float, ...] | None = None
    parts: Parts | None = None
    status: Status = Status.SCORED
    reason: str | None = None
    evidence: JSON = None
    source: Source = Source.CODE
    rater: str = ""

    def __post_init__(self) -> None:
        check_consistent(self.status, self.value, self.label, self.reason)
        for number in self.statistics or ():
            if not math.isfinite(number):
                raise ValueError(f"statistics must be finite, found {self.statistics}")


def check_consistent(status: Status, value: float | None, label: str | None, reason: str | None) -> None:
    """Refuse a score that would corrupt a mean: scored without a value, missing without a reason, NaN, infinity."""
    if status is _SCORED:
        if value is None and label is None:
            raise ValueError("a scored score needs a value or a label")
        if value is not None and not math.isfinite(value):
            raise ValueError(f"a score must be finite, found {value}")
    elif value is not None or label is not None:
        raise ValueError(f"a score that is {status} has neither value nor label, found {value!r}, {label!r}")
    elif not reason:
        raise ValueError(f"a score that is {status} must say why")
