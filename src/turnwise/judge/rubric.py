"""Rubrics: what a judge is asked, read from YAML files, those of the package and a user's own.

Every mistake in a file is an error that names the field; a rubric that is read can be asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from turnwise.judge.records import Dimension, Example, Rubric, Scale, Spans
from turnwise.judge.rubric_fields import PIECES, RESERVED, UNITS, Fields, check_name, is_finite, plain, read_file
from turnwise.judge.verdict import FOUND, Unreadable, number_text, scale_text, verdict_from
from turnwise.kernel.errors import UsageError, near_misses, shorten

HIGHER, LOWER = "higher", "lower"
OVERALL = "overall"
FIELDS = (
    *("name", "room", "version", "unit", "question", "guidance", "needs", "sees"),
    *("scale", "scores", "primary", "direction", "spans", "examples"),
)
_SCALE = ("low", "high", "whole", "anchors")
_SCORE = ("asks", "scale", "labels", "optional")
_SPANS = ("asks", "of", "kinds", "severities")
_EXAMPLE = ("shown", "answer")


def read_rubric(path: Path, room: str | None = None) -> Rubric:
    """The rubric of a file; `room` is where it is used, for files that do not name theirs."""
    return rubric_from(read_file(path), str(path), room)


def rubric_from(content: Mapping[str, Any], where: str, room: str | None = None) -> Rubric:
    """A rubric from what a file holds; `where` is what errors call it."""
    content = plain(content, where)
    fields = Fields(content, where, known=FIELDS)
    found = _room(fields, room)
    needs, sees = _pieces(fields, found)
    dimensions = _dimensions(fields)
    names = [one.name for one in dimensions]
    primary = fields.choice("primary", names, OVERALL if OVERALL in names else names[-1])
    rubric = Rubric(
        name=fields.name("name"),
        room=found,
        version=fields.whole("version", 1),
        unit=fields.choice("unit", UNITS[found], UNITS[found][0]),
        question=fields.text("question"),
        needs=needs,
        sees=sees,
        dimensions=dimensions,
        primary=primary,
        lower_is_better=fields.choice("direction", (HIGHER, LOWER), HIGHER) == LOWER,
        spans=_spans(fields, (*needs, *sees)) if fields.has("spans") else None,
        guidance=fields.text("guidance", ""),
        content={**content, "room": found},
    )
    if fields.has("direction") and rubric.dimension(primary).scale is None:
        fields.wrong("direction", f"{primary} is a label, which has no direction", remedy="leave direction out")
    return replace(rubric, examples=_examples(fields, rubric))


@cache
def packaged_rubric(room: str, name: str) -> Rubric:
    """A rubric that comes with turnwise."""
    known = _packaged(room)
    if name not in known:
        remedy = near_misses(name, known) or None
        raise UsageError(f"there is no rubric {name!r} for {room}", expected=", ".join(known), remedy=remedy)
    with resources.as_file(_folder(room) / f"{name}.yaml") as file:
        return rubric_from(read_file(file), f"{room}/{name}.yaml", room)


def packaged_rubrics(room: str) -> list[Rubric]:
    """All rubrics for a room that come with turnwise, by name."""
    return [packaged_rubric(room, name) for name in _packaged(room)]


def _folder(room: str) -> Any:
    if room not in PIECES:
        remedy = near_misses(room, PIECES) or None
        raise UsageError(f"there is no room {room!r}", expected=", ".join(PIECES), remedy=remedy)
    return resources.files("turnwise.judge") / "rubrics" / room


def _packaged(room: str) -> list[str]:
    files = [file.name for file in _folder(room).iterdir()]
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


# What it is about


def _room(fields: Fields, used: str | None) -> str:
    given = fields.text("room", used or "")
    if not given:
        fields.wrong("room", "nobody says which room this rubric is for", expected=" or ".join(PIECES))
    if given not in PIECES:
        remedy = near_misses(given, PIECES) or None
        fields.wrong("room", f"there is no room {given!r}", expected=" or ".join(PIECES), remedy=remedy)
    if used and given != used:
        remedy = f"use it with turnwise run {given}, or leave room out if it suits both"
        fields.wrong("room", f"this rubric is not for {used}", given, used, remedy)
    return given


def _pieces(fields: Fields, room: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    needs, sees = fields.names("needs", PIECES[room]), fields.names("sees", PIECES[room])
    if not needs:
        fields.wrong("needs", "a judge needs something to judge", None, f"some of {', '.join(PIECES[room])}")
    both = next((name for name in sees if name in needs), None)
    if both:
        fields.wrong("sees", f"{both} is needed already", remedy="keep it in needs, or in sees")
    return needs, sees


# Scores


def _dimensions(fields: Fields) -> tuple[Dimension, ...]:
    shared = _scale(fields.mapping("scale", _SCALE)) if fields.has("scale") else None
    if not fields.has("scores"):
        fields.wrong(
            "scores", "a rubric needs scores", None, "scores: {overall: {asks: ..., scale: {low: 1, high: 5}}}"
        )
    scores = fields.mapping("scores")
    if not scores.content:
        scores.wrong("", "a rubric needs at least one score")
    return tuple(_dimension(scores, name, shared) for name in scores.content)


def _dimension(scores: Fields, name: str, shared: Scale | None) -> Dimension:
    check_name(scores, name, name)
    if name in RESERVED:
        scores.wrong(name, f"no score can be called {name}", remedy="choose another name")
    if isinstance(scores.content[name], str):
        asks, score = scores.text(name), Fields({}, scores.where, f"{scores.path}.{name}")
    else:
        score = scores.mapping(name, _SCORE)
        asks = score.text("asks")
    if score.has("scale") and score.has("labels"):
        score.wrong("labels", f"{name} has a scale and labels", remedy="keep one of the two")
    optional = score.flag("optional", False)
    if score.has("labels"):
        return Dimension(name, asks, None, _labels(score, "labels", 2), optional)
    scale = _scale(score.mapping("scale", _SCALE)) if score.has("scale") else shared
    if scale is None:
        score.wrong("", f"{name} has neither a scale nor labels", remedy="give it one, or all scores a scale on top")
    return Dimension(name, asks, scale, {}, optional)


def _scale(fields: Fields) -> Scale:
    low, high = fields.number("low"), fields.number("high")
    if low >= high:
        found, expected = f"low {number_text(low)}, high {number_text(high)}", "low below high"
        fields.wrong("high", "the scale has no room", found, expected)
    whole = fields.flag("whole", True)
    for name, end in (("low", low), ("high", high)):
        if whole and not end.is_integer():
            fields.wrong(name, f"{name} is not a whole number", end, remedy="whole: false, if parts are answers, too")
    scale = Scale(low, high, whole)
    anchors: dict[float, str] = {}
    for name, text in fields.texts("anchors").items():
        anchor = _anchor(name)
        if anchor is None or not low <= anchor <= high or (whole and not anchor.is_integer()):
            fields.wrong(f"anchors.{name}", f"{name} is not on the scale", expected=scale_text(scale))
        if anchor in anchors:
            fields.wrong(f"anchors.{name}", f"{number_text(anchor)} has two anchors", remedy="keep one of them")
        anchors[anchor] = text
    return Scale(low, high, whole, {number_text(anchor): anchors[anchor] for anchor in sorted(anchors)})


def _anchor(name: str) -> float | None:
    try:
        number = float(name)
    except ValueError:
        return None
    return number if is_finite(number) else None


def _labels(fields: Fields, name: str, fewest: int) -> dict[str, str]:
    labels = fields.texts(name)
    if len(labels) < fewest:
        fields.wrong(name, f"{name} holds {len(labels)}", expected=f"at least {fewest}, each with what it stands for")
    folded: dict[str, str] = {}
    for label in labels:
        if not label or not label.isprintable():
            fields.wrong(f"{name}.{label}", "this cannot be a label", label, "a word that can be printed")
        other = folded.setdefault(label.casefold(), label)
        if other != label:
            fields.wrong(f"{name}.{label}", f"{other} and {label} differ in case only", remedy="rename one of them")
    return labels


def _spans(fields: Fields, pieces: tuple[str, ...]) -> Spans:
    spans = fields.mapping("spans", _SPANS)
    return Spans(
        asks=spans.text("asks"),
        of=spans.choice("of", pieces, ""),
        kinds=_labels(spans, "kinds", 1),
        severities=_labels(spans, "severities", 1),
    )


# Examples


def _examples(fields: Fields, rubric: Rubric) -> tuple[Example, ...]:
    given = fields.content.get("examples")
    if given is None:
        return ()
    if not isinstance(given, list):
        fields.wrong("examples", "examples is not a list", given, "a list of {shown: ..., answer: ...}")
    return tuple(_example(Fields(one, fields.where, f"examples[{n}]", _EXAMPLE), rubric) for n, one in enumerate(given))


def _example(fields: Fields, rubric: Rubric) -> Example:
    shown = fields.texts("shown")
    pieces = (*rubric.needs, *rubric.sees)
    for name in (*(one for one in shown if one not in pieces), *(one for one in rubric.needs if one not in shown)):
        what = "is missing" if name in rubric.needs else "is not among what the judge sees"
        remedy = None if name in rubric.needs else near_misses(name, pieces) or None
        fields.wrong(f"shown.{name}", f"{name} {what}", expected=", ".join(pieces), remedy=remedy)
    answer = fields.mapping("answer").content
    verdict = verdict_from(rubric, shown, answer)
    if isinstance(verdict, Unreadable):
        fields.wrong("answer", "the example's answer is not one that the rubric allows", expected=verdict.problem)
    for span in verdict.spans:
        if span[FOUND] == "no":
            assert rubric.spans is not None
            fields.wrong("answer.spans", f"{shorten(span['text'])} does not stand in {rubric.spans.of}")
    return Example(shown, answer)
