"""Metrics made of other metrics: declared inputs and one function, per unit or after roll-up.

They are computed when read and never stored as measured, so a human rating that arrives later changes them at once.
A missing input makes the result `skipped` and names the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from turnwise.kernel.metric import MetricSpec, Settings, defaults
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

    @property
    def label(self) -> str:
        """How the function and the messages name it."""
        return self.metric if self.output == "value" else f"{self.metric}.{self.output}"


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived metric.

    `function` takes the inputs by label as arrays of one shape, and the parameters of the metric by name if it has any,
    and returns that shape.
    """

    spec: MetricSpec
    inputs: tuple[Input, ...]
    function: Callable[..., FloatArray]
    when: When = When.PER_UNIT
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError(f"{self.spec.full_name}: a derived metric needs inputs")
        if len(self.spec.outputs) != 1:
            raise ValueError(f"{self.spec.full_name}: a derived metric has one output")

    def apply(self, inputs: Mapping[str, FloatArray]) -> FloatArray:
        """The function, with the settings of the run."""
        return self.function(inputs, **self.values)

    @property
    def values(self) -> dict[str, Any]:
        """The parameters: what the profile says, then what the user says."""
        return {**defaults(self.spec, self.settings.profile), **self.settings.values}
