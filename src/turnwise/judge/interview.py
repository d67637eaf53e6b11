"""What is known of one question: its verdict or failure, or the request that has to be made next.

Asking and measuring both go through here: asking makes the requests until there are none left to make, measuring reads
the same record and comes to the same end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from turnwise.judge.cassette import Answer, Call
from turnwise.judge.parse import parse_answer
from turnwise.judge.prompt import answer_schema, messages, repair_messages
from turnwise.judge.records import Failure, Question, Verdict
from turnwise.judge.settings import JudgeSettings

Recorded = Callable[[str], Answer | None]
"""The answer under a key, if there is one."""


def first_call(question: Question, repeat: int, settings: JudgeSettings) -> Call:
    """The request that puts a question."""
    return Call(settings.model, messages(question), settings.parameters, answer_schema(question.rubric), repeat)


def next_step(question: Question, first: Call, recorded: Recorded) -> Verdict | Failure | Call:
    """What came of a question, or the request that is still to be made: the question itself, or its one repair."""
    answer = recorded(first.key)
    if answer is None:
        return first
    found = _read(question, answer)
    if isinstance(found, Verdict | Failure):
        return found
    repair = replace(first, messages=repair_messages(question, answer.text, found))
    again = recorded(repair.key)
    if again is None:
        return repair
    last = _read(question, again)
    if isinstance(last, Verdict):
        return last._replace(repaired=True)
    if isinstance(last, Failure):
        return last
    return Failure(f"unreadable, also when asked again: {last}", again.text)


def _read(question: Question, answer: Answer) -> Verdict | Failure | str:
    """A verdict, a failure that asking again would not mend, or what is wrong with the answer's form."""
    if answer.refusal is not None:
        return Failure(f"the judge refused: {answer.refusal}", answer.text or answer.refusal)
    if answer.finish_reason == "content_filter":
        return Failure("the server's content filter stopped the answer", answer.text)
    found = parse_answer(question, answer.text)
    if isinstance(found, Verdict):
        return found._replace(confidence=answer.confidence)
    if answer.finish_reason == "length":
        tokens = "" if answer.completion_tokens is None else f" after {answer.completion_tokens} tokens"
        return f"it was cut off{tokens}: {found.problem}"
    return found.problem
