"""Files of ratings: every form that is read, and an error that names the line for what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.judge.rating_data import LABELS, ONE_TO_FIVE, comparable, make_rubric
from turnwise.judge.calibrate import calibrate
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

RUBRIC = make_rubric()


def given(tmp_path: Path, text: str, name: str = "human.csv", **more: Any) -> dict[str, tuple[Any, Any]]:
    """Item to people's ratings and the judge's score."""
    path = tmp_path / name
    path.write_bytes(text.encode())
    found = comparable(path, more.pop("rubric", RUBRIC), **more)
    (items,) = found.dimensions.values()
    return {item.id: (dict(item.people), item.said.score) for item in items}


EXPECTED = {"a": ({"": 5.0}, 4.0), "b": ({"": 2.0}, 2.0)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("human.csv", "id,rating,judge\na,5,4\nb,2,2\n"),
        ("human.csv", "\ufeffID, Rating ,Judge\r\na,5,4\r\n\r\nb,2,2\r\n"),
        ("human.csv", "item;score;judge\na;5;4\nb;2;2"),
        ("human.tsv", "id\thuman\tjudge\na\t5\t4\nb\t2.0\t2\n"),
        ("human.csv", 'id,overall,judge,user\na,5,4,"said, ""yes""\nand more"\nb,2,2,no\n'),
        ("human.jsonl", '{"id": "a", "rating": 5, "judge": "4"}\n\n{"id": "b", "rating": 2, "judge": 2.0}\n'),
    ],
)
def test_every_form(tmp_path: Path, name: str, text: str) -> None:
    assert given(tmp_path, text, name) == EXPECTED


def test_rows_without_ids_are_numbered(tmp_path: Path) -> None:
    assert set(given(tmp_path, "rating,judge\n5,4\n2,2\n")) == {"1", "2"}


def test_raters(tmp_path: Path) -> None:
    text = "id,rater,rating,judge\na,nurse,5,4\na,clerk,,4\nb,nurse,2,2\nb,clerk,3,\n"
    assert given(tmp_path, text) == {"a": ({"nurse": 5.0}, 4.0), "b": ({"nurse": 2.0, "clerk": 3.0}, 2.0)}


def test_the_model_of_a_column(tmp_path: Path) -> None:
    path = tmp_path / "human.csv"
    path.write_text("id,rating,judge,judge_model\na,5,4,m\nb,2,2,m\n")
    assert comparable(path, RUBRIC).model == "m"
    assert comparable(path, RUBRIC, "m").model == "m"
    with pytest.raises(InputError, match="several models"):
        comparable(path, RUBRIC, "other")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no ratings"),
        ("id,rating,judge\n", "has no ratings"),
        ("id,judge\na,4\n", "no column of people's ratings"),
        ("id,rating,human,judge\na,5,5,4\n", "several columns could be people's ratings of overall"),
        (
            "id,rating,judge\na,6,4\n",
            r"outside its scale\n  where: .*line 2, column rating\n  found: 6\n  .*from 1 to 5",
        ),
        ("id,rating,judge\na,0,4\n", "outside its scale"),
        ("id,rating,judge\na,5,4\nb,good,4\n", r"not a rating of overall\n  where: .*line 3, column rating"),
        ("id,rating,judge\na,nan,4\n", "not a rating of overall"),
        ("id,rating,judge\na,5,inf\n", r"not a rating of overall\n  where: .*column judge"),
        ("id,rating,judge\na,5,9\n", r"outside its scale\n  where: .*column judge"),
        ("id,rating,judge\na,5,4\na,4,4\n", r"'a' is rated twice\n  where: .*lines 2 and 3"),
        ("id,rater,rating,judge\na,nurse,5,4\na,nurse,5,4\n", "'a' is rated twice by 'nurse'"),
        ("id,rater,rating,judge\na,nurse,5,4\na,clerk,5,3\n", "two different values in the column judge"),
        ("rater,rating,judge\nnurse,5,4\n", "says who rated, but not what"),
        ("id,rating,judge\n,5,4\n", "a row without id"),
        ("id,rater,rating,judge\na,,5,4\n", "a row without rater"),
        ("id,rating,rating,judge\na,5,5,4\n", "two columns called rating"),
        ("id,rating,judge\na,5\n", r"does not fit its header\n  where: line 2\n  found: 2 cells"),
        ("id,rating,judge\na,5,4,fine\n", "does not fit its header"),
        ('id,rating,judge\na,5,"4\n', "is not CSV"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        given(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]\n", "a line is no object"),
        ('{"id": "a"\n', r"is not JSON lines\n  where: line 1"),
        ('{"id": "a", "rating": true, "judge": 1}\n', "not a rating of overall"),
        ('{"id": "a", "rating": [3], "judge": 1}\n', "not a rating of overall"),
    ],
)
def test_wrong_json_lines(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        given(tmp_path, text, "human.jsonl")


def test_a_label_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a label of behaviour[\s\S]*did you mean yields"):
        given(tmp_path, "id,behaviour,judge\na,yield,talks\n", rubric=LABELS)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        comparable(tmp_path / "none.csv", RUBRIC)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("id,rating,judge\nä,5,4\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        comparable(latin, RUBRIC)


def test_a_dimension_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no dimension 'overal'[\s\S]*did you mean overall"):
        given(tmp_path, "id,rating,judge\na,5,4\n", dimension="overal")


def test_an_error_in_one_dimension_is_not_hidden_by_another(tmp_path: Path) -> None:
    scale = {"asks": "?", "scale": ONE_TO_FIVE}
    path = tmp_path / "human.csv"
    path.write_text("id,overall,clarity,judge,judge_clarity\na,5,7,4,4\nb,4,3,4,4\n")
    with pytest.raises(TurnwiseError, match="clarity outside its scale"):
        calibrate(comparable(path, make_rubric(clarity=scale, overall=scale)))
