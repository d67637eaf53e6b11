"""The five scales that people rate replies on, with their guides, as data; and the names of all metrics of quality."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.signature import digest

OBJECTIVE = (
    "has_policy_citation",
    "appropriate_action_suggested",
    "response_structure_complete",
    "citation_accuracy",
    "response_length_appropriate",
    "asks_clarifying_questions",
    "sequential_action_correct",
    "rag_similarity_score",
    "processing_time_acceptable",
)
"""The nine metrics that code measures, in the document's order."""
SUBJECTIVE = (
    "professionalism_score",
    "empathy_score",
    "clarity_score",
    "actionability_score",
    "compliance_score",
)
"""The five that people rate, in the document's order."""
COMPOSITES = ("objective_quality_score", "subjective_quality_score", "overall_quality_score")
LOWEST, HIGHEST = 1, 5
BY_JUDGE = "judge"
"""The variant of a judge's ratings, which keeps them apart from people's."""
_SUFFIX = "_score"


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a scale."""

    score: int
    name: str
    description: str
    example: str
    """A reply of this level; empty where the document gives none."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from 1 to 5."""

    name: str
    """As people type it: `empathy`."""
    question: str
    levels: tuple[Level, ...]
    source: str

    @property
    def metric(self) -> str:
        """The metric its ratings are kept under."""
        return scale_metric(self.name)


@cache
def scales() -> dict[str, Scale]:
    """The scales by name, in the document's order."""
    text = (resources.files("turnwise.assistant") / "data" / "scales.yaml").read_text(encoding="utf-8")
    found = {}
    for name, data in yaml.safe_load(text).items():
        levels = tuple(
            Level(score, level["name"], level["description"], level.get("example", ""))
            for score, level in data["levels"].items()
        )
        found[name] = Scale(name, data["question"], levels, data["source"])
    return found


@cache
def guide_digest(name: str) -> str:
    """A hash of a scale's guide: ratings made with another guide are not the same measurement."""
    scale = scales()[name]
    return digest([scale.question, [[one.score, one.name, one.description, one.example] for one in scale.levels]])


def scale_metric(name: str) -> str:
    """The metric of a scale: `empathy` and `empathy_score` are `empathy_score`."""
    plain = name.strip().lower()
    return plain if plain.endswith(_SUFFIX) else plain + _SUFFIX


def scale_named(name: str) -> Scale:
    """A scale by the name that somebody typed."""
    short = scale_metric(name).removesuffix(_SUFFIX)
    if short not in scales():
        known = list(scales())
        raise UsageError(
            f"there is no scale {name!r}", expected=", ".join(known), remedy=near_misses(short, known) or None
        )
    return scales()[short]


def check_rating(scale: Scale, value: object) -> int:
    """A rating that is one: a whole number from 1 to 5."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value not in range(LOWEST, HIGHEST + 1):
        raise UsageError(
            f"{scale.name} cannot be rated {value}",
            expected=f"a whole number from {LOWEST} to {HIGHEST}",
            remedy="; ".join(f"{one.score} {one.name}" for one in scale.levels),
        )
    return int(value)
