"""Whatever comes in, there is a verdict on the scale or a reason: never anything else, and never an exception."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.questions import QUALITY, answer, make_question
from turnwise.judge.parse import Unreadable, parse_answer
from turnwise.judge.prompt import mark_of, messages
from turnwise.judge.records import Verdict
from turnwise.judge.rubric import rubric_from
from turnwise.judge.rubric_fields import PIECES
from turnwise.kernel.errors import TurnwiseError

FRAGMENTS = st.sampled_from(
    [
        *(
            '{"',
            '"}',
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            '"',
            "\\",
            "\\u",
            "\\ud83d",
            "\n",
            "```",
            "```json\n",
            "NaN",
            "-0",
            "1e9",
        ),
        *('"reasoning"', '"overall"', "<think>", "</think>", "&quot;", "&#", "4", "5.0", answer(5), answer(2), '"x"'),
    ]
)
TALK = st.lists(st.one_of(FRAGMENTS, st.text(st.characters(exclude_categories=()), max_size=5)), max_size=12).map(
    "".join
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY_TEXT, inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=400)
@given(TALK, TALK)
def test_any_answer_to_any_text(judged: str, text: str) -> None:
    found = parse_answer(make_question(user="?", response=judged), text)
    if isinstance(found, Verdict):
        assert found.scores["overall"] in (1.0, 2.0, 3.0, 4.0, 5.0)
    else:
        assert isinstance(found, Unreadable)
        assert found.problem


@given(TALK)
def test_any_text_lies_within_its_marks(judged: str) -> None:
    content = messages(make_question(user="?", response=judged))[1]["content"]
    mark = content.split()[3].rstrip(".")
    assert content.encode().count(mark.encode()) == 5  # named once, two pieces with a beginning and an end
    assert mark_of({"user": "?", "response": judged}) not in judged


@settings(max_examples=300)
@given(st.sampled_from([*QUALITY, "version", "sees", "scale", "primary", "direction", "spans", "examples"]), VALUES)
def test_any_value_in_any_field(field: str, value: Any) -> None:
    problem = ""
    try:
        rubric = rubric_from({**QUALITY, field: value}, "own.yaml", "dialogue")
        assert rubric.hash
        assert set(rubric.needs) <= set(PIECES["dialogue"])
    except TurnwiseError as error:
        problem = error.message
    assert not problem or "own.yaml" in problem
