"""Answers that come as streams of events, wanted or not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.judge.asked import GOOD, outcome
from tests.judge.server import MODEL, Reply, Request, Server, completion, error, events
from turnwise.judge import client
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Verdict

STREAM = {"content-type": "text/event-stream; charset=utf-8"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_BACKOFF_S", 0.01)


def deltas(text: str, size: int = 7) -> list[dict[str, Any]]:
    """A text in pieces."""
    head = {"model": MODEL, "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    chunks = [{"model": MODEL, "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    return [head, *chunks, {"model": MODEL, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


USAGE = {"model": MODEL, "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}


@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "unasked"])
def test_a_stream(asked: bool) -> None:
    reply = Reply(headers=STREAM, chunks=events(*deltas(GOOD), USAGE), between_s=0.001)
    with Server(lambda _: reply) as server:
        judge, found = _ask(server, stream=asked)
    assert isinstance(found, Verdict)
    assert (judge.tally.prompt_tokens, judge.tally.completion_tokens, judge.tally.unmetered) == (100, 20, 0)
    assert server.requests[0].body.get("stream", False) is asked


def _ask(server: Server, **changes: Any) -> tuple[Judge, Verdict | Failure]:
    from tests.judge.asked import ask_about, settings_for

    judge = Judge(settings_for(server, **changes))
    judge.ask(ask_about(1))
    return judge, judge.judgement(ask_about(1)[0]).answers[0]


def test_the_same_bytes_in_any_pieces() -> None:
    """Line ends of both kinds, comments, an event split in the middle of a character, U+2028 within the text."""
    text = GOOD.replace("table", "table\u2028für 两")
    whole = b": warming up\r\n\r\n" + b"".join(events(*deltas(text, 3))).replace(b"\n\n", b"\r\n\r\n")
    for size in (1, 5, 64, len(whole)):
        pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
        with Server(lambda _, pieces=pieces: Reply(headers=STREAM, chunks=pieces)) as server:
            found = outcome(server)
        assert isinstance(found, Verdict)
        assert found.reasoning == "It does not say where the table\u2028für 两 is."


def test_an_answer_in_one_piece_although_a_stream_was_asked_for() -> None:
    with Server(lambda _: completion(GOOD)) as server:
        assert isinstance(outcome(server, stream=True), Verdict)


def test_a_stream_that_nobody_ends() -> None:
    """The last event is the end, even if the connection stays open."""
    reply = Reply(headers=STREAM, chunks=events(*deltas(GOOD)), hold_open_s=15)
    with Server(lambda _: reply) as server:
        begun = time.monotonic()
        assert isinstance(outcome(server), Verdict)
        assert time.monotonic() - begun < 10


def test_a_stream_without_its_last_event() -> None:
    with Server(lambda _: Reply(headers=STREAM, chunks=events(*deltas(GOOD), done=False))) as server:
        assert isinstance(outcome(server), Verdict)
    assert len(server.requests) == 1


def test_half_a_stream_is_asked_for_again() -> None:
    half = Reply(headers=STREAM, chunks=events(*deltas(GOOD)[:4], done=False))
    with Server(lambda request: half if request.number == 0 else completion(GOOD)) as server:
        assert isinstance(outcome(server), Verdict)
    assert len(server.requests) == 2
    with Server(lambda _: half) as server:
        found = outcome(server, retries=1)
    assert isinstance(found, Failure)
    assert found.reason == "the server sent half a stream, 2 tries"


def test_an_error_within_a_stream() -> None:
    chunks = events(*deltas(GOOD)[:3], {"error": {"message": "out of memory", "code": 500}})
    with Server(lambda _: Reply(headers=STREAM, chunks=chunks)) as server:
        found = outcome(server, retries=0)
    assert isinstance(found, Failure)
    assert found.reason == "HTTP 500: 'out of memory', 1 try"


def test_a_stream_that_is_too_slow() -> None:
    """Every piece is in time, the whole is not: the limit is for the whole."""
    reply = Reply(headers=STREAM, chunks=events(*deltas(GOOD, 1)), between_s=0.1)
    with Server(lambda _: reply) as server:
        found = outcome(server, timeout_s=0.5, retries=0)
    assert isinstance(found, Failure)
    assert found.reason == "no answer within 0.5 s, 1 try"


def test_a_server_without_stream_options_or_streams() -> None:
    def answering(request: Request) -> Reply:
        for name in ("stream_options", "stream"):
            if name in request.body:
                return error(400, f"Unrecognized request argument supplied: {name}")
        return completion(GOOD)

    with Server(answering) as server:
        assert isinstance(outcome(server, stream=True), Verdict)
    assert [sorted({"stream", "stream_options"} & set(request.body)) for request in server.requests] == [
        ["stream", "stream_options"],
        ["stream"],
        [],
    ]


def test_probabilities_of_a_stream() -> None:
    # exp((ln 0.5 + ln 0.125) / 2) = 0.25
    first, *rest = deltas(GOOD)
    rest[0]["choices"][0]["logprobs"] = {"content": [{"token": "{", "logprob": -0.6931471805599453}]}
    rest[1]["choices"][0]["logprobs"] = {"content": [{"token": "x", "logprob": -2.0794415416798357}]}
    with Server(lambda _: Reply(headers=STREAM, chunks=events(first, *rest))) as server:
        found = outcome(server, stream=True, logprobs=True)
    assert isinstance(found, Verdict)
    assert found.confidence == pytest.approx(0.25, abs=1e-6)


def test_a_refusal_in_a_stream() -> None:
    chunks = [{"choices": [{"delta": {"refusal": piece}}]} for piece in ("I will ", "not.")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    with Server(lambda _: Reply(headers=STREAM, chunks=events(*chunks, end))) as server:
        assert outcome(server) == Failure("the judge refused: I will not.", "I will not.")
