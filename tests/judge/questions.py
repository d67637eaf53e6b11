"""Rubrics and questions that several tests of the judge ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turnwise.judge.records import Question, Rubric
from turnwise.judge.rubric import rubric_from
from turnwise.kernel.score import Unit

QUALITY: Mapping[str, Any] = {
    "name": "quality",
    "room": "dialogue",
    "question": "How good is the response?",
    "needs": ["user", "response"],
    "scores": {"overall": {"asks": "How good is it?", "scale": {"low": 1, "high": 5}}},
}


def make_rubric(**changes: Any) -> Rubric:
    """The rubric `QUALITY` with other fields; None takes one out."""
    content = {name: value for name, value in {**QUALITY, **changes}.items() if value is not None}
    return rubric_from(content, "quality.yaml")


def make_question(rubric: Rubric | None = None, **shown: str) -> Question:
    """A question about a unit of which the judge is shown what is named."""
    shown = shown or {"user": "A table for two, please.", "response": "We have one at eight."}
    return Question(rubric or make_rubric(), Unit("d1/1", "d1", kind="exchange"), shown)


def answer(overall: Any = 2, reasoning: str = "It does not say where the table is.", **more: Any) -> str:
    """An answer in the form that is asked for."""
    return json.dumps({"reasoning": reasoning, **more, "overall": overall})
