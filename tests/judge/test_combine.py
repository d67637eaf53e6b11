"""Repeats made one: medians and majorities against the standard library, and the arithmetic of agreement."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.questions import make_rubric
from turnwise.judge.combine import combine, evidence_of
from turnwise.judge.records import Failure, Judgement, Rubric, Verdict

WHOLE = make_rubric()
LOWER = make_rubric(direction="lower")
PARTS = make_rubric(scores={"overall": {"asks": "?", "scale": {"low": 0, "high": 1, "whole": False}}})
LABELS = make_rubric(scores={"act": {"asks": "?", "labels": {"yes": "did", "no": "did not", "else": "other"}}})
BOTH = make_rubric(
    scores={
        "policy": {"asks": "?", "scale": {"low": 1, "high": 5}, "optional": True},
        "overall": {"asks": "?", "scale": {"low": 1, "high": 5}},
    }
)


def judged(*values: float | str | None, name: str = "overall") -> Judgement:
    return Judgement(tuple(Verdict({name: value}, f"reason {n}") for n, value in enumerate(values)), "judge-1")


def combined(rubric: Rubric, judgement: Judgement) -> tuple[float | str | None, float | None, tuple[str, ...]]:
    found = combine(rubric, judgement)
    assert found is not None
    return found.scores[rubric.primary], found.consistency, found.ties


@pytest.mark.parametrize(
    ("values", "value", "consistency", "spread"),
    [
        ((4.0,), 4.0, None, None),
        ((4.0, 4.0), 4.0, 1.0, 0.0),
        ((5.0, 2.0, 4.0), 4.0, 1 / 3, 3.0),
        ((5.0, 5.0, 1.0), 5.0, 2 / 3, 4.0),
        ((1.0, 1.0, 5.0, 1.0, 5.0), 1.0, 3 / 5, 4.0),
    ],
)
def test_numbers(values: tuple[float, ...], value: float, consistency: float | None, spread: float | None) -> None:
    found = combine(WHOLE, judged(*values))
    assert found is not None
    assert (found.scores, found.consistency, found.ties) == ({"overall": value}, consistency, ())
    assert found.spread == ({} if spread is None else {"overall": spread})
    assert found.repeats == len(values)


def test_of_two_in_the_middle_the_worse_is_taken_on_a_whole_scale() -> None:
    # 2 3 4 5: the two in the middle are 3 and 4
    assert combined(WHOLE, judged(5.0, 2.0, 4.0, 3.0)) == (3.0, 1 / 4, ("overall",))
    assert combined(LOWER, judged(5.0, 2.0, 4.0, 3.0)) == (4.0, 1 / 4, ("overall",))
    assert combined(WHOLE, judged(3.0, 3.0, 5.0, 1.0)) == (3.0, 2 / 4, ())


def test_between_two_in_the_middle_where_parts_are_answers() -> None:
    assert combined(PARTS, judged(0.25, 0.75)) == (0.5, 0.0, ())


@given(st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_numbers_as_the_standard_library_has_them(numbers: list[int]) -> None:
    answers = judged(*map(float, numbers))
    assert combined(WHOLE, answers)[0] == statistics.median_low(numbers)
    assert combined(LOWER, answers)[0] == statistics.median_high(numbers)
    assert (combined(WHOLE, answers)[2] == ()) == (statistics.median_low(numbers) == statistics.median_high(numbers))


@given(st.lists(st.sampled_from(["yes", "no", "else"]), min_size=1, max_size=9))
def test_labels_as_the_standard_library_has_them(labels: list[str]) -> None:
    modes = statistics.multimode(labels)
    value, _, ties = combined(LABELS, judged(*labels, name="act"))
    assert value == min(modes, key=["yes", "no", "else"].index)
    assert ties == (("act",) if len(modes) > 1 else ())


def test_order_does_not_matter() -> None:
    one, other = combine(WHOLE, judged(1.0, 4.0, 5.0, 2.0)), combine(WHOLE, judged(5.0, 2.0, 1.0, 4.0))
    assert one is not None
    assert other is not None
    assert (one.scores, one.spread, one.consistency) == (other.scores, other.spread, other.consistency)


@pytest.mark.parametrize(
    ("policy", "value", "tie"),
    [
        ((None, None, 4.0), None, False),  # two of three: it does not apply
        ((None, 2.0, 4.0), 2.0, True),  # one of three; of 2 and 4 the worse
        ((None, 4.0, 4.0), 4.0, False),
        ((None, 4.0), 4.0, True),  # one of two is not more than half
        ((None,), None, False),
    ],
)
def test_that_something_does_not_apply_takes_more_than_half(
    policy: tuple[float | None, ...], value: float | None, tie: bool
) -> None:
    verdicts = tuple(Verdict({"policy": one, "overall": 3.0}) for one in policy)
    found = combine(BOTH, Judgement(verdicts))
    assert found is not None
    assert found.scores == {"policy": value, "overall": 3.0}
    assert found.ties == (("policy",) if tie else ())


def test_failures_change_no_value_and_are_kept() -> None:
    failure = Failure("the answer is empty")
    refusal = Failure("there is no JSON object in the answer", "I would rather not. \ud800")
    good = Verdict({"overall": 4.0}, "Right.", repaired=True, confidence=0.9)
    plain = Verdict({"overall": 2.0}, "Wrong.", ({"text": "eight", "kind": "wrong", "severity": "minor"},))
    found = combine(WHOLE, Judgement((failure, good, refusal, plain, good), "judge-1"))
    assert found is not None
    assert (found.scores["overall"], found.consistency, found.repeats) == (4.0, 2 / 3, 3)
    assert found.evidence == {
        "answers": [
            {"failed": "the answer is empty"},
            {"reasoning": "Right.", "scores": {"overall": 4.0}, "repaired": True, "confidence": 0.9},
            {"failed": "there is no JSON object in the answer", "raw": "I would rather not. \\ud800"},
            {
                "reasoning": "Wrong.",
                "scores": {"overall": 2.0},
                "spans": [{"text": "eight", "kind": "wrong", "severity": "minor"}],
            },
            {"reasoning": "Right.", "scores": {"overall": 4.0}, "repaired": True, "confidence": 0.9},
        ],
        "model": "judge-1",
        "spread": {"overall": 2.0},
    }
    assert json.loads(json.dumps(found.evidence)) == found.evidence


def test_one_readable_answer_of_three_has_no_consistency() -> None:
    found = combine(WHOLE, Judgement((Failure("time-out"), Verdict({"overall": 4.0}), Failure("time-out"))))
    assert found is not None
    assert (found.scores, found.consistency, found.spread) == ({"overall": 4.0}, None, {})


def test_without_a_readable_answer_there_is_no_value() -> None:
    judgement = Judgement((Failure("time-out"), Failure("refused", "no")))
    assert combine(WHOLE, judgement) is None
    assert combine(WHOLE, Judgement(())) is None
    assert evidence_of(judgement) == {"answers": [{"failed": "time-out"}, {"failed": "refused", "raw": "no"}]}
