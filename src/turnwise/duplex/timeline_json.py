"""A conversation as a JSON object and back, without loss: the lines of turnwise's own format, and what a run keeps.

What is well-formed is taken in passing; only where something looks wrong is each value looked at for the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.duplex.categories import LABELS
from turnwise.duplex.formats.spans import AGENT, USER, in_order, moment, ordered
from turnwise.duplex.records import KINDS, LATEST, Label, Segment, Timeline, kind_named
from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten

_SEGMENTS = ("user", "agent", "sentences", "words", "user_words", "clean_user", "clean_agent")
SPEECH_FIELDS = frozenset(("user", "agent", "labels", "sentences", "words"))
_TEXTS = ("behaviour", "language", "category")
_LENGTHS = ("tick", "seconds")
_A_STRETCH = "[start, end] or {start, end, text}, in seconds"
_make = tuple.__new__  # half the time of calling the class, and there are many


def as_json(timeline: Timeline) -> dict[str, Any]:
    """The conversation as a JSON object; what is as usual is left out."""
    found: dict[str, Any] = {"key": timeline.key}
    for name in _SEGMENTS:
        segments = getattr(timeline, name)
        if segments is not None:
            found[name] = [_segment(one) for one in segments]
    for name in (*_TEXTS, *_LENGTHS):
        value = getattr(timeline, name)
        if value is not None:
            found[name] = value
    several: dict[str, Any] = {
        "labels": [_label(one) for one in timeline.labels],
        "tool_calls": list(timeline.tool_calls),
        "metadata": dict(timeline.metadata),
        "audio": [str(path) for path in timeline.audio],
        "detected": timeline.detected,
        "notes": list(timeline.notes),
        "context": dict(timeline.context),
    }
    return found | {name: value for name, value in several.items() if value}


def _segment(one: Segment) -> Any:
    return {"start": one.start, "end": one.end, "text": one.text} if one.text else [one.start, one.end]


def _label(one: Label) -> dict[str, Any]:
    found: dict[str, Any] = {"start": one.start, "end": one.end, "label": one.kind}
    if one.text:
        found["text"] = one.text
    return {**found, "directed": True} if one.directed else found


def from_json(value: Any, where: str, folder: Path | None = None) -> Timeline:
    """The conversation of a JSON object; audio files are relative to `folder`.

    Fields that a conversation does not have become dimensions where they hold a text or a number.
    """
    if not isinstance(value, Mapping):
        raise _wrong("the conversation", value, where, "an object {...}")
    found: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, given in value.items():
        read = _READERS.get(name)
        if read is None:
            others[name] = given
        elif given is not None:
            found[name] = read(given, name, where)
    if "key" not in found:
        _key(None, ", ".join(map(str, list(value)[:8])) or "an empty object", where)
    for side in (USER, AGENT):
        if side in found and not _well_ordered(found[side]):
            found[side], notes = in_order(found[side], side)
            found["notes"] = tuple(dict.fromkeys((*found.get("notes", ()), *notes)))
    if folder and "audio" in found:
        found["audio"] = tuple(folder / path for path in found["audio"])
    if others:
        found["metadata"] = {**found.get("metadata", {}), **_dimensions(others, where)}
    return Timeline(**found)


# Stretches of time


def _well_ordered(segments: Sequence[Segment]) -> bool:
    """Whether speech of one side is in order, without overlaps and empty stretches."""
    last = 0.0
    for start, end, _ in segments:
        if start < last or end <= start:
            return False
        last = end
    return True


def _segments(given: Any, name: str, where: str) -> tuple[Segment, ...]:
    if not isinstance(given, list | tuple):
        raise _wrong(name, given, where, f"a list of {_A_STRETCH}")
    found = []
    start: Any
    end: Any
    text: Any
    for one in given:
        if type(one) is list and len(one) == 2:
            start, end = one
            text = ""
        elif type(one) is dict and len(one) == 3 and type(text := one.get("text")) is str:
            start, end = one.get("start"), one.get("end")
        else:
            start = end = text = None
        if type(start) is float and type(end) is float and 0 <= start <= end <= LATEST:
            found.append(_make(Segment, (start, end, text)))
        else:  # a whole number, or something that has to be looked at
            found.append(Segment(*_parts(one, f"{where}, {name}[{len(found)}]", ("text",))[:3]))
    return tuple(found)


def _parts(one: Any, where: str, more: tuple[str, ...]) -> tuple[float, float, str, Mapping[str, Any]]:
    """Beginning, end and words of something, each looked at; `more` are fields that it may have."""
    if isinstance(one, list | tuple) and len(one) in (2, 3):
        one = dict(zip(("start", "end", "text"), one, strict=False))
    if not isinstance(one, Mapping):
        raise _wrong("a stretch of time", one, where, _A_STRETCH)
    for name in one:
        if name not in ("start", "end", *more):
            raise _unknown(str(name), where, ("start", "end", *more))
    start, end = moment(one.get("start"), where, "start"), moment(one.get("end"), where, "end")
    text = one.get("text")
    return *ordered(start, end, where), "" if text is None else _text(text, "text", where), one


def _labels(given: Any, name: str, where: str) -> tuple[Label, ...]:
    if not isinstance(given, list | tuple):
        raise _wrong(name, given, where, "a list of {start, end, label, text}")
    found = []
    for one in given:
        if type(one) is dict and len(one) == 3 and one.get("label") in KINDS:
            start, end = one.get("start"), one.get("end")
            if type(start) is float and type(end) is float and 0 <= start <= end <= LATEST:
                found.append(Label(start, end, one["label"]))
                continue
        found.append(_label_of(one, f"{where}, {name}[{len(found)}]"))
    return tuple(found)


def _label_of(one: Any, where: str) -> Label:
    if not isinstance(one, Mapping):
        raise _wrong("a label", one, where, "{start, end, label, text}")
    start, end, text, fields = _parts(one, where, ("label", "text", "directed"))
    name, directed = fields.get("label"), _truth(fields.get("directed", False), "directed", where)
    if not isinstance(name, str):
        raise _wrong("label", name, where, f"one of {', '.join(KINDS)}")
    return Label(start, end, name if name in KINDS else kind_named(name, where), text, directed)


# Other fields


def _key(given: Any, name: str, where: str) -> str:
    key = str(given) if type(given) is int else given
    if not isinstance(key, str) or not key.strip() or "\x00" in key:
        raise InputError(
            "key is missing or no readable text",
            where=where,
            found=name if given is None else shorten(given),
            expected="a text that names the conversation",
        )
    return key


def _metadata(given: Any, name: str, where: str) -> dict[str, str]:
    found = {}
    for column, one in _object(given, name, where).items():
        if one is None:
            continue
        if not isinstance(one, str | int | float):
            raise _wrong(f"{name}.{column}", one, where, "a text or a number")
        found[str(column)] = str(one).lower() if isinstance(one, bool) else str(one)
    return found


def _dimensions(others: Mapping[str, Any], where: str) -> dict[str, str]:
    """Fields that a conversation does not have; a list among them is one that was misspelt."""
    for name, one in others.items():
        if not isinstance(one, str | int | float | None):
            raise _unknown(str(name), where, tuple(_READERS))
    return _metadata(others, "the conversation", where)


def _audio(given: Any, name: str, where: str) -> tuple[Path, ...]:
    paths = [given] if isinstance(given, str | Path) else _list(given, name, where)
    if len(paths) > 2 or not all(isinstance(one, str | Path) and str(one).strip() for one in paths):
        raise _wrong(name, given, where, "one stereo file, or the user's and the agent's")
    return tuple(map(Path, paths))


def _list(given: Any, name: str, where: str) -> Sequence[Any]:
    if not isinstance(given, list | tuple):
        raise _wrong(name, given, where, "a list [...]")
    return given


def _texts(given: Any, name: str, where: str) -> tuple[str, ...]:
    return tuple(_text(one, name, where) for one in _list(given, name, where))


def _moments(given: Any, name: str, where: str) -> tuple[float, ...]:
    return tuple(_moment(one, name, where) for one in _list(given, name, where))


def _moment(one: Any, name: str, where: str) -> float:
    return moment(one, where, name)


def _object(given: Any, name: str, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise _wrong(name, given, where, "an object {...}")
    return given


def _text(one: Any, name: str, where: str) -> str:
    if not isinstance(one, str):
        raise _wrong(name, one, where, "a text")
    return one


def _behaviour(given: Any, name: str, where: str) -> str:
    label = _text(given, name, where)
    if label not in LABELS:
        raise InputError(
            f"unknown behaviour {shorten(label)!r}",
            where=where,
            expected=", ".join(LABELS),
            remedy=near_misses(label, LABELS) or None,
        )
    return label


def _truth(one: Any, name: str, where: str) -> bool:
    if not isinstance(one, bool):
        raise _wrong(name, one, where, "true or false")
    return one


_READERS: Mapping[str, Callable[[Any, str, str], Any]] = {
    "key": _key,
    **dict.fromkeys(_SEGMENTS, _segments),
    "labels": _labels,
    **dict.fromkeys(_TEXTS, _text),
    "behaviour": _behaviour,
    "tool_calls": _moments,
    **dict.fromkeys(_LENGTHS, _moment),
    "metadata": _metadata,
    "audio": _audio,
    "detected": _truth,
    "notes": _texts,
    "context": _object,
}
"""How each field is read: from its value, its name and its place."""


def _wrong(name: str, found: Any, where: str, expected: str) -> InputError:
    return InputError(f"{name} has the wrong type", where=where, found=shorten(found), expected=expected)


def _unknown(name: str, where: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f"unknown field {name!r}", where=where, expected=", ".join(known), remedy=near_misses(name, known) or None
    )
