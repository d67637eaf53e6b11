"""Metrics made of other metrics: declared inputs and one function, per unit or after roll-up.

They are computed when read and never stored as measured, so a human rating that arrives later changes them at once.
A missing input makes the result `skipped` and names the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from turnwise.kernel.bands import Bands
from turnwise.kernel.metric import MetricSpec, Output, Settings, defaults
from turnwise.kernel.rollup import FloatArray


class When(StrEnum):
    """When the function is applied."""

    PER_UNIT = "per unit"
    """To the scores of each unit; the results roll up like measured scores."""
    AFTER_ROLLUP = "after roll-up"
    """To the rolled-up inputs of each group; resampling draws the inputs jointly."""


class Input(NamedTuple):
    """One input: another metric of the same room, and which of its outputs."""

    metric: str
    output: str = "value"
    variant: str = ""
    """A variant that goes into what is made of plain scores: a judge's opinion beside people's."""
    only_if: str = ""
    """A parameter of the derived metric that has to be on, else the input is not there."""

    @property
    def label(self) -> str:
        """How the function and the messages name it."""
        name = self.metric if self.output == "value" else f"{self.metric}.{self.output}"
        return f"{name} ({self.variant})" if self.variant else name


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived metric.

    `function` takes the inputs by label as arrays of one shape, and by name the parameters of the metric and the
    settings of the run that its `context` lists, if any, and returns that shape.
    """

    spec: MetricSpec
    inputs: tuple[Input, ...]
    function: Callable[..., FloatArray]
    when: When = When.PER_UNIT
    settings: Settings = field(default_factory=Settings)
    partial: bool = False
    """Made of the inputs that are there: the function gets NaN for the others, and gives NaN where too few are."""
    dimensions: tuple[str, ...] = ()
    """Dimensions of the units that the function takes by name, too: one text per unit, empty where it has none."""
    bands: Callable[..., Bands] | None = None
    """The bands of the output, from what the function takes by name; None: as declared."""

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError(f"{self.spec.full_name}: a derived metric needs inputs")
        if len(self.spec.outputs) != 1:
            raise ValueError(f"{self.spec.full_name}: a derived metric has one output")
        if (self.dimensions or self.partial) and self.when is not When.PER_UNIT:
            raise ValueError(f"{self.spec.full_name}: only a unit has dimensions, and lacks inputs")

    def apply(
        self, inputs: Mapping[str, FloatArray], dimensions: Mapping[str, Sequence[str]] | None = None
    ) -> FloatArray:
        """The function, with the settings of the run and the dimensions of the units it asks for."""
        return self.function(inputs, **self.values, **self.context, **(dimensions or {}))

    @property
    def output(self) -> Output:
        """The one output, with the bands that the settings of the run give it."""
        (declared,) = self.spec.outputs
        return declared if self.bands is None else replace(declared, bands=self.bands(**self.values, **self.context))

    def settled(self, settings: Settings) -> Derived:
        """The metric with the settings of a run, and without the inputs that they leave out."""
        made = replace(self, settings=settings)
        used = tuple(one for one in made.inputs if not one.only_if or made.values[one.only_if])
        return replace(made, inputs=used)

    @property
    def context(self) -> dict[str, str]:
        """The settings of the run that its values depend on."""
        known = self.settings.context
        return {name: known[name] for name in self.spec.context if name in known}

    @property
    def values(self) -> dict[str, Any]:
        """The parameters: what the profile says, then what the user says."""
        return {**defaults(self.spec, self.settings.profile), **self.settings.values}
