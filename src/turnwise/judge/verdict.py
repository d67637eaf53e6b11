"""From the JSON object of an answer to a verdict: every score is on its scale or among its labels, or it is none.

Nothing is clamped, rounded or guessed. What can be read in one way only is read so: `"4"`, `"4/5"` where 5 is the
highest, a label in capitals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from turnwise.judge.records import Dimension, Rubric, Scale, Spans, Verdict
from turnwise.judge.rubric_fields import is_finite
from turnwise.kernel.errors import shorten
from turnwise.kernel.jsontext import clean

REASONING, SPANS = "reasoning", "spans"
NOT_APPLICABLE = frozenset({"null", "n/a", "na", "not applicable"})
FOUND = "found"
"""Beside `text`, `kind` and `severity` of a span: `yes`, or `no` where the judge quotes what is not there."""
_NUMBER = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?:(?:/|out of)\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)|(%))?")


class Unreadable(NamedTuple):
    """An answer that is no verdict."""

    problem: str
    """What is wrong with it, in words that the judge can be told."""


class NotAVerdict(Exception):
    """Why an object is none."""


def verdict_from(rubric: Rubric, shown: Mapping[str, str], answer: Mapping[str, Any]) -> Verdict | Unreadable:
    """The verdict that an object states; keys that nobody asked for are ignored."""
    try:
        missing = [name for name in expected_keys(rubric) if name not in answer]
        if missing:
            raise NotAVerdict(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        reasoning = answer[REASONING]
        if not isinstance(reasoning, str):
            raise NotAVerdict(f"{REASONING} is not text")
        scores = {one.name: _score(one, answer[one.name]) for one in rubric.dimensions}
        spans = _spans(rubric.spans, shown, answer[SPANS]) if rubric.spans else ()
    except NotAVerdict as problem:
        return Unreadable(str(problem))
    return Verdict(scores, clean(reasoning.strip()), spans)


def expected_keys(rubric: Rubric) -> tuple[str, ...]:
    """The keys of an answer, in the order in which they are asked for: what explains a score comes before it."""
    return (REASONING, *((SPANS,) if rubric.spans else ()), *(one.name for one in rubric.dimensions))


def number_text(value: float) -> str:
    """A number as a person writes it: 4, not 4.0.

    >>> number_text(4.0), number_text(0.5)
    ('4', '0.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def scale_text(scale: Scale) -> str:
    """A scale in words."""
    kind = "a whole number" if scale.whole else "a number"
    return f"{kind} from {number_text(scale.low)} to {number_text(scale.high)}"


# Scores


def _score(dimension: Dimension, value: object) -> float | str | None:
    is_label = dimension.scale is None
    if is_label and (label := _label(dimension.labels, value)) is not None:
        return label
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOT_APPLICABLE):
        if dimension.optional:
            return None
        raise NotAVerdict(f"{dimension.name} has no value, but has to be rated")
    if dimension.scale is None:
        expected = " or ".join(dimension.labels)
        raise NotAVerdict(f"{dimension.name} is {shorten(value)}, expected {expected}")
    return _on_scale(dimension.name, dimension.scale, value)


def _on_scale(name: str, scale: Scale, value: object) -> float:
    number = _number(value, scale)
    if number is None or not is_finite(number):
        raise NotAVerdict(f"{name} is {shorten(value)}, expected {scale_text(scale)}")
    if not scale.low <= number <= scale.high or (scale.whole and not float(number).is_integer()):
        raise NotAVerdict(f"{name} is {number_text(number)}, expected {scale_text(scale)}")
    return float(number) + 0.0  # -0 is 0


def _number(value: object, scale: Scale) -> float | None:
    """A number, also as text; as a fraction only of the highest number, so that 4/10 on a scale to 5 is nothing."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    read = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if read is None:
        return None
    number, of, percent = read.groups()
    if (of is not None and float(of) != scale.high) or (percent and (scale.low, scale.high) != (0, 100)):
        return None
    return float(number)


def _label(labels: Mapping[str, str], value: object) -> str | None:
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int):
        value = str(value)
    if not isinstance(value, str):
        return None
    folded = value.strip().casefold()
    return next((label for label in labels if label.casefold() == folded), None)


# Spans


def _spans(spans: Spans, shown: Mapping[str, str], value: object) -> tuple[Mapping[str, str], ...]:
    if not isinstance(value, list):
        raise NotAVerdict(f"{SPANS} is {shorten(value)}, expected a list")
    text = _unspaced(shown.get(spans.of, ""))
    return tuple(_span(spans, text, place, one) for place, one in enumerate(value))


def _span(spans: Spans, judged: str, place: int, value: object) -> Mapping[str, str]:
    name = f"{SPANS}[{place}]"
    if not isinstance(value, Mapping):
        raise NotAVerdict(f"{name} is {shorten(value)}, expected text, kind and severity")
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        raise NotAVerdict(f"{name}.text is {shorten(text)}, expected a quotation from {spans.of}")
    read = {"text": clean(text)}
    for field, known in (("kind", spans.kinds), ("severity", spans.severities)):
        label = _label(known, value.get(field))
        if label is None:
            raise NotAVerdict(f"{name}.{field} is {shorten(value.get(field))}, expected {' or '.join(known)}")
        read[field] = label
    return {**read, FOUND: "yes" if _unspaced(text) in judged else "no"}


def _unspaced(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())
