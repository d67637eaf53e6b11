"""A judge for the contract of judged metrics: it says what a room lets it say, twice, and always at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from turnwise.judge.metric import JudgedMetric
from turnwise.judge.records import Judgement, Question, Verdict, question_key

MODEL = "stand-in"
REPEATS = 2
CONTEXT = {"judge": MODEL, "judge_repeats": str(REPEATS), "judge_temperature": "0"}


def answered(batch: Any, metrics: Iterable[type[JudgedMetric]], opinion: Callable[[Question], float]) -> Any:
    """The batch with the judge's answers to the questions of some metrics; every dimension gets the same number."""
    judged = {}
    for metric in metrics:
        for _, asked in metric().asked(batch):
            if isinstance(asked, Question):
                number = opinion(asked)
                verdict = Verdict({one.name: number for one in asked.rubric.dimensions}, "as the stand-in sees it")
                judged[question_key(asked)] = Judgement((verdict,) * REPEATS, MODEL)
    batch.judged = judged
    return batch
