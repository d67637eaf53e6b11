"""What a judge is told: the same every time, whole or visibly cut, with a schema that the parser agrees with."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.questions import answer, make_question, make_rubric
from turnwise.judge.parse import parse_answer
from turnwise.judge.prompt import (
    MOST_CHARACTERS,
    PROMPT_VERSION,
    answer_schema,
    left_out,
    messages,
    repair_messages,
    system_text,
)
from turnwise.judge.records import Question, Rubric, Verdict
from turnwise.judge.rubric import packaged_rubric, packaged_rubrics
from turnwise.judge.rubric_fields import PIECES
from turnwise.kernel.score import Unit
from turnwise.kernel.signature import digest

PACKAGED = [rubric for room in PIECES for rubric in packaged_rubrics(room)]
QUALITY = packaged_rubric("dialogue", "response_quality")


def question_of(rubric: Rubric, text: str = "something") -> Question:
    return Question(rubric, Unit("u", "u", kind=rubric.unit), dict.fromkeys((*rubric.needs, *rubric.sees), text))


def test_the_wording_has_a_version() -> None:
    """Other words are another measurement: raise PROMPT_VERSION, then put the new digest here."""
    right = {"reasoning": "Curt.", "policy": None, "overall": 2, "spans": []}
    spans = {"asks": "Point out.", "of": "response", "kinds": {"k": "kind"}, "severities": {"s": "severity"}}
    rubric = make_rubric(
        guidance="Be fair.",
        sees=["policy"],
        scores={
            "policy": {"asks": "Kept?", "labels": {"kept": "yes", "broken": "no"}, "optional": True},
            "overall": {"asks": "All in all?", "scale": {"low": 1, "high": 5, "anchors": {1: "bad", 5: "good"}}},
        },
        spans=spans,
        examples=[{"shown": {"user": "?", "response": "No."}, "answer": right}],
    )
    question = make_question(rubric, user="x" * 30, response=" ")
    asked = repair_messages(question, "Well.", "there is no JSON object in the answer", 20)
    told = [asked, answer_schema(rubric), PIECES]
    assert (PROMPT_VERSION, digest(told)) == (1, "b5e836369c85")


@pytest.mark.parametrize("rubric", PACKAGED, ids=lambda rubric: rubric.name)
def test_everything_in_a_rubric_is_said(rubric: Rubric) -> None:
    system, user = messages(question_of(rubric))
    said = system["content"]
    assert rubric.question in said
    assert rubric.guidance in said
    for dimension in rubric.dimensions:
        anchors = dimension.scale.anchors if dimension.scale else dimension.labels
        assert dimension.asks in said
        assert all(f"    {name}: {text}" in said for name, text in anchors.items())
    for piece in (*rubric.needs, *rubric.sees):
        assert f"- {piece}: {PIECES[rubric.room][piece]}" in said
        assert f"BEGIN {piece} " in user["content"]


def test_reasoning_comes_first_and_spans_before_scores() -> None:
    adequacy = packaged_rubric("translation", "adequacy")
    assert list(answer_schema(adequacy)["properties"]) == ["reasoning", "spans", "adequacy"]
    form = system_text(adequacy).split("# Answer")[1]
    assert form.index('"reasoning"') < form.index('"spans"') < form.index('"adequacy"')


def test_the_same_question_gives_the_same_messages() -> None:
    first, second = messages(question_of(QUALITY)), messages(question_of(QUALITY))
    assert first == second
    other = messages(question_of(QUALITY, "something else"))
    assert other[0] == first[0]
    assert other[1] != first[1]


def test_pieces_stand_in_the_order_in_which_they_are_given() -> None:
    text = messages(make_question(user="first words", response="second words"))[1]["content"]
    assert text.index("first words") < text.index("second words")


def test_an_empty_piece_is_said_to_be_empty() -> None:
    assert "(response is empty)" in messages(make_question(user="Hello?", response=" \n"))[1]["content"]


def test_a_long_piece_loses_its_middle_visibly() -> None:
    text = "a" * 30 + "b" * 40 + "c" * 30
    question = make_question(user="?", response=text)
    content = messages(question, limit=61)[1]["content"]
    mark = content.split()[3].rstrip(".")
    # 61 of 100 are shown: 31 from the beginning, 30 from the end
    assert f"\n{'a' * 30}b\n{mark} [... 39 characters left out ...]\n{'c' * 30}\nEND response {mark}" in content
    assert left_out(question, limit=61) == {"response": 39}
    assert left_out(question) == {}


def test_a_piece_at_the_limit_is_whole() -> None:
    text = "word " * (MOST_CHARACTERS // 5)
    assert text in messages(make_question(user="?", response=text))[1]["content"]
    longer = make_question(user="?", response=text + "!")
    assert left_out(longer) == {"response": 1}
    assert "[... 1 characters left out ...]" in messages(longer)[1]["content"]


def test_an_unreadable_answer_is_shown_again_with_what_is_wrong() -> None:
    question = make_question()
    told = repair_messages(question, "x" * 9_000, "overall is 7, expected a whole number from 1 to 5")
    assert told[:2] == messages(question)
    assert "[... 1000 characters left out ...]" in told[2]["content"]
    assert "overall is 7, expected a whole number from 1 to 5" in told[3]["content"]
    assert repair_messages(question, "", "the answer is empty")[2]["content"] == "(nothing)"


# The schema


@pytest.mark.parametrize("rubric", PACKAGED, ids=lambda rubric: rubric.name)
def test_schemas_are_schemas_and_strict(rubric: Rubric) -> None:
    schema = answer_schema(rubric)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["required"][0] == "reasoning"


def _values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of([_values(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        return st.lists(_values(schema["items"]), max_size=3)
    if schema["type"] == "object":
        return st.fixed_dictionaries({name: _values(one) for name, one in schema["properties"].items()})
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "string": st.text(min_size=1).filter(str.strip),
        "integer": st.integers(int(schema.get("minimum", 0)), int(schema.get("maximum", 0))),
        "number": st.floats(schema.get("minimum", 0), schema.get("maximum", 0)),
    }
    return kinds[schema["type"]]


@given(st.sampled_from(PACKAGED), st.data())
def test_whatever_fits_the_schema_is_read_as_it_stands(rubric: Rubric, data: st.DataObject) -> None:
    stated = data.draw(_values(answer_schema(rubric)))
    jsonschema.validate(stated, answer_schema(rubric))
    verdict = parse_answer(question_of(rubric), json.dumps(stated))
    assert isinstance(verdict, Verdict)
    assert verdict.scores == {one.name: stated[one.name] for one in rubric.dimensions}


@pytest.mark.parametrize("value", [0, 6, 4.5, True, "good", None])
def test_what_does_not_fit_the_schema_is_not_read(value: Any) -> None:
    rubric = make_rubric()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(answer(value)), answer_schema(rubric))
    assert not isinstance(parse_answer(make_question(rubric), answer(value)), Verdict)
