"""The judge is asked about what the file holds: once per rated item, failures counted, repeats combined."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.judge.rating_data import make_rubric, values, write_csv
from turnwise.judge.calibrate import Calibration, calibrate
from turnwise.judge.calibration_input import from_judge, rated_columns
from turnwise.judge.prompt import PROMPT_VERSION
from turnwise.judge.ratings_file import read_ratings
from turnwise.judge.records import Failure, Judgement, Question, Verdict
from turnwise.kernel.errors import InputError

RUBRIC = make_rubric()


class Answers:
    """A judge whose answers, by the reply that it is shown, are known; a number, several of them, or a failure."""

    model = "m"
    repeats = 1
    parameters: ClassVar[dict[str, Any]] = {"temperature": 0.0}

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[Question] = []

    def ask(self, questions: Iterable[Question], progress: object = None) -> None:
        self.asked += questions

    def judgement(self, question: Question) -> Judgement:
        assert question in self.asked
        said = self.answers[question.shown["response"]]
        every = said if isinstance(said, list) else [said]
        return Judgement(tuple(map(_answer, every)), self.model)


def _answer(said: float | str | None) -> Verdict | Failure:
    return Failure(said) if isinstance(said, str) else Verdict({"overall": said}, f"it is a {said}")


def asked(tmp_path: Path, judge: Any, header: list[str], rows: list[tuple[Any, ...]]) -> Calibration:
    file = read_ratings(write_csv(tmp_path / "human.csv", header, rows))
    given = from_judge(file, RUBRIC, rated_columns(file.columns, RUBRIC, None), judge, "asked now")
    (found,) = calibrate(given)
    return found


def test_every_rated_item_is_asked_about_once(tmp_path: Path) -> None:
    judge = Answers(yes=5.0, no=2.0, perhaps="no JSON in the answer", well=None, so=[3.0, 4.0, 4.0])
    rows = [
        ("a", "nurse", 5, "Is it?", "yes", ""),
        ("a", "clerk", 4, "Is it?", "yes", ""),
        ("b", "nurse", 2, "Can I?", "no", "Earlier: hello"),
        ("c", "nurse", 3, "When?", "perhaps", ""),
        ("d", "nurse", 3, "Where?", "well", ""),
        ("e", "nurse", 4, "How?", "so", ""),
        ("f", "nurse", "", "Why?", "so", ""),  # nobody rated it: not asked
        ("g", "nurse", 1, "Who?", "", ""),  # nothing to ask about
    ]
    found = asked(tmp_path, judge, ["id", "rater", "rating", "user", "response", "history"], rows)
    assert [(one.unit.id, one.unit.kind) for one in judge.asked] == [(i, "exchange") for i in "abcde"]
    assert judge.asked[1].shown == {"user": "Can I?", "response": "no", "history": "Earlier: hello"}
    assert judge.asked[0].shown == {"user": "Is it?", "response": "yes"}
    assert (found.n, found.model) == (3, "m")
    # a: 5 and 4.5, b: 2 and 2, e: the median of 3, 4, 4 and 4.
    assert values(found)["bias"] == pytest.approx(0.5 / 3)
    assert found.unscored == {
        "no JSON in the answer": 1,
        "the judge says that it does not apply": 1,
        "no response": 1,
    }
    assert found.unrated == 1
    assert found.settings == {"temperature": 0.0, "repeats": 1, "prompt": PROMPT_VERSION}
    assert {one.id: one.reasoning for one in found.compared} == {
        "a": "it is a 5.0",
        "b": "it is a 2.0",
        "e": "it is a 4.0",
    }


def test_what_the_rubric_needs_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the rubric quality needs response[\s\S]*columns id, rating, user"):
        asked(tmp_path, Answers(), ["id", "rating", "user"], [("a", 5, "Is it?")])


def test_a_judge_that_fails_on_all_is_no_judge(tmp_path: Path) -> None:
    judge = Answers(yes="time-out", no="time-out")
    rows = [("a", 5, "?", "yes"), ("b", 4, "?", "no")]
    with pytest.raises(InputError, match=r"0 of 2 rated items have a score of the judge \(time-out: 2\)"):
        asked(tmp_path, judge, ["id", "rating", "user", "response"], rows)


def test_an_item_is_one_thing_for_all_raters(tmp_path: Path) -> None:
    rows = [("a", "nurse", 5, "?", "yes"), ("a", "clerk", 5, "?", "no")]
    with pytest.raises(InputError, match="'a' has two different values in the column response"):
        asked(tmp_path, Answers(), ["id", "rater", "rating", "user", "response"], rows)
