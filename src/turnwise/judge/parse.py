"""Reading a judge's answer: plain, fenced, or with talk around it; and never what the judged text wrote into it.

An answer that is one JSON object is the verdict. Where there is talk around it, every object in it that could be a
verdict is looked at; what the judge quotes from the text it judges is no verdict, and if what is left is not one
verdict, there is none. Time is linear in the length of the answer, whatever it holds.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from turnwise.judge.records import Question, Rubric, Verdict
from turnwise.judge.verdict import REASONING, Unreadable, expected_keys, number_text, verdict_from

__all__ = ["Unreadable", "parse_answer"]

MOST_FALSE_STARTS = 500
"""Braces that open no object. Real talk has a handful; beyond this nobody can say what the answer is."""
MOST_READINGS = 3
"""How often the length of an answer may be read in vain, beyond `FREE_READING` characters."""
FREE_READING = 100_000
MOST_ATTEMPTS = 50
"""Objects in one answer that could be its verdict."""
NO_OBJECT = "there is no JSON object in the answer"
TWO_VERDICTS = "the answer holds two different verdicts"
ONLY_QUOTES = "the answer only quotes a verdict that stands in the judged text"
BREAKS_OFF = "the answer breaks off within a JSON object"
ONLY_THINKING = "the answer ends within the thinking"
TOO_DEEP = "the answer is nested too deeply"
TOO_MANY_VERDICTS = f"the answer holds more than {MOST_ATTEMPTS} verdicts"
TOO_MANY_BRACES = "the answer has too many braces that open nothing"

_OPENING = re.compile(r'\{[ \t\r\n]*"')
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[A-Za-z0-9]*[ \t]*\r?\n")
_THINK, _THOUGHT = "<think>", "</think>"
_ENDS_THINKING = re.compile(r"<\s*/\s*think", re.IGNORECASE)
_BACKSLASHES = re.compile(r"\\+")
_ESCAPED_CHARACTER = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPED_SPACE = re.compile(r"\\[nrtbf]")
_NO_WORD = re.compile(r"[\W_]+")
_MOST_DIGITS = 300


def parse_answer(question: Question, text: str) -> Verdict | Unreadable:
    """The verdict that a judge's answer states, or why it states none."""
    said = text.strip().lstrip("\ufeff").strip()
    if not said:
        return Unreadable("the answer is empty")
    try:
        whole = _whole(said)
        if whole is not None:
            return _checked(question, whole)
        rest, sure = _without_thinking(said, question)
        if not rest:
            return Unreadable(ONLY_THINKING)
        whole = _whole(rest) if sure else None
        return _checked(question, whole) if whole is not None else _among_talk(question, rest)
    except RecursionError:
        return Unreadable(TOO_DEEP)


# JSON


class _Object(dict[str, Any]):
    """A JSON object that knows which of its keys were given twice, at whatever depth below it."""

    twice: str = ""


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object()
    for key, value in pairs:
        if key in found:
            found.twice = found.twice or key
        found[key] = value
        for inner in value if isinstance(value, list) else [value]:
            found.twice = found.twice or getattr(inner, "twice", "")
    return found


def _whole_number(digits: str) -> float:
    # Python refuses to read thousands of digits at once; no scale has them.
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


# Line breaks within strings are not JSON, but models write them, and they can be read in one way only.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole_number, strict=False)


def _whole(text: str) -> _Object | None:
    """The object that a text is, plain or in one code fence."""
    fence = _FENCE.match(text)
    if fence and text.endswith(fence[1]) and len(text) >= fence.end() + len(fence[1]):
        text = text[fence.end() : -len(fence[1])].strip()
    if not text.startswith("{"):
        return None
    try:
        found, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, _Object) and end == len(text) else None


def _checked(question: Question, answer: _Object) -> Verdict | Unreadable:
    if answer.twice:
        return Unreadable(f"{answer.twice!r} is given twice")
    return verdict_from(question.rubric, question.shown, answer)


# Thinking


def _without_thinking(text: str, question: Question) -> tuple[str, bool]:
    """What comes after the thinking, and whether it is sure that the judge itself ended it."""
    sure = not any(_ENDS_THINKING.search(piece) for piece in question.shown.values())
    opened = text[: len(_THINK)].lower() == _THINK
    if not opened and not sure:
        return text, False
    # Some templates put the opening tag into the prompt, so that answers have the closing one only.
    _, closing, rest = text.partition(_THOUGHT)
    if closing:
        return rest.strip(), sure
    return ("", False) if opened else (text, False)


# Talk


def _among_talk(question: Question, text: str) -> Verdict | Unreadable:
    objects = _objects(text)
    if isinstance(objects, Unreadable):
        return objects
    names = expected_keys(question.rubric)
    attempts = [one for one in objects if all(name in one for name in names)]
    if not attempts:
        return Unreadable(_missing(objects, names)) if objects else Unreadable(NO_OBJECT)
    if len(attempts) > MOST_ATTEMPTS:
        return Unreadable(TOO_MANY_VERDICTS)
    own = _own(question, attempts)
    if not own:
        return Unreadable(ONLY_QUOTES)
    verdicts = [_checked(question, one) for one in own]
    wrong = next((one for one in verdicts if isinstance(one, Unreadable)), None)
    if wrong is not None:
        return wrong
    read = [one for one in verdicts if isinstance(one, Verdict)]
    # A verdict that is stated twice in other words is still one.
    if any((one.scores, one.spans) != (read[0].scores, read[0].spans) for one in read):
        return Unreadable(TWO_VERDICTS)
    return read[-1]


def _objects(text: str) -> list[_Object] | Unreadable:
    """Every JSON object in a text that is not within another one."""
    found: list[_Object] = []
    place, false_starts, in_vain = 0, 0, 0
    while (opening := _OPENING.search(text, place)) is not None:
        try:
            one, place = _DECODER.raw_decode(text, opening.start())
            found.append(one)
        except json.JSONDecodeError as error:
            if error.pos >= len(text) or error.msg.startswith("Unterminated"):
                return Unreadable(BREAKS_OFF)
            place, false_starts = opening.start() + 1, false_starts + 1
            in_vain += error.pos - opening.start()
            if false_starts > MOST_FALSE_STARTS or in_vain > MOST_READINGS * len(text) + FREE_READING:
                return Unreadable(TOO_MANY_BRACES)
    return found


def _missing(objects: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> str:
    missing = min(([name for name in names if name not in one] for one in objects), key=len)
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"


# Quotations


def _own(question: Question, attempts: list[_Object]) -> list[_Object]:
    """The objects that the judge did not find in what it was shown."""
    texts = [*question.shown.values(), *(json.dumps(dict(one.answer)) for one in question.rubric.examples)]
    judged = [_skeleton(text) for text in texts]
    return [one for one in attempts if not any(_stands_in(text, question.rubric, one) for text in judged)]


def _stands_in(judged: str, rubric: Rubric, attempt: Mapping[str, Any]) -> bool:
    """Whether a text has the reasoning and every score of an object, each after its name."""
    names = (REASONING, *(one.name for one in rubric.dimensions))
    return all(_skeleton(name) + _skeleton(_written(attempt[name])) in judged for name in names)


def _written(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return number_text(value)
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _skeleton(text: str) -> str:
    r"""Letters and digits alone, so that neither spaces nor quotes nor any depth of escaping hide a quotation.

    >>> _skeleton('{"a_b": "\\u0041 \\"c\\""}') == _skeleton('{\\"a_b\\":\\"A \\\\n\\\\"C\\"}') == "abac"
    True
    """
    with suppress(ValueError):  # a character reference of thousands of digits
        text = html.unescape(text)
    text = _BACKSLASHES.sub(r"\\", text)
    text = _ESCAPED_CHARACTER.sub(lambda found: chr(int(found[1], 16)), text)
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _NO_WORD.sub("", _ESCAPED_SPACE.sub("", text)).casefold()
