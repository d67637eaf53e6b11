"""Asking over HTTP, against a server that does what servers do."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic

import pytest

from tests.judge.asked import GOOD, always_good, ask_about, outcome, settings_for
from tests.judge.server import MODEL, Reply, Request, Server, completion, error
from turnwise.judge import client
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Verdict
from turnwise.kernel.errors import TurnwiseError, UsageError


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting between tries is tested by itself."""
    monkeypatch.setattr(client, "FIRST_BACKOFF_S", 0.01)


def first(rude: Callable[[], Reply], then: str = GOOD) -> Callable[[Request], Reply]:
    """Rude to the first request, friendly from the second on."""
    return lambda request: rude() if request.number == 0 else completion(then)


def test_what_is_sent() -> None:
    with Server(always_good) as server:
        found = outcome(server)
    (request,) = server.requests
    assert found == Verdict({"overall": 4.0}, "It does not say where the table is.")
    assert request.path == "/v1/chat/completions"
    assert {name: request.body[name] for name in ("model", "temperature", "seed", "max_tokens")} == {
        "model": MODEL,
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 2048,
    }
    form = request.body["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert "overall" in form["json_schema"]["schema"]["properties"]
    assert "stream" not in request.body
    assert "logprobs" not in request.body
    assert "authorization" not in request.headers


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_addresses_as_users_type_them(ending: str) -> None:
    with Server(always_good) as server:
        url = server.url.removesuffix("/v1") + ending
        assert isinstance(outcome(url), Verdict)
    assert server.requests[0].path == "/v1/chat/completions"


def test_more_headers_and_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY", "opens-the-gate")
    extra = {"headers": {"X-Gateway": "${GATEWAY}"}, "body": {"reasoning_effort": "low"}, "logprobs": True}
    with Server(always_good) as server:
        outcome(server, **extra)
    (request,) = server.requests
    assert request.headers["x-gateway"] == "opens-the-gate"
    assert (request.body["reasoning_effort"], request.body["logprobs"]) == ("low", True)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Certainly! Here is my verdict:\n\n{GOOD}\n\nLet me know if you need more.",
        f"\n\n  {GOOD}  \n",
    ],
    ids=["fenced", "chatty", "spaced"],
)
def test_answers_with_something_around_them(text: str) -> None:
    with Server(lambda _: completion(text)) as server:
        found = outcome(server)
    assert isinstance(found, Verdict)
    assert found.scores == {"overall": 4.0}
    assert len(server.requests) == 1


def test_content_in_parts() -> None:
    halves = [{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}]
    with Server(lambda _: completion(None, message={"content": halves})) as server:
        assert isinstance(outcome(server), Verdict)


def test_a_wrong_content_type_with_a_good_body() -> None:
    def plain(request: Request) -> Reply:
        reply = completion(GOOD)
        reply.headers = {"content-type": "text/plain"}
        return reply

    with Server(plain) as server:
        assert isinstance(outcome(server), Verdict)


@pytest.mark.parametrize(
    ("rude", "reason"),
    [
        (lambda: Reply(body=b"<html>Sign in</html>", headers={"content-type": "text/html"}), "no JSON (text/html)"),
        (lambda: Reply(body=completion(GOOD).body, send_bytes=60), "the connection broke"),
        (lambda: Reply(body=completion(GOOD).body[:60]), "no JSON"),
        (lambda: Reply(body=b""), "an empty body"),
        (lambda: Reply(body=b'{"choices": []}'), "no choices"),
        (lambda: Reply(body=b'{"choices": [{"index": 0}]}'), "a choice without a message"),
        (lambda: Reply(body=b"[]"), "no object"),
        (lambda: Reply(body=b'{"error": {"message": "overloaded", "code": 503}}'), "HTTP 503"),
        (lambda: error(500, "it hurts"), "HTTP 500: 'it hurts'"),
        (lambda: error(502, "bad gateway"), "HTTP 502"),
        (lambda: error(503, "busy", {"retry-after": "0"}), "HTTP 503"),
        (lambda: error(408, "too slow"), "HTTP 408"),
        (lambda: error(409, "conflict"), "HTTP 409"),
        (lambda: Reply(body=completion(GOOD).body, delay_s=5), "no answer within 0.3 s"),
    ],
)
def test_another_try_helps_or_the_reason_is_told(rude: Callable[[], Reply], reason: str) -> None:
    with Server(first(rude)) as server:
        judge = Judge(settings_for(server, timeout_s=0.3 if "within" in reason else 20))
        tally = judge.ask(ask_about(1))
    assert (tally.calls, tally.retried, tally.failed) == (1, 1, 0)
    with Server(lambda _: rude()) as server:
        found = outcome(server, timeout_s=0.3 if "within" in reason else 20, retries=1)
    assert isinstance(found, Failure)
    assert reason in found.reason
    assert found.reason.endswith(", 2 tries")
    assert len(server.requests) == 2


def test_a_time_out_closes_the_connection() -> None:
    with Server(lambda _: Reply(body=completion(GOOD).body, delay_s=10)) as server:
        begun = monotonic()
        outcome(server, timeout_s=0.2, retries=0)
        assert monotonic() - begun < 5
        while server.hung_up == 0 and monotonic() - begun < 10:
            pass
        assert server.hung_up == 1


def test_a_slow_answer_is_waited_for() -> None:
    with Server(lambda _: Reply(body=completion(GOOD).body, delay_s=1.0)) as server:
        assert isinstance(outcome(server), Verdict)
    assert len(server.requests) == 1


def test_what_only_this_question_suffers_from_is_not_tried_again() -> None:
    message = "This model's maximum context length is 8192 tokens; you asked for 9000 via max_tokens."
    with Server(lambda _: error(400, message, code="context_length_exceeded")) as server:
        found = outcome(server)
    assert isinstance(found, Failure)
    assert found.reason.startswith("HTTP 400")
    assert "maximum context length" in found.raw
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "what"),
    [
        (error(401, "Incorrect API key"), UsageError, "wants a key, and TURNWISE_JUDGE_API_KEY is not set"),
        (error(403, "not for you"), UsageError, "does not accept the key for this model"),
        (error(404, "The model `judge-1` does not exist"), UsageError, "no such judge"),
        (error(402, "pay first"), UsageError, "no money left"),
        (error(429, "You exceeded your quota", code="insufficient_quota"), UsageError, "no money left"),
        (Reply(307, b"", {"location": "https://elsewhere.example/v1?key=secret"}), UsageError, "leads elsewhere"),
        (error(429, "tomorrow", {"retry-after": "86400"}), TurnwiseError, "wants to be left alone"),
    ],
)
def test_what_is_wrong_for_all_stops_the_run(reply: Reply, kind: type[Exception], what: str) -> None:
    with Server(lambda _: reply) as server:
        judge = Judge(settings_for(server))
        with pytest.raises(kind, match=what) as raised:
            judge.ask(ask_about(200))
    assert len(server.requests) <= 8
    assert isinstance(raised.value, TurnwiseError)
    assert f"127.0.0.1:{server.port}" in str(raised.value)
    assert raised.value.remedy
    assert "secret" not in str(raised.value)


def test_nobody_there() -> None:
    with Server(always_good) as server:
        url = server.url
    judge = Judge(settings_for(url, retries=1))
    with pytest.raises(TurnwiseError, match="cannot be reached"):
        judge.ask(ask_about(50))


def test_a_judge_that_stops_answering_is_given_up() -> None:
    with Server(lambda request: completion(GOOD) if request.number < 5 else error(500, "gone")) as server:
        judge = Judge(settings_for(server, retries=0))
        with pytest.raises(TurnwiseError, match="no answer to 20 questions in a row"):
            judge.ask(ask_about(500))
    assert judge.tally.calls == 5
    assert len(server.requests) < 100


@pytest.mark.parametrize("form", ["seconds", "date", "date of a server with a wrong clock"])
def test_retry_after_is_honoured_by_all(form: str) -> None:
    refused_at: list[float] = []

    def answering(request: Request) -> Reply:
        if refused_at and monotonic() - refused_at[0] < 0.95:
            too_early.append(request)
        if request.number == 0:
            refused_at.append(monotonic())
            now = datetime.now(UTC) - timedelta(days=400 if "wrong" in form else 0)
            later = format_datetime(now + timedelta(seconds=2), usegmt=True)
            headers = {"retry-after": "1" if form == "seconds" else later}
            return error(
                429, "slow down", headers | ({"date": format_datetime(now, usegmt=True)} if "wrong" in form else {})
            )
        return completion(GOOD)

    too_early: list[Request] = []
    with Server(answering) as server:
        tally = Judge(settings_for(server, start_concurrency=1)).ask(ask_about(5))
    assert (tally.refused, tally.calls, tally.failed) == (1, 5, 0)
    assert not too_early


def test_endless_refusals_end() -> None:
    with Server(lambda _: error(429, "no", {"retry-after": "0.01"})) as server:
        found = outcome(server, retries=2)
    assert isinstance(found, Failure)
    assert found.reason == "HTTP 429 (too many requests), 4 tries"


def test_a_refusal_is_recorded_and_not_asked_again() -> None:
    reply = completion(None, message={"refusal": "I cannot help with that."})
    with Server(lambda _: reply) as server:
        found = outcome(server)
    assert found == Failure("the judge refused: I cannot help with that.", "I cannot help with that.")
    assert len(server.requests) == 1


def test_a_cut_off_answer_is_asked_for_again() -> None:
    cut = completion(GOOD[:15], choice={"finish_reason": "length"})
    with Server(lambda request: cut if request.number == 0 else completion(GOOD)) as server:
        found = outcome(server)
    assert isinstance(found, Verdict)
    assert found.repaired
    assert "cut off after 20 tokens" in server.requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize("text", [None, "", "I would say four."])
def test_one_repair_and_no_more(text: str | None) -> None:
    with Server(lambda _: completion(text)) as server:
        found = outcome(server)
    assert isinstance(found, Failure)
    assert found.reason.startswith("unreadable, also when asked again")
    assert found.raw == (text or "")
    assert len(server.requests) == 2


def test_confidence_is_the_geometric_mean_of_the_tokens() -> None:
    # (0.5 * 0.125) ** (1 / 2) = 0.25
    tokens = [{"token": "a", "logprob": -0.6931471805599453}, {"token": "b", "logprob": -2.0794415416798357}]
    with Server(lambda _: completion(GOOD, choice={"logprobs": {"content": tokens}})) as server:
        found = outcome(server, logprobs=True)
    assert isinstance(found, Verdict)
    assert found.confidence == pytest.approx(0.25, abs=1e-6)


def test_half_characters_in_what_is_judged() -> None:
    from tests.judge.questions import make_question

    question = make_question(None, user="half \ud83d a character", response="yes")
    with Server(always_good) as server:
        judge = Judge(settings_for(server))
        judge.ask([question])
        assert judge.judgement(question).verdicts
    assert "\\ud83d" in json.dumps(server.requests[0].body["messages"])
