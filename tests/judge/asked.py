"""Questions, settings and judges for the tests of asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.judge.questions import answer, make_question, make_rubric
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Question, Verdict
from turnwise.judge.settings import JudgeSettings

RUBRIC = make_rubric()
GOOD = answer(4)


def ask_about(n: int) -> list[Question]:
    """Questions that differ."""
    return [make_question(RUBRIC, user=f"A table for {k}, please.", response="We have one at eight.") for k in range(n)]


def settings_for(server: Server | str, **changes: Any) -> JudgeSettings:
    """A judge at a server, impatient enough for a test."""
    url = server if isinstance(server, str) else server.url
    return JudgeSettings(**{"url": url, "model": MODEL, "timeout_s": 20, "retries": 2, **changes})


def outcome(server: Server | str, cassette: Path | None = None, **changes: Any) -> Verdict | Failure:
    """What comes of one question."""
    judge = Judge(settings_for(server, **changes), cassette=cassette)
    (question,) = ask_about(1)
    judge.ask([question])
    (found,) = judge.judgement(question).answers
    return found


def always_good(_: Request) -> Reply:
    return completion(GOOD)
