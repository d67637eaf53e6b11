"""Reading what a server sends: an answer in one piece or as a stream of events, or the many ways of sending neither.

Pure functions on bytes; `client.py` fetches them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from turnwise.judge.cassette import Answer

MOST_BYTES = 32 << 20
"""What is longer than this is no answer to a question."""
DONE = b"data: [DONE]"


class Garbled(Exception):
    """The server sent something that is no answer; another try may help."""

    def __init__(self, problem: str, raw: str = "") -> None:
        super().__init__(problem)
        self.problem, self.raw = problem, raw


class ErrorInside(Exception):
    """An error in a response that is called a success."""

    def __init__(self, status: int | None, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def read_answer(content: bytes, content_type: str) -> Answer:
    """The answer in a response."""
    text = content.decode("utf-8", "replace")
    if "event-stream" in content_type or text.lstrip().startswith(("data:", "event:", ":")):
        return _from_events(text)
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        kind = content_type.partition(";")[0].strip() or "no content type"
        problem = "an empty body" if not text.strip() else f"a body that is no JSON ({kind})"
        raise Garbled(problem, text) from None
    return _from_object(found, text)


def error_message(content: bytes) -> tuple[str, str | None]:
    """What an error says, and the field that it is about, if it names one."""
    text = content.decode("utf-8", "replace")
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return text[:2000], None
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return str(error)[:2000], None
    details = error.get("detail")
    if isinstance(details, list) and details and isinstance(details[0], dict):
        # A validator's list: each with its place and message, and with what was sent, which is not what it is about.
        places = [".".join(map(str, one.get("loc", ()))) for one in details if isinstance(one, dict)]
        said = "; ".join(str(one.get("msg", "")) for one in details if isinstance(one, dict))
        return f"{said} ({', '.join(places)})", places[0]
    message = error.get("message") or details or error.get("msg") or text
    field, code = error.get("param"), error.get("code")
    about = f" ({code})" if isinstance(code, str) and code not in str(message) else ""
    return f"{str(message)[:2000]}{about}", field if isinstance(field, str) else None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `Retry-After` as a number or as a date."""
    if (given := headers.get("retry-after-ms")) is not None and (exact := _number(given)) is not None:
        return exact / 1000
    given = headers.get("retry-after")
    if given is None:
        return None
    if (seconds := _number(given)) is not None:
        return seconds
    try:
        until = parsedate_to_datetime(given).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    try:
        # The server's clock may be wrong, but it is the same one that made the date.
        now = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError, OverflowError):
        now = time.time()
    return max(0.0, until - now)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


# One piece


def _from_object(found: Any, raw: str) -> Answer:
    choice = _choice(found, raw)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Garbled("a choice without a message", raw)
    probabilities = (choice.get("logprobs") or {}).get("content") if isinstance(choice.get("logprobs"), dict) else None
    refusal = message.get("refusal")
    return Answer(
        _text(message.get("content")),
        refusal if isinstance(refusal, str) and refusal else None,
        _string(choice.get("finish_reason")),
        *_usage(found.get("usage")),
        _confidence(probabilities or ()),
        _string(found.get("model")),
    )


def _choice(found: Any, raw: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise Garbled("JSON that is no object", raw)
    if found.get("error"):
        raise _inside(found)
    choices = found.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Garbled("no choices", raw)
    return choices[0]


def _inside(found: dict[str, Any]) -> ErrorInside:
    error = found["error"]
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdigit()) else None
    message, _ = error_message(orjson.dumps(found))
    return ErrorInside(status if status and 400 <= status < 600 else None, message)


def _text(content: Any) -> str:
    """Text as it is, or in parts; a model that says nothing says the empty text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _usage(usage: Any) -> tuple[int | None, int | None]:
    if not isinstance(usage, dict):
        return None, None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    first, second = (count if isinstance(count, int) and count >= 0 else None for count in counts)
    return first, second


def _confidence(tokens: Iterable[Any]) -> float | None:
    """exp(mean log probability) of the answer's tokens: their geometric mean probability."""
    logs = [token.get("logprob") for token in tokens if isinstance(token, dict)]
    known = [float(log) for log in logs if isinstance(log, int | float) and not isinstance(log, bool) and log <= 0]
    return round(math.exp(sum(known) / len(known)), 6) if known else None


# A stream


def _from_events(text: str) -> Answer:
    pieces: list[str] = []
    refusals: list[str] = []
    tokens: list[Any] = []
    finish = model = None
    usage: tuple[int | None, int | None] = (None, None)
    ended = False
    for data in _events(text):
        if data.strip() == "[DONE]":
            ended = True
            break
        chunk = _chunk(data, text)
        model = model or _string(chunk.get("model"))
        if chunk.get("usage"):
            usage = _usage(chunk["usage"])
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or choice.get("message") or {}
            pieces.append(_text(delta.get("content")))
            refusals.append(delta.get("refusal") or "")
            tokens += (choice.get("logprobs") or {}).get("content") or []
            finish = _string(choice.get("finish_reason")) or finish
    if not ended and finish is None:
        raise Garbled("half a stream" if pieces else "a stream without an answer", text)
    return Answer("".join(pieces), "".join(refusals) or None, finish, *usage, _confidence(tokens), model)


def _events(text: str) -> Iterator[str]:
    """The data of server-sent events; comments and other fields are left out."""
    data: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _chunk(data: str, raw: str) -> dict[str, Any]:
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise Garbled("half a stream", raw) from None
    if not isinstance(chunk, dict):
        raise Garbled("a stream of something else", raw)
    if chunk.get("error"):
        raise _inside(chunk)
    return chunk
