"""Servers that do not take all of the protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.judge.asked import GOOD, ask_about, outcome, settings_for
from tests.judge.server import Reply, Request, Server, completion, error
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Verdict
from turnwise.kernel.errors import UsageError


def without(*fields: str, **how: Any) -> Any:
    """A server that refuses a request with one of these fields, in the words of OpenAI's."""

    def answering(request: Request) -> Reply:
        for name in fields:
            if name in request.body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return error(400, message, param=name, code="unsupported_parameter", **how)
        return completion(GOOD)

    return answering


def forms(server: Server) -> list[str]:
    return [request.body.get("response_format", {}).get("type", "text") for request in server.requests]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "response_format of type json_schema is not supported"),
        (422, "'json_schema' is not a permitted value for response_format"),
        (404, "response_format is not implemented by this backend"),
        (501, "Not Implemented"),
        (500, "guided decoding is not supported by this engine"),
    ],
)
def test_a_schema_is_refused(status: int, message: str) -> None:
    def answering(request: Request) -> Reply:
        form = request.body.get("response_format", {}).get("type")
        return error(status, message) if form == "json_schema" else completion(GOOD)

    with Server(answering) as server:
        judge = Judge(settings_for(server, start_concurrency=1, highest_concurrency=1))
        tally = judge.ask(ask_about(4))
    assert tally.failed == 0
    assert forms(server) == ["json_schema", *["json_object"] * 4]
    assert tally.notes == ("the server takes no JSON schema (asked for any JSON object)",)
    assert tally.retried == 0


def test_any_response_format_is_refused() -> None:
    with Server(without("response_format")) as server:
        judge = Judge(settings_for(server, start_concurrency=1, highest_concurrency=1))
        tally = judge.ask(ask_about(3))
        judge.ask(ask_about(5))
    assert forms(server) == ["json_schema", "json_object", *["text"] * 5]
    assert tally.notes == ("the server takes no JSON schema (asked as plain text)",)


def test_json_schema_off_and_on() -> None:
    with Server(without("response_format")) as server:
        assert isinstance(outcome(server, json_schema="off"), Verdict)
        assert forms(server) == ["text"]
        with pytest.raises(UsageError, match="json_schema is on"):
            outcome(server, json_schema="on")


def test_every_other_field_is_refused() -> None:
    with Server(without("seed", "temperature", "logprobs", "max_tokens")) as server:
        judge = Judge(settings_for(server, logprobs=True))
        tally = judge.ask(ask_about(1))
    last = server.requests[-1].body
    assert tally.failed == 0
    assert not {"seed", "temperature", "logprobs", "max_tokens"} & set(last)
    assert last["max_completion_tokens"] == 2048
    assert last["response_format"]["type"] == "json_schema"
    assert tally.notes == (
        "the server takes no temperature",
        "the server takes no seed",
        "the server takes no logprobs",
    )


def test_no_token_limit_at_all() -> None:
    with Server(without("max_tokens", "max_completion_tokens")) as server:
        assert isinstance(outcome(server), Verdict)
    assert not {"max_tokens", "max_completion_tokens"} & set(server.requests[-1].body)


def test_a_validator_that_repeats_the_request() -> None:
    """The names of all fields stand in such an error; only its place counts."""

    def answering(request: Request) -> Reply:
        if "seed" not in request.body:
            return completion(GOOD)
        detail = {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": request.body}
        return Reply(422, json.dumps({"detail": [detail]}).encode())

    with Server(answering) as server:
        assert isinstance(outcome(server), Verdict)
    last = server.requests[-1].body
    assert "seed" not in last
    assert "temperature" in last
    assert last["response_format"]["type"] == "json_schema"


def test_what_did_not_help_is_not_remembered() -> None:
    """A refusal that goes on without the field was about something else."""

    def answering(request: Request) -> Reply:
        if "table for 0" in request.prompt:
            return error(400, "invalid request: seed, temperature or the stars")
        return completion(GOOD)

    with Server(answering) as server:
        judge = Judge(settings_for(server, start_concurrency=1, highest_concurrency=1))
        judge.ask(ask_about(2))
    first, second = ask_about(2)
    (failure,) = judge.judgement(first).answers
    assert isinstance(failure, Failure)
    assert failure.reason.startswith("HTTP 400")
    assert judge.judgement(second).verdicts
    assert server.requests[-1].body["seed"] == 0
    assert judge.tally.notes == ()
