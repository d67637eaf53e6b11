"""Logs of simultaneous translation: what cannot be right is refused, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interpreting.log_lines import PLAIN, SPOKEN, refused, without
from turnwise.interpreting.instances import read_instances
from turnwise.kernel.errors import InputError


def test_a_line_that_is_not_json(tmp_path: Path) -> None:
    error = refused(tmp_path, PLAIN, '{"index": 1, "prediction": "Wo')
    assert error.what == "the line is not JSON"
    assert error.where is not None
    assert error.where.startswith(f"{tmp_path / 'instances.log'}, line 2, column ")
    assert "cut off" in (error.remedy or "")
    assert "not UTF-8" not in error.message
    assert "is not a JSON object" in refused(tmp_path, "[1, 2]").what


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(tmp_path: Path, number: str) -> None:
    error = refused(tmp_path, json.dumps(PLAIN).replace("1500.0", number))
    assert error.remedy == "NaN and Infinity are not JSON: write a number, or leave out the line"


@pytest.mark.parametrize("name", ["delays", "prediction", "source_length"])
def test_a_field_that_is_missing(tmp_path: Path, name: str) -> None:
    error = refused(tmp_path, without(PLAIN, name))
    assert error.what == f"{name} is missing"
    assert error.where == f"{tmp_path / 'instances.log'}, line 1"
    assert "reference" in (error.found or "")  # the fields that there are


def test_no_index_and_no_source(tmp_path: Path) -> None:
    assert refused(tmp_path, without(PLAIN, "index", "source")).what == "index is missing"
    assert refused(tmp_path, {**PLAIN, "index": [1]}).what == "the index cannot be used"
    assert refused(tmp_path, {**PLAIN, "index": True}).what == "the index cannot be used"


@pytest.mark.parametrize("value", ["1500", None, True, [1500.0]])
@pytest.mark.parametrize("name", ["delays", "elapsed"])
def test_a_time_that_is_no_number(tmp_path: Path, name: str, value: object) -> None:
    error = refused(tmp_path, {**PLAIN, name: [1000.0, 1000.0, value, 2000.0, 2000.0]})
    assert error.what == f"{name} holds something that is no time"
    assert (error.where or "").endswith(f"line 1, {name}[2]")
    assert refused(tmp_path, {**PLAIN, name: "1000"}).what == f"{name} is not a list"


@pytest.mark.parametrize("length", ["2000", None, False, {}])
def test_a_length_that_is_no_number(tmp_path: Path, length: object) -> None:
    assert refused(tmp_path, {**PLAIN, "source_length": length}).what == "source_length is not a number"


@pytest.mark.parametrize("length", [0, 0.0, -5])
def test_a_source_without_a_length(tmp_path: Path, length: float) -> None:
    error = refused(tmp_path, {**PLAIN, "source_length": length})
    assert (error.what, error.found) == ("the source has no length", f"source_length: {length}")


@pytest.mark.parametrize("name", ["prediction", "reference"])
def test_a_text_that_is_none(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, {**PLAIN, name: 5}).what == f"{name} is not a text"


def test_not_as_many_delays_as_words(tmp_path: Path) -> None:
    error = refused(tmp_path, {**PLAIN, "prediction": "Wo tut es weh?"})
    assert error.what == "there are not as many delays as words"
    assert (error.found or "").startswith("5 delays, 4 words")
    assert "not as many delays" in refused(tmp_path, {**PLAIN, "delays": [], "elapsed": []}).what
    error = refused(tmp_path, {**PLAIN, "elapsed": [1100.0]})
    assert error.found == "1 in elapsed, 5 delays"


def test_delays_that_go_back_or_are_negative(tmp_path: Path) -> None:
    error = refused(tmp_path, {**PLAIN, "delays": [1000.0, 900.0, 1500.0, 2000.0, 2000.0]})
    assert (error.what, error.found) == ("the delays go back in time", "900.0 after 1000.0")
    assert (error.where or "").endswith("delays[1]")
    error = refused(tmp_path, {**PLAIN, "delays": [-1.0, 900.0, 1500.0, 2000.0, 2000.0]})
    assert (error.what, error.found) == ("a delay is negative", "-1.0")


@pytest.mark.parametrize(
    "wrong",
    [
        {"durations": [800.0]},
        {"durations": [800.0, -1.0]},
        {"durations": None, "intervals": [[960.0, 800.0]]},
    ],
)
def test_durations_that_do_not_fit(tmp_path: Path, wrong: dict[str, Any]) -> None:
    assert refused(tmp_path, {**SPOKEN, **wrong}).what == "the durations do not fit the delays"


@pytest.mark.parametrize("intervals", [[[960.0, 800.0], [1760.0]], [960.0, 1760.0], "960"])
def test_intervals_that_are_no_pairs(tmp_path: Path, intervals: object) -> None:
    row = {**without(SPOKEN, "durations"), "intervals": intervals}
    assert refused(tmp_path, row).what == "an interval is not a pair"


def test_a_log_of_text_input_counts_words_not_time(tmp_path: Path) -> None:
    """As simuleval 1.0 writes them for wait-3."""
    row = {
        "index": 0,
        "prediction": "U L U T M",
        "delays": [3, 4, 5, 5, 5],
        "elapsed": [0, 0, 0, 0, 0],
        "prediction_length": 5,
        "reference": "Z U S N B\n",
        "source": "Z U S N B",
        "source_length": 5,
    }
    error = refused(tmp_path, row)
    assert error.what == "the delays count words of a written source, not milliseconds"


def test_an_index_that_stands_twice(tmp_path: Path) -> None:
    error = refused(tmp_path, PLAIN, {**PLAIN, "index": 1}, {**PLAIN, "index": "0"})
    assert error.what == "index 0 stands twice in the log"
    assert (error.where or "").endswith("line 3")
    assert (error.found or "").endswith("line 1")


def test_no_instances(tmp_path: Path) -> None:
    assert refused(tmp_path, "").what == "there is no instance in the log"
    with pytest.raises(InputError, match="cannot be read"):
        next(read_instances(tmp_path / "nowhere.log"))
    with pytest.raises(InputError, match="cannot be read"):
        next(read_instances(tmp_path))
