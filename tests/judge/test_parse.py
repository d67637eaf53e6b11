"""Answers as judges give them: what is read, and what is refused with a reason."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.judge.questions import answer, make_question, make_rubric
from turnwise.judge import parse
from turnwise.judge.parse import Unreadable, parse_answer
from turnwise.judge.records import Rubric, Verdict

LABELS = make_rubric(
    scores={"act": {"asks": "Which?", "labels": {"C_RESPOND": "answered", "C_RESUME": "went on", "no": "neither"}}}
)
OPTIONAL = make_rubric(
    scores={"policy": {"asks": "Kept?", "optional": True, "scale": {"low": 1, "high": 5}}, "overall": "All in all?"},
    scale={"low": 1, "high": 5},
)
PERCENT = make_rubric(scores={"overall": {"asks": "How much?", "scale": {"low": 0, "high": 100}}})
PARTS = make_rubric(scores={"overall": {"asks": "How much?", "scale": {"low": 0, "high": 1, "whole": False}}})
SPANS = make_rubric(
    spans={
        "asks": "Point out errors.",
        "of": "response",
        "kinds": {"wrong": "not so", "cold": "unfriendly"},
        "severities": {"minor": "slight", "major": "grave"},
    }
)


def read(text: str, rubric: Rubric | None = None) -> Verdict:
    verdict = parse_answer(make_question(rubric), text)
    assert isinstance(verdict, Verdict), verdict
    return verdict


def refused(text: str, rubric: Rubric | None = None) -> str:
    found = parse_answer(make_question(rubric), text)
    assert isinstance(found, Unreadable), found
    return found.problem


# Forms


@pytest.mark.parametrize(
    "text",
    [
        answer(4, "Right."),
        f"\ufeff  {answer(4, 'Right.')}\n",
        f"```json\n{answer(4, 'Right.')}\n```",
        f"```\n{answer(4, 'Right.')}\n```\n",
        f"~~~JSON\r\n{answer(4, 'Right.')}\r\n~~~",
        f"Here is my verdict:\n\n```json\n{answer(4, 'Right.')}\n```\nI hope that this helps {{as you asked}}!",
        f"Sure! {answer(4, 'Right.')} Let me know if you need more.",
        f"First {{see above}} and {{}} and {{'a': 1}}, then {answer(4, 'Right.')}",
        f'<think>The rubric says 1 to 5. Perhaps {{"overall": 3}}? No.</think>\n{answer(4, "Right.")}',
        f"The rubric says 1 to 5.\n</think>\n```json\n{answer(4, 'Right.')}\n```",
        f"<think>\n</think>\nMy answer: {answer(4, 'Right.')}",
        f"{answer(4, 'Right.')}\n{answer(4, 'Right.')}",
        f'{{"draft": true}} {answer(4, "Right.")}',
        f"[{answer(4, 'Right.')}]",
        '{"reasoning": "Right.", "overall": 4, "confidence": "high", "extra": {"overall": 1}}',
        '{"overall": 4, "reasoning": "Right."}',
        '{\n  "reasoning": "Right.\n",\n  "overall": 4\n}',
    ],
)
def test_forms_that_are_read(text: str) -> None:
    assert read(text) == Verdict({"overall": 4.0}, "Right.")


def test_the_last_of_several_verdicts_that_say_the_same_is_taken() -> None:
    assert read(f"Draft: {answer(4, 'Hm.')} Final: {answer(4, 'Right.')}").reasoning == "Right."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the answer is empty"),
        (" \n\t", "the answer is empty"),
        ("I cannot help with that.", parse.NO_OBJECT),
        ("4", parse.NO_OBJECT),
        ("<think>I wonder {", parse.ONLY_THINKING),
        (f"<think>{answer(4)}", parse.ONLY_THINKING),
        ('{"reasoning": "It is', parse.BREAKS_OFF),
        ('{"reasoning": "Right.", "overall": 4', parse.BREAKS_OFF),
        (f"{answer(5)} or rather {answer(4)}", parse.TWO_VERDICTS),
        (f"{answer(4)} or rather {answer(7)}", "overall is 7, expected a whole number from 1 to 5"),
        (f'{{"verdict": {answer(4)}}}', "reasoning, overall are missing"),
        (json.dumps(answer(4)), parse.NO_OBJECT),
        ('{"overall": 4}', "reasoning is missing"),
        ('{"reasoning": "Right."}', "overall is missing"),
        ('It is {"reasoning": "Right."}.', "overall is missing"),
        ('{"reasoning": null, "overall": 4}', "reasoning is not text"),
        ('{"reasoning": ["Right."], "overall": 4}', "reasoning is not text"),
        ('{"reasoning": "Right.", "overall": 4, "overall": 5}', "'overall' is given twice"),
        ('{"reasoning": "Right.", "overall": 4, "x": {"a": 1, "a": 2}}', "'a' is given twice"),
        ('So: {"reasoning": "Right.", "overall": 4, "overall": 5}', "'overall' is given twice"),
        (answer(4) * 51, parse.TOO_MANY_VERDICTS),
        ("{'reasoning': 'Right.', 'overall': 4}", parse.NO_OBJECT),
        ('{"reasoning": "Right.", "overall": 4,}', parse.NO_OBJECT),
    ],
)
def test_forms_that_are_refused(text: str, problem: str) -> None:
    assert refused(text) == problem


# Numbers


@pytest.mark.parametrize("value", [4, 4.0, "4", " 4 ", "4.0", "+4", "4/5", "4 / 5", "4 out of 5", "4.0/5.0"])
def test_numbers_that_are_read(value: Any) -> None:
    score = read(answer(value)).scores["overall"]
    assert score == 4.0
    assert isinstance(score, float)


@pytest.mark.parametrize(
    "value",
    [
        *(0, 6, -4, 4.5, True, False, None, [], [4], {}, {"score": 4}, 10**400),
        *(
            "",
            "four",
            "4.5",
            "4,0",
            "6",
            "4/10",
            "8/10",
            "4%",
            "80%",
            "4 or 5",
            "4-5",
            "0x4",
            "4e0",
            "٤",
            "n/a",
            "null",
        ),
        *("4" * 400, "4/", "/5", "5/4/5", "4.", ".4", "--4"),
    ],
)
def test_numbers_that_are_refused(value: Any) -> None:
    assert "overall" in refused(answer(value))


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999", "4" * 5000, "-" + "9" * 400])
def test_what_is_no_finite_number_is_refused(written: str) -> None:
    assert "overall" in refused(f'{{"reasoning": "Right.", "overall": {written}}}')


@pytest.mark.parametrize(("value", "score"), [("80%", 80.0), ("80/100", 80.0), (0, 0.0), ("0", 0.0), (100, 100.0)])
def test_a_scale_to_a_hundred(value: Any, score: float) -> None:
    assert read(answer(value), PERCENT).scores == {"overall": score}


def test_there_is_no_zero_below_zero() -> None:
    assert str(read('{"reasoning": "", "overall": -0}', PERCENT).scores["overall"]) == "0.0"
    assert str(read('{"reasoning": "", "overall": -0.0}', PERCENT).scores["overall"]) == "0.0"


@pytest.mark.parametrize(("value", "score"), [(0.25, 0.25), ("0.25", 0.25), (1, 1.0), ("0.5/1", 0.5)])
def test_a_scale_of_parts(value: Any, score: float) -> None:
    assert read(answer(value), PARTS).scores == {"overall": score}


@pytest.mark.parametrize("value", [1.0000001, -0.1, "25%", "1/4"])
def test_parts_off_the_scale(value: Any) -> None:
    assert "overall" in refused(answer(value), PARTS)


# Labels, optional scores


@pytest.mark.parametrize(
    ("value", "label"),
    [("C_RESUME", "C_RESUME"), ("c_resume", "C_RESUME"), (" C_Respond\n", "C_RESPOND"), ("No", "no")],
)
def test_labels_that_are_read(value: str, label: str) -> None:
    assert read(json.dumps({"reasoning": "", "act": value}), LABELS).scores == {"act": label}


@pytest.mark.parametrize("value", ["RESUME", "C RESUME", "C_RESPOND or C_RESUME", "", None, False, 1, ["no"], "n/a"])
def test_labels_that_are_refused(value: Any) -> None:
    assert refused(json.dumps({"reasoning": "", "act": value}), LABELS).startswith("act ")


def test_truth_values_and_numbers_can_be_labels() -> None:
    rubric = make_rubric(scores={"kept": {"asks": "Kept?", "labels": {"true": "yes", "false": "no", "2": "twice"}}})
    for value, label in ((True, "true"), (False, "false"), ("TRUE", "true"), (2, "2")):
        assert read(json.dumps({"reasoning": "", "kept": value}), rubric).scores == {"kept": label}


@pytest.mark.parametrize("value", [None, "null", "N/A", "not applicable"])
def test_what_does_not_apply_has_no_number(value: Any) -> None:
    assert read(answer(4, policy=value), OPTIONAL).scores == {"policy": None, "overall": 4.0}


def test_an_optional_score_has_to_be_mentioned() -> None:
    assert refused(answer(4), OPTIONAL) == "policy is missing"


# Spans


def test_spans_are_quoted_from_their_piece() -> None:
    spans = [
        {"text": "one   at\neight", "kind": "Wrong", "severity": "MAJOR", "note": "x"},
        {"text": "one at nine", "kind": "cold", "severity": "minor"},
    ]
    assert read(answer(2, "Hm.", spans=spans), SPANS).spans == (
        {"text": "one   at\neight", "kind": "wrong", "severity": "major", "found": "yes"},
        {"text": "one at nine", "kind": "cold", "severity": "minor", "found": "no"},
    )


def test_a_span_is_found_in_whichever_unicode_form() -> None:
    question = make_question(SPANS, user="?", response="Das Cafe\u0301 ist zu.")
    verdict = parse_answer(question, answer(2, spans=[{"text": "Caf\u00e9", "kind": "wrong", "severity": "minor"}]))
    assert isinstance(verdict, Verdict)
    assert verdict.spans[0]["found"] == "yes"


@pytest.mark.parametrize(
    "spans",
    [
        *(None, {}, "none", ["eight"], [{}], [{"text": "eight", "kind": "wrong"}]),
        [{"text": "", "kind": "wrong", "severity": "minor"}],
        [{"text": 8, "kind": "wrong", "severity": "minor"}],
        [{"text": "eight", "kind": "rude", "severity": "minor"}],
        [{"text": "eight", "kind": "wrong", "severity": "worst"}],
    ],
)
def test_spans_that_are_refused(spans: Any) -> None:
    assert refused(answer(2, spans=spans), SPANS).startswith("spans")


def test_spans_have_to_be_mentioned() -> None:
    assert refused(answer(2), SPANS) == "spans is missing"
    assert read(answer(2, spans=[]), SPANS).spans == ()


def test_half_a_character_is_kept_as_text_that_a_database_can_hold() -> None:
    assert read('{"reasoning": "\\ud800 \\u0000", "overall": 4}').reasoning == "\\ud800 \\x00"


# Hostile lengths

MILLION = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "{" * MILLION,
        '{"' * (MILLION // 2),
        '{"a":' * (MILLION // 5),
        '{"a":[' * (MILLION // 6),
        "}" * MILLION,
        '{"a":{"b":' * 400 + "[" + "1," * (MILLION // 2) + "x",
        '{"\\"' * (MILLION // 4),
        '{"reasoning": "' + "\\" * MILLION,
        "<think>" * (MILLION // 7),
        "```json\n" * (MILLION // 8),
        '{"a": 1} ' * (MILLION // 9),
        answer(9) * (MILLION // 70),
        "{ " + " " * MILLION + '"',
        "&#" + "9" * MILLION,
    ],
    ids=range(14),
)
def test_a_megabyte_of_anything_is_refused_in_linear_time(text: str) -> None:
    began = time.process_time()
    assert isinstance(parse_answer(make_question(), text), Unreadable)
    assert isinstance(parse_answer(make_question(user="?", response=text), f"{answer(5)} {answer(4)}"), Unreadable)
    assert time.process_time() - began < 20.0  # about one; quadratic time would take hours


def test_a_verdict_after_a_megabyte_of_prose_is_read() -> None:
    assert read("word " * (MILLION // 5) + answer(4)).scores == {"overall": 4.0}
