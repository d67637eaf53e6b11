"""The shape of a file of patterns; `profile.py` makes it ready for use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from turnwise.assistant.scales import OBJECTIVE, SUBJECTIVE, scale_metric
from turnwise.kernel.errors import near_misses

Text = Annotated[str, StringConstraints(min_length=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Structure(_Section):
    """What makes a reply complete."""

    acknowledgements: list[Text]
    within_characters: Annotated[int, Field(ge=1)]
    guidance_characters: Annotated[int, Field(ge=0)]
    next_steps: list[Text]


class Clarifying(_Section):
    """What asks before it guides."""

    active: list[Text]
    questions: list[Text]
    guidance: list[Text]


class Length(_Section):
    """How many words are right, both ends included."""

    min_words: Annotated[int, Field(ge=0)]
    max_words: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _ordered(self) -> Length:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words {self.min_words} is more than max_words {self.max_words}")
        return self


class Overall(_Section):
    """How much either half counts; together 1."""

    objective: Weight = 0.4
    subjective: Weight = 0.6

    @model_validator(mode="after")
    def _whole(self) -> Overall:
        if abs(self.objective + self.subjective - 1) > 1e-9:
            raise ValueError(f"the two weights add up to {self.objective + self.subjective:g}, not to 1")
        return self


class Priorities(_Section):
    """How much each metric counts; one that is not named counts 1."""

    objective: dict[str, Weight] = Field(default_factory=dict)
    subjective: dict[str, Weight] = Field(default_factory=dict)

    @field_validator("objective")
    @classmethod
    def _objective_metrics(cls, value: dict[str, float]) -> dict[str, float]:
        return _known(value, OBJECTIVE)

    @field_validator("subjective")
    @classmethod
    def _scales(cls, value: dict[str, float]) -> dict[str, float]:
        return _known({scale_metric(name): weight for name, weight in value.items()}, SUBJECTIVE)


class Weights(Priorities):
    """The same, and how much either half counts in the overall quality."""

    overall: Overall = Field(default_factory=Overall)


def _known(value: dict[str, float], names: tuple[str, ...]) -> dict[str, float]:
    for name in value:
        if name not in names:
            hint = near_misses(name, names)
            raise ValueError(f"there is no {name!r}; " + (hint or f"there are {', '.join(names)}"))
    if all(value.get(name, 1.0) == 0 for name in names):
        raise ValueError("nothing counts: every weight is 0")
    return value


class Scenario(_Section):
    """What holds in one scenario only."""

    actions: list[Text] | None = None
    weights: Priorities = Field(default_factory=Priorities)
    """Where they are silent, those of all scenarios hold."""


class ProfileFile(_Section):
    """The sections of a file."""

    script: Literal["latin", "any"]
    citation: list[Text]
    actions: Annotated[dict[Text, list[Text]], Field(min_length=1)]
    offers: dict[Text, list[Text]]
    policy_names: list[Text]
    policy_titles: list[Text]
    masks: list[Text]
    structure: Structure
    clarifying: Clarifying
    common_words: str
    length: Length
    processing_time_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    scenarios: dict[Text, Scenario]
    weights: Weights
    production_ready: Annotated[float, Field(ge=0, le=1)]
