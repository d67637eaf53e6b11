"""Which metrics suit which system: the document's selection guide and compatibility matrix, from what metrics need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from turnwise.kernel.metric import MetricSpec
from turnwise.translation.records import FIELDS

NAMES = {
    "source": "source text",
    "hypothesis": "predicted text",
    "reference": "ground truth text",
    "source_audio": "source audio",
    "hypothesis_audio": "predicted audio",
    "reference_audio": "ground truth audio",
}
YES, WITH_TEXT, NO = "yes", "yes*", "no"
NOTE = "* needs the text between recognition, translation and speech"


@dataclass(frozen=True, slots=True)
class Use:
    """A kind of system under test."""

    title: str
    has: frozenset[str]
    """What there is to look at."""
    about: frozenset[str]
    """Of these, what the system itself made: a metric of this use looks at one of them."""
    first: frozenset[str] = frozenset()
    """What a metric must look at to judge the whole system; the others are for detail."""


USES = {
    "text": Use(
        "text translation (text to text)",
        frozenset({"source", "hypothesis", "reference"}),
        frozenset({"hypothesis"}),
    ),
    "tts": Use(
        "speech synthesis (text to audio)",
        frozenset({"hypothesis", "hypothesis_audio", "reference_audio"}),
        frozenset({"hypothesis_audio"}),
    ),
    "pipeline": Use(
        "the full pipeline (text to text to audio)",
        frozenset({"source", "hypothesis", "reference", "hypothesis_audio", "reference_audio"}),
        frozenset({"hypothesis", "hypothesis_audio"}),
    ),
    "speech": Use(
        "end-to-end speech translation (audio to audio)",
        frozenset(FIELDS),
        frozenset({"hypothesis", "hypothesis_audio"}),
        frozenset({"source_audio"}),
    ),
}
"""What `turnwise metrics --for` takes."""

OUTPUTS = {
    "text only": frozenset({"source", "hypothesis", "reference"}),
    "audio only": frozenset({"hypothesis_audio", "reference_audio"}),
    "text + audio": frozenset({"source", "hypothesis", "reference", "hypothesis_audio", "reference_audio"}),
    "speech-to-speech": frozenset({"source_audio", "hypothesis_audio", "reference_audio", "reference"}),
}
"""What a model gives, with what there is beside it: the rows of the compatibility matrix."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One metric for one use."""

    metric: str
    for_detail: bool
    needs: tuple[str, ...]
    question: str


def chosen(use: Use, specs: Iterable[MetricSpec]) -> list[Choice]:
    """The metrics for a use, those that judge the whole system first."""
    found = []
    for spec in specs:
        seen = _seen(spec, use.has)
        if seen is not None and set(seen) & use.about:
            detail = bool(use.first) and not use.first & set(seen)
            found.append(Choice(spec.name, detail, seen, spec.question))
    return sorted(found, key=lambda choice: choice.for_detail)


def data_needed(choices: Sequence[Choice]) -> list[str]:
    """What the metrics look at, in words."""
    return [NAMES[name] for name in FIELDS if any(name in choice.needs for choice in choices)]


def compatible(spec: MetricSpec, given: str) -> str:
    """Whether a metric can judge a model of this kind of output."""
    has = OUTPUTS[given]
    if _seen(spec, has) is not None:
        return YES
    spoken = "source_audio" in has  # a pipeline has the texts in between
    return WITH_TEXT if spoken and _seen(spec, has | {"source", "hypothesis"}) is not None else NO


def judges_samples(spec: MetricSpec) -> bool:
    """Whether a metric looks at the samples themselves (not at what the system cost)."""
    return all(name in FIELDS for need in spec.needs for name in need.split("|"))


def _seen(spec: MetricSpec, has: frozenset[str]) -> tuple[str, ...] | None:
    """What a metric looks at, of what there is; None where something it needs is not there."""
    seen = []
    for need in spec.needs:
        name = next((name for name in need.split("|") if name in has), None)
        if name is None:
            return None
        seen.append(name)
    return tuple(seen)
