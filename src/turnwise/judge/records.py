"""What passes between a room and the judge: rubrics, questions, and what became of them.

A rubric is what is asked; a question is a rubric with what the judge may see of one unit; a judgement is what came
back, once for each repeat. Everything here is plain data: it travels to workers with the batch it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turnwise.kernel.score import JSON, Unit
from turnwise.kernel.signature import digest

CONSISTENCY = "self_consistency"
"""The output of a judged metric that says how often repeats agree with what they were combined to."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high`."""

    low: float
    high: float
    whole: bool = True
    """Whether only whole numbers are answers."""
    anchors: Mapping[str, str] = field(default_factory=dict)
    """What some of the numbers stand for."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing the judge is asked to rate: by a scale or by labels, never both."""

    name: str
    asks: str
    scale: Scale | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label to what it stands for."""
    optional: bool = False
    """Whether the judge may say that it does not apply (null)."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Pieces of the judged text that the judge is to point out, each with a kind and a severity."""

    asks: str
    of: str
    """The name of the piece that a span must be quoted from."""
    kinds: Mapping[str, str]
    severities: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """A case with the right answer, shown to the judge."""

    shown: Mapping[str, str]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a judge is asked about each unit of a kind."""

    name: str
    room: str
    version: int
    unit: str
    question: str
    needs: tuple[str, ...]
    """Pieces that must be there; a unit without one is skipped."""
    sees: tuple[str, ...]
    """Pieces that are shown where they are there, beside the needed ones."""
    dimensions: tuple[Dimension, ...]
    """In the order they are asked for; the one called `primary` is what the metric's name stands for."""
    primary: str
    lower_is_better: bool = False
    spans: Spans | None = None
    examples: tuple[Example, ...] = ()
    guidance: str = ""
    """What else a judge should know, in as many lines as it takes."""
    content: Mapping[str, Any] = field(default_factory=dict)
    """The file as it was read: what the hash is made of, and what a stored run keeps of it."""

    @property
    def hash(self) -> str:
        """Changes with anything that the judge could notice."""
        return digest(dict(self.content))

    def dimension(self, name: str) -> Dimension:
        """The dimension called `name`."""
        return next(one for one in self.dimensions if one.name == name)


class Question(NamedTuple):
    """A rubric, and what the judge sees of one unit: names of pieces to texts, in the order they are shown."""

    rubric: Rubric
    unit: Unit
    shown: Mapping[str, str]


class Verdict(NamedTuple):
    """A readable answer."""

    scores: Mapping[str, float | str | None]
    """Dimension to number or label; None where the judge said that it does not apply."""
    reasoning: str = ""
    spans: tuple[Mapping[str, str], ...] = ()
    """Each with `text`, `kind`, `severity`."""
    repaired: bool = False
    """Whether the judge had to be asked again for an answer in the right form."""
    confidence: float | None = None
    """The probability of the answer's tokens, where the server tells."""


class Failure(NamedTuple):
    """No readable answer, and why."""

    reason: str
    raw: str = ""
    """What the judge said, where it said anything."""
    limited: bool = False
    """Whether nobody asked because a limit (calls, cost) was reached: skipped rather than failed."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came back for one question: an entry for each repeat, in order."""

    answers: tuple[Verdict | Failure, ...]
    model: str = ""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The readable answers."""
        return tuple(answer for answer in self.answers if isinstance(answer, Verdict))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The others."""
        return tuple(answer for answer in self.answers if isinstance(answer, Failure))


Key = tuple[str, str, str]
"""The rubric's name, and the kind and id of the unit that was asked about."""
Judged = Mapping[Key, Judgement]
"""What a batch carries of the judge's answers."""
Pieces = Mapping[str, JSON]
"""What there is to see of one unit, by the names that rubrics use; a batch yields them as `pieces(unit_kind)`."""


def question_key(question: Question) -> Key:
    """Where the judgement of a question is found in a batch."""
    return question.rubric.name, question.unit.kind, question.unit.id
