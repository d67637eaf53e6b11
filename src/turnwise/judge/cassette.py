"""The record: every answer of a judge in a JSON file of its own, under the hash of what was asked.

    DIR/big-model-1f3a9c20/settings.json        who answered, and with which parameters
    DIR/big-model-1f3a9c20/ab/ab12....json      one question and its answer

A file appears complete or not at all, so that a killed run leaves no half answers and any number of processes may share
a folder. Neither addresses nor headers nor times are in it: the same answers make the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.jsontext import clean

FORMAT = 1
_SETTINGS = "settings.json"
_READABLE = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class Answer(NamedTuple):
    """What a judge said to one request."""

    text: str
    refusal: str | None = None
    """What it said instead, where the server marks it as a refusal."""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    confidence: float | None = None
    """The geometric mean of the probabilities of its tokens, where the server tells them."""
    model: str | None = None
    """Who the server says answered."""


@dataclass(frozen=True)
class Call:
    """One request, without anything that depends on where it is sent or how."""

    model: str
    messages: Sequence[Mapping[str, str]]
    parameters: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0

    @cached_property
    def request(self) -> dict[str, Any]:
        """What the answer is recorded under, and beside."""
        messages = [{name: _clean(text) for name, text in message.items()} for message in self.messages]
        parameters = {**self.parameters, "schema": dict(self.schema)}
        return {"model": self.model, "repeat": self.repeat, "parameters": parameters, "messages": messages}

    @cached_property
    def key(self) -> str:
        """The hash of the request."""
        return request_key(self.request)


def request_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of a request as compact JSON with sorted keys."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


class Cassette:
    """A folder of answers of one judge; without a folder, a record that lasts as long as the process."""

    def __init__(self, folder: Path | None, settings: JudgeSettings) -> None:
        self.folder = None if folder is None else folder / _name(settings)
        self._settings = settings
        self._memory: dict[str, Answer] = {}
        self._is_described = False

    def path(self, key: str) -> Path:
        """The file of a key."""
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Answer | None:
        """The answer under a key; None where there is none."""
        if self.folder is None:
            return self._memory.get(key)
        path = f"{self.folder}/{key[:2]}/{key}.json"
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError("a recorded answer cannot be read", where=path, found=str(error)) from error
        with os.fdopen(descriptor, "rb") as file:
            return _read(file.read(), key, path)

    def put(self, call: Call, answer: Answer) -> None:
        """Keep an answer."""
        if self.folder is None:
            self._memory[call.key] = answer
            return
        content = {"turnwise_cassette": FORMAT, "request": call.request, "answer": _written(answer)}
        try:
            if not self._is_described:
                _write(self.folder / _SETTINGS, _described(self._settings))
                self._is_described = True
            _write(self.path(call.key), content)
        except OSError as error:
            remedy = "make room, or choose another folder with --judge-cassette"
            where = str(self.folder)
            raise InputError("an answer cannot be kept", where=where, found=str(error), remedy=remedy) from error


def recorded_settings(folder: Path, model: str | None = None) -> JudgeSettings:
    """The settings that a cassette was recorded with: the only ones there are, or those of `model`."""
    found = [(path, content) for path, content in _judges(folder) if model is None or content["model"] == model]
    if len(found) == 1:
        path, content = found[0]
        try:
            return JudgeSettings(model=content["model"], **content["parameters"])
        except (ValueError, TypeError) as error:
            raise _broken(str(path), str(error).splitlines()[0]) from None
    names = sorted({content["model"] for _, content in _judges(folder)})
    if not names:
        expected = "a folder that --judge-cassette wrote"
        raise UsageError("there are no recorded answers here", where=str(folder), expected=expected)
    if not found:
        remedy = near_misses(model or "", names) or None
        what = f"{model} has answered nothing on this cassette"
        raise UsageError(what, where=str(folder), found=", ".join(names), remedy=remedy)
    where = ", ".join(path.parent.name for path, _ in found)
    remedy = "--judge-model NAME" if len(names) > 1 else "--judge-config with the parameters that are wanted"
    raise UsageError("the cassette holds the answers of several judges", where=str(folder), found=where, remedy=remedy)


def _judges(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if not folder.is_dir():
        raise UsageError("the cassette is not there", where=str(folder), expected="a folder with recorded answers")
    for path in sorted(folder.glob(f"*/{_SETTINGS}")):
        content = _parsed(path.read_bytes(), str(path))
        if not isinstance(content.get("model"), str) or not isinstance(content.get("parameters"), dict):
            raise _broken(str(path), "no model or no parameters")
        yield path, content


def _name(settings: JudgeSettings) -> str:
    """A folder name for a judge: readable, and different for different parameters."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", settings.model).strip("-.")[:60] or "model"
    return f"{words}-{request_key({'model': settings.model, 'parameters': settings.parameters})[:8]}"


def _described(settings: JudgeSettings) -> dict[str, Any]:
    return {"turnwise_cassette": FORMAT, "model": settings.model, "parameters": settings.parameters}


def _clean(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return clean(text)
    return text


# Files


def _written(answer: Answer) -> dict[str, Any]:
    usage = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
    return {
        "text": _clean(answer.text),
        "refusal": None if answer.refusal is None else _clean(answer.refusal),
        "finish_reason": answer.finish_reason,
        "usage": usage,
        "confidence": answer.confidence,
        "model": answer.model,
    }


def _read(content: bytes, key: str, where: str) -> Answer:
    found = _parsed(content, where)
    request, answer = found.get("request"), found.get("answer")
    if not isinstance(request, dict) or not isinstance(answer, dict):
        raise _broken(where, "no request or no answer")
    if request_key(request) != key:
        raise _broken(where, "the request in it is not the one it is named after")
    usage = answer.get("usage") or {}
    if not isinstance(answer.get("text"), str) or not isinstance(usage, dict):
        raise _broken(where, "an answer without its text or its tokens")
    return Answer(
        answer["text"],
        answer.get("refusal"),
        answer.get("finish_reason"),
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        answer.get("confidence"),
        answer.get("model"),
    )


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _broken(where, f"no JSON: {error}") from None
    if not isinstance(found, dict) or "turnwise_cassette" not in found:
        raise _broken(where, "something else")
    if found["turnwise_cassette"] != FORMAT:
        expected, remedy = f"version {FORMAT}", "use the version of turnwise that wrote it, or record anew"
        version = f"version {found['turnwise_cassette']!r}"
        raise InputError(
            "the cassette has another version", where=where, found=version, expected=expected, remedy=remedy
        )
    return found


def _broken(where: str, found: str) -> InputError:
    remedy = "delete the file: with --judge-cassette the question is asked again"
    expected = "an answer as --judge-cassette records it"
    return InputError("a recorded answer cannot be used", where=where, found=found, expected=expected, remedy=remedy)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Complete or not at all."""
    passing = path.parent / f".{path.stem[:16]}-{os.getpid()}-{secrets.token_hex(4)}.part"
    data = orjson.dumps(content, option=_READABLE)
    try:
        passing.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        passing.write_bytes(data)
    os.replace(passing, path)  # noqa: PTH105 (a third of the time of pathlib's)
