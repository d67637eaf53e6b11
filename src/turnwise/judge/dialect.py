"""What a server takes of the protocol: tried in full first, then without what it refuses, and remembered.

Servers that call themselves compatible differ in response formats, seeds, temperatures, the name of the token limit,
probabilities and streams. A refusal is recognised by its status and by what its message is about; what was left out is
kept for the next requests only once a request without it went through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from turnwise.judge.cassette import Call
from turnwise.judge.settings import JudgeSettings

REFUSALS = (400, 404, 415, 422, 500, 501)
"""Statuses that may be about a field; 500 only if the message names one."""
_SCHEMA, _OBJECT, _TEXT = "json_schema", "json_object", "text"
_UNSUPPORTED = re.compile(
    r"support|unknown|unrecogni|permitted|allowed|extra|invalid|unexpected|implement|unavailable|not available|"
    r"deprecat|instead|disabled|only the default|not enabled|forbidden|must be",
    re.I,
)
_TOO_LONG = re.compile(r"context (length|window|size)|maximum context|too (long|large|many tokens)|exceed", re.I)
_ABOUT: Mapping[str, re.Pattern[str]] = {
    "response_format": re.compile(r"response_?format|json[_ ]?(schema|object|mode)|structured|guided|grammar", re.I),
    "logprobs": re.compile(r"log_?probs?", re.I),
    "seed": re.compile(r"\bseed\b", re.I),
    "temperature": re.compile(r"\btemperature\b", re.I),
    "max_tokens": re.compile(r"\bmax_(completion_)?tokens\b", re.I),
    "stream_options": re.compile(r"\bstream_options\b|include_usage", re.I),
    "stream": re.compile(r"\bstream(ing|ed)?\b", re.I),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to one model are written."""

    response_format: str = _SCHEMA
    limit: str | None = "max_tokens"
    """The name of the token limit; None where there is none."""
    temperature: bool = True
    seed: bool = True
    logprobs: bool = False
    stream: bool = False
    stream_options: bool = True

    @classmethod
    def wanted(cls, settings: JudgeSettings) -> Dialect:
        """Everything that the settings ask for."""
        form = _TEXT if settings.json_schema == "off" else _SCHEMA
        return cls(form, logprobs=settings.logprobs, stream=settings.stream)

    def body(self, call: Call) -> dict[str, Any]:
        """A request's body."""
        parameters = call.request["parameters"]
        body: dict[str, Any] = {"model": call.model, "messages": call.request["messages"]}
        if self.temperature:
            body["temperature"] = parameters["temperature"]
        if self.seed and parameters["seed"] is not None:
            body["seed"] = parameters["seed"] + call.repeat
        if self.limit and parameters["max_tokens"] is not None:
            body[self.limit] = parameters["max_tokens"]
        if self.logprobs:
            body["logprobs"] = True
        if self.stream:
            body |= {"stream": True} | ({"stream_options": {"include_usage": True}} if self.stream_options else {})
        if self.response_format == _SCHEMA and call.schema:
            schema = {"name": "answer", "strict": True, "schema": dict(call.schema)}
            body["response_format"] = {"type": _SCHEMA, "json_schema": schema}
        elif self.response_format != _TEXT and call.schema:
            body["response_format"] = {"type": _OBJECT}
        return {**body, **parameters.get("body", {})}

    def without(self, status: int, message: str, field: str | None, sent: Mapping[str, Any]) -> Dialect | None:
        """How to ask instead, after a refusal with this message about this field; None if it is about something else.

        `sent` is the body that was refused: what was not in it cannot have been the reason.
        """
        if status not in REFUSALS:
            return None
        for name, about in _ABOUT.items():
            if name not in sent and not (name == "max_tokens" and "max_completion_tokens" in sent):
                continue
            if (field and about.search(field)) or _refuses(message, about):
                return self._less(name)
        return self._less("response_format") if status == 501 and "response_format" in sent else None

    def _less(self, name: str) -> Dialect:
        if name == "response_format":
            return replace(self, response_format=_OBJECT if self.response_format == _SCHEMA else _TEXT)
        if name == "max_tokens":
            return replace(self, limit="max_completion_tokens" if self.limit == "max_tokens" else None)
        changes: dict[str, Any] = {name: False}
        return replace(self, **changes)

    def notes(self, settings: JudgeSettings) -> tuple[str, ...]:
        """What is left out of what the settings ask for."""
        wanted = Dialect.wanted(settings)
        found = []
        if self.response_format != wanted.response_format:
            instead = "as plain text" if self.response_format == _TEXT else "for any JSON object"
            found.append(f"the server takes no JSON schema (asked {instead})")
        dropped = [
            name
            for name in ("temperature", "seed", "logprobs", "stream")
            if getattr(self, name) != getattr(wanted, name)
        ]
        dropped += ["max_tokens"] if self.limit is None else []
        return (*found, *(f"the server takes no {name}" for name in dropped))


def _refuses(message: str, about: re.Pattern[str]) -> bool:
    return bool(about.search(message) and _UNSUPPORTED.search(message) and not _TOO_LONG.search(message))
