"""What a metric is: a declaration (`MetricSpec`) and a pure function from a batch of records to measurements.

A metric never reads files, never keeps state between batches and never aggregates; the engine, the store and the
roll-ups do that for all metrics alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, ClassVar, NamedTuple, Protocol

from turnwise.kernel.bands import Bands
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.rollup import MACRO, MICRO, FloatArray, Rollup, ratio_value
from turnwise.kernel.score import JSON, Measurement, Unit
from turnwise.kernel.signature import signature

TURNWISE = "turnwise"
SPEC = "spec"
COMPONENT = "component"
"""A dimension of metrics, not of items: what of the system under test they test."""


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Output:
    """One number (or label) that a metric gives per unit, and how it rolls up."""

    name: str = "value"
    statistics: tuple[str, ...] = ("value",)
    """Names of the statistics vector's elements; `Metric.value` turns the vector into the number."""
    direction: Direction = Direction.HIGHER
    range: tuple[float | None, float | None] = (None, None)
    rollups: tuple[Rollup, ...] = (MICRO, MACRO)
    bands: Bands | None = None
    voided_by: str = ""
    """A reason that leaves a group without a value if any of its rows is missing for it: a total of known parts is no
    total once one of them is not there."""
    no_interval: str = ""
    """Why there can be none: the rows are no sample but, say, averages of samples that nobody kept."""

    @property
    def primary(self) -> Rollup:
        """The roll-up that the specification itself uses."""
        return next((rollup for rollup in self.rollups if rollup.primary), self.rollups[0])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting a user reaches as `--set NAME=VALUE`; part of the signature."""

    name: str
    default: bool | int | float | str
    help: str
    choices: tuple[str, ...] = ()
    by_profile: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """Defaults that differ under a profile."""
    quiet: bool = False
    """Whether signatures say nothing of its default: a switch that came later, and changes nothing while it is off."""

    def parse(self, text: str) -> bool | int | float | str:
        """The value a user typed, in the type of the default."""
        try:
            value = _parse_as(type(self.default), text.strip())
        except ValueError:
            expected = "true or false" if isinstance(self.default, bool) else f"a {type(self.default).__name__}"
            raise UsageError(f"--set {self.name}: cannot be {text!r}", expected=expected) from None
        if self.choices and value not in self.choices:
            raise UsageError(
                f"--set {self.name}: cannot be {text!r}",
                expected=" or ".join(self.choices),
                remedy=near_misses(text, self.choices) or None,
            )
        return value


_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


def _parse_as(kind: type, text: str) -> bool | int | float | str:
    if kind is bool:
        if text.lower() not in _TRUE | _FALSE:
            raise ValueError(text)
        return text.lower() in _TRUE
    value: int | float | str = kind(text)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(text)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """All that is known about a metric without running it."""

    room: str
    name: str
    version: int
    """Goes up with every change that can change a value."""
    question: str
    """What the metric answers, in one sentence."""
    unit: str
    """What a score is about: exchange, dialogue, sample, pair of turns ..."""
    outputs: tuple[Output, ...] = (Output(),)
    needs: tuple[str, ...] = ()
    """Fields a record must carry, e.g. `prediction.state`, or one of several, `prediction.acts|prediction.action`; the
    plan counts who has them. Where no record of a run has them, the metric is not measured, and the results say so."""
    parameters: tuple[Parameter, ...] = ()
    context: tuple[str, ...] = ()
    """Settings of the run that change this metric's values (normaliser, model): they go into its signature."""
    part: str | None = None
    """The dimension along which a measurement can be split (`slot`)."""
    components: tuple[str, ...] = ()
    """What of the system under test it tests (triage, memory, policy ...)."""
    source: str = ""
    optional: bool = False
    """Left out of a default run when no record carries what it needs."""
    profiles: tuple[str, ...] = ()
    """The profiles whose default run it is part of; none given: every one."""
    baselines: bool = True
    """Whether a baseline can be scored, too; what the real system cost says nothing about one."""

    @property
    def full_name(self) -> str:
        """`room/name`."""
        return f"{self.room}/{self.name}"

    def output(self, name: str) -> Output:
        """The output called `name`."""
        return next(output for output in self.outputs if output.name == name)


@dataclass(frozen=True, slots=True)
class Settings:
    """A metric's settings, resolved: what the profile says, then what the user says."""

    profile: str = TURNWISE
    values: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)


def defaults(spec: MetricSpec, profile: str) -> dict[str, bool | int | float | str]:
    """The parameters of a metric as a profile has them."""
    return {p.name: p.by_profile.get(profile, p.default) for p in spec.parameters}


class Item(NamedTuple):
    """A unit with what was evaluated, as it is kept for showing it later."""

    unit: Unit
    content: JSON


class Batch(Protocol):
    """Records that are measured together; a batch never splits a cluster."""

    @property
    def index(self) -> int:
        """Its place in the data set; the same for the same data."""
        ...

    def items(self) -> Iterable[Item]:
        """Every unit any metric may score in this batch, in the order of the data."""
        ...

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, Batch]]:
        """One batch per unit of a kind, to find out which unit a metric fails on."""
        ...


class Metric:
    """A metric: subclass it, declare `spec`, write `measure`."""

    spec: ClassVar[MetricSpec]
    apart: ClassVar[frozenset[str]] = frozenset()
    """Variants that a derived metric is made of only if it names them: a judge's opinion beside people's."""
    preload: ClassVar[tuple[str, ...]] = ()
    """Modules that take long to import: worker processes are forked from one that has imported them."""

    def __init__(self, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        values = {**defaults(self.spec, settings.profile), **settings.values}
        self.settings = Settings(settings.profile, values, settings.context)

    def measure(self, batch: Any) -> Iterable[tuple[Unit, str, Measurement]]:
        """None, one or many (unit, output name, measurement) for the records of a batch."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it measures")

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """Statistics (..., d) of an item to values (...): the first, over the second if there are two."""
        return statistics[..., 0] if statistics.shape[-1] == 1 else ratio_value(statistics)

    def pooled(self, output: str, statistics: FloatArray) -> FloatArray:
        """The value of statistics summed over items, where it is another function of them than the value of one."""
        return self.value(output, statistics)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs with their roll-ups; a profile may put another roll-up first."""
        return self.spec.outputs

    @property
    def signature(self) -> str:
        """The one line that says how this metric's numbers are made."""
        return signature(self.spec.full_name, self.spec.version, self.settings.profile, self.signed)

    def signed_as(self, variant: str, signature: str) -> str:
        """What of the metric's signature, as it is or as it was stored, is about the scores of a variant.

        All of it, unless variants are made in different ways: by people and by a judge.
        """
        return signature

    @property
    def signed(self) -> dict[str, Any]:
        """Everything beside name, version and profile that can change a value."""
        context = {key: self.settings.context[key] for key in self.spec.context if key in self.settings.context}
        return {**signed_values(self.spec, self.settings.values), **context}


def signed_values(spec: MetricSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a signature tells."""
    quiet = {p.name: p.default for p in spec.parameters if p.quiet}
    return {name: value for name, value in values.items() if name not in quiet or value != quiet[name]}


def resolve_settings(
    specs: Iterable[MetricSpec], profile: str, overrides: Mapping[str, str], context: Mapping[str, str]
) -> dict[str, Settings]:
    """Settings for each metric by full name; an override that no chosen metric knows is a usage error."""
    specs = list(specs)
    known = {parameter.name for spec in specs for parameter in spec.parameters}
    for name in overrides:
        if name not in known:
            raise UsageError(
                f"--set {name}: no chosen metric has a setting of that name",
                expected=", ".join(sorted(known)) or "no setting: the chosen metrics have none",
                remedy=near_misses(name, known) or None,
            )
    return {
        spec.full_name: Settings(
            profile,
            {p.name: p.parse(overrides[p.name]) for p in spec.parameters if p.name in overrides},
            context,
        )
        for spec in specs
    }
