"""Putting many questions: repeats, limits, estimates, progress."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judge.asked import GOOD, always_good, ask_about, settings_for
from tests.judge.questions import answer
from tests.judge.server import Reply, Request, Server, completion, error
from turnwise.judge import client
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Question, Verdict
from turnwise.judge.tally import guess_tokens
from turnwise.kernel.errors import UsageError


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_BACKOFF_S", 0.01)


def test_many_questions_each_with_its_answer() -> None:
    """The answer repeats what the question is about, so that a mix-up would show."""

    def answering(request: Request) -> Reply:
        number = request.body["messages"][1]["content"].partition("A table for ")[2].partition(",")[0]
        return Reply(body=completion(answer(1 + int(number) % 5, f"about {number}")).body, delay_s=0.01)

    questions = ask_about(300)
    with Server(answering) as server:
        judge = Judge(settings_for(server))
        tally = judge.ask(questions)
    assert (tally.calls, tally.failed, len(server.requests)) == (300, 0, 300)
    for k, question in enumerate(questions):
        (found,) = judge.judgement(question).verdicts
        assert (found.reasoning, found.scores["overall"]) == (f"about {k}", 1 + k % 5)
    assert 4 < server.most <= 64


def test_repeats_are_separate_requests_with_their_own_seeds() -> None:
    with Server(lambda request: completion(answer(1 + request.body["seed"]))) as server:
        judge = Judge(settings_for(server), repeats=3)
        tally = judge.ask(ask_about(2))
    assert tally.calls == 6
    judgement = judge.judgement(ask_about(1)[0])
    assert [one.scores["overall"] for one in judgement.verdicts] == [1.0, 2.0, 3.0]
    assert judgement.model == "judge-1"


def test_the_same_question_about_two_units_is_asked_once() -> None:
    (question,) = ask_about(1)
    twin = question._replace(unit=type(question.unit)("d2/1", "d2", kind="exchange"))
    slow = Reply(body=completion(GOOD).body, delay_s=0.2)
    with Server(lambda _: slow) as server:
        judge = Judge(settings_for(server))
        judge.ask([question, twin, question])
    assert len(server.requests) == 1
    assert judge.judgement(twin).verdicts


def test_questions_are_taken_as_there_is_room_for_them() -> None:
    taken = 0
    ahead: list[int] = []

    def questions() -> Iterator[Question]:
        nonlocal taken
        for question in ask_about(200):
            taken += 1
            yield question

    def answering(request: Request) -> Reply:
        ahead.append(taken - sum(server.answered.values()))
        return Reply(body=completion(GOOD).body, delay_s=0.005)

    with Server(answering) as server:
        Judge(settings_for(server, highest_concurrency=8)).ask(questions())
    assert taken == 200
    assert max(ahead) <= 8 + 3


def test_some_fail_and_the_others_do_not() -> None:
    """Of twelve: one refused by the server, one unreadable, one without an end; the run goes on."""
    replies = {0: error(400, "no"), 1: completion("what?"), 2: error(500, "ouch")}

    def answering(request: Request) -> Reply:
        kind = next((k for k in replies if f"table for {k}," in request.prompt), None)
        return completion(GOOD) if kind is None else replies[kind]

    with Server(answering) as server:
        judge = Judge(settings_for(server, retries=1))
        tally = judge.ask(ask_about(12))
    found = [judge.judgement(question).answers[0] for question in ask_about(12)]
    assert [isinstance(one, Failure) for one in found] == [True] * 3 + [False] * 9
    assert [one.reason.partition(":")[0] for one in found[:3] if isinstance(one, Failure)] == [
        "HTTP 400",
        "unreadable, also when asked again",
        "HTTP 500",
    ]
    # 9 good answers and 2 unreadable ones; one try repeated, for the 500
    assert (tally.calls, tally.failed, tally.retried, tally.repaired) == (11, 3, 1, 0)


def test_failures_are_asked_again_the_next_time() -> None:
    broken = True
    with Server(lambda _: error(500, "ouch") if broken else completion(GOOD)) as server:
        judge = Judge(settings_for(server, retries=0))
        judge.ask(ask_about(2))
        assert len(judge.judgement(ask_about(1)[0]).failures) == 1
        broken = False
        judge.ask(ask_about(2))
    assert all(judge.judgement(question).verdicts for question in ask_about(2))


def test_inside_an_event_loop() -> None:
    """As in a notebook."""

    async def cell() -> int:
        return judge.ask(ask_about(3)).calls

    with Server(always_good) as server:
        judge = Judge(settings_for(server))
        assert asyncio.run(cell()) == 3


def test_in_another_thread() -> None:
    with Server(always_good) as server:
        judge = Judge(settings_for(server))
        thread = threading.Thread(target=judge.ask, args=(ask_about(3),))
        thread.start()
        thread.join(60)
    assert judge.tally.calls == 3


def test_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    with Server(always_good) as server:
        judge = Judge(settings_for(server), repeats=2)
        judge.ask(ask_about(5), lambda *now: seen.append(now))
        assert [done for done, _, _ in seen] == list(range(1, 11))
        assert {total for _, total, _ in seen} == {10}
        assert all(0 <= flying <= 4 + done for done, _, flying in seen)
        judge.ask(iter(ask_about(6)), lambda *now: seen.append(now))
    assert seen[-1] == (12, 0, 0)


def test_what_is_not_asked_yet() -> None:
    judge = Judge(settings_for("http://127.0.0.1:9"))
    (found,) = judge.judgement(ask_about(1)[0]).answers
    assert isinstance(found, Failure)
    assert found.reason.startswith("not on record: judge-1, key ")


# Limits

PRICED = {"price_in": 10.0, "price_out": 50.0, "max_tokens": 100}
# The server counts 100 tokens in and 20 out: 100 * 10 + 20 * 50 = 2,000 millionths, 0.002 a call.


def test_max_calls() -> None:
    with Server(always_good) as server:
        judge = Judge(settings_for(server), max_calls=7)
        tally = judge.ask(ask_about(20))
    assert (len(server.requests), tally.calls, tally.limited, tally.failed) == (7, 7, 13, 0)
    found = [judge.judgement(question).answers[0] for question in ask_about(20)]
    assert sum(isinstance(one, Verdict) for one in found) == 7
    assert found.count(Failure("--max-calls 7 was reached", limited=True)) == 13


def test_repairs_are_calls_too() -> None:
    with Server(lambda _: completion("what?")) as server:
        judge = Judge(settings_for(server, start_concurrency=1, highest_concurrency=1), max_calls=3)
        judge.ask(ask_about(4))
    assert len(server.requests) == 3


def test_max_calls_zero_asks_nobody() -> None:
    with Server(always_good) as server:
        tally = Judge(settings_for(server), max_calls=0).ask(ask_about(3))
    assert not server.requests
    assert tally.limited == 3


def test_max_cost_is_never_exceeded_and_well_used() -> None:
    with Server(lambda _: Reply(body=completion(GOOD).body, delay_s=0.01)) as server:
        judge = Judge(settings_for(server, **PRICED), max_cost=0.1)
        tally = judge.ask(ask_about(200))
    # 0.1 / 0.002 = 50 calls at most; the last ones do not fit while they are counted at 100 tokens out.
    assert tally.cost == pytest.approx(0.002 * tally.calls)
    assert tally.cost <= 0.1
    assert 44 <= tally.calls <= 50
    assert tally.limited == 200 - tally.calls
    (last,) = judge.judgement(ask_about(200)[-1]).answers
    assert last == Failure("--max-cost 0.1 was reached", limited=True)


def test_a_server_that_counts_more_than_was_guessed() -> None:
    """Guesses follow what the server counts, so that the limit still holds."""
    many = completion(GOOD, usage={"prompt_tokens": 5000, "completion_tokens": 100})
    # 5,000 * 10 + 100 * 50 = 55,000 millionths: 0.055 a call
    with Server(lambda _: many) as server:
        judge = Judge(settings_for(server, **PRICED, start_concurrency=1, highest_concurrency=1), max_cost=0.3)
        tally = judge.ask(ask_about(20))
    assert tally.calls == 5
    assert tally.cost == pytest.approx(0.275)


def test_max_cost_needs_prices() -> None:
    with pytest.raises(UsageError, match="not known what the judge costs"):
        Judge(settings_for("http://h"), max_cost=1.0)


def test_a_server_that_counts_nothing() -> None:
    with Server(lambda _: completion(GOOD, usage=None)) as server:
        judge = Judge(settings_for(server, **PRICED))
        tally = judge.ask(ask_about(2))
    assert tally.unmetered == 2
    sent = [text for request in server.requests for text in request.body["messages"]]
    assert tally.prompt_tokens == sum(guess_tokens(text["content"]) + 4 for text in sent)
    assert tally.completion_tokens == 2 * guess_tokens(GOOD)


def test_tokens_are_guessed_by_length() -> None:
    # 19 ASCII characters, four to a token: 5; four characters of another script, one each: 4
    assert guess_tokens("Two tables, please.") == 5
    assert guess_tokens("两张桌子") == 4
    assert guess_tokens("") == 0


def test_an_estimate_asks_nobody(tmp_path: Path) -> None:
    with Server(always_good) as server:
        Judge(settings_for(server), cassette=tmp_path).ask(ask_about(2))
        judge = Judge(
            settings_for(
                server,
                **PRICED,
            ),
            cassette=tmp_path,
        )
        found = judge.estimate([*ask_about(5), *ask_about(5)])
    assert len(server.requests) == 2
    # max_tokens differs from the recording's, so nothing of it counts as answered
    assert (found.calls, found.on_record, found.completion_tokens) == (5, 0, 500)
    assert found.cost == pytest.approx((found.prompt_tokens * 10 + 500 * 50) / 1e6)
    again = Judge(settings_for("http://h"), cassette=tmp_path, repeats=2).estimate(ask_about(5))
    assert (again.calls, again.on_record, again.cost) == (8, 2, None)


def test_the_tally_in_a_sentence() -> None:
    with Server(always_good) as server:
        judge = Judge(settings_for(server, **PRICED), max_calls=2)
        judge.ask(ask_about(3))
    # (200 * 10 + 40 * 50) / 1e6 = 0.004: little, but not nothing.
    assert judge.tally.sentence("judge-1") == (
        "judge judge-1: 2 calls, 200 tokens in and 40 out, cost 0.004, 1 not asked (limit reached)"
    )


def test_wrong_usage(tmp_path: Path) -> None:
    settings = settings_for("http://h")
    with pytest.raises(UsageError, match="one of the two"):
        Judge(settings, cassette=tmp_path, replay=tmp_path)
    with pytest.raises(UsageError, match="at least once"):
        Judge(settings, repeats=0)
    with pytest.raises(UsageError, match="no judge to ask"):
        Judge(None)
