"""What a run is told about its judge: nothing is ignored in silence, and what can change an answer is signed."""

from typing import Any

import pytest

from turnwise.judge.options import JudgeOptions, settings_of, signed
from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.errors import UsageError


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"judge": ["tone.yaml"]}, "--judge"),
        ({"judge_cassette": "tape"}, "--judge-cassette"),
        ({"judge_repeats": 3}, "--judge-repeats"),
        ({"max_calls": 0}, "--max-calls"),
        ({"max_cost": 1.5}, "--max-cost"),
    ],
)
def test_options_for_a_judge_want_a_judge(given: dict[str, Any], name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is given, but there is no judge to ask") as error:
        settings_of(JudgeOptions(**given))
    assert "--judge-url" in str(error.value)


def test_no_options_no_judge() -> None:
    assert settings_of(JudgeOptions()) is None


def test_a_usual_judge_is_signed_with_its_name_and_temperature() -> None:
    assert signed(JudgeOptions(), JudgeSettings(model="m")) == {"judge": "m", "judge_temperature": "0"}


@pytest.mark.parametrize("other", [{"seed": 7}, {"seed": None}, {"max_tokens": 100}, {"body": {"top_p": 0.5}}])
def test_whatever_else_can_change_an_answer_is_signed(other: dict[str, Any]) -> None:
    usual, changed = (signed(JudgeOptions(), JudgeSettings(model="m", **more)) for more in ({}, other))
    assert set(changed) - set(usual) == {"judge_parameters"}
    again = signed(JudgeOptions(), JudgeSettings(model="m", **other))
    assert changed == again


def test_where_the_judge_is_and_what_it_costs_is_not_signed() -> None:
    there = JudgeSettings(model="m", url="http://127.0.0.1:1/v1", price_in=1.0, price_out=2.0, timeout_s=5)
    assert signed(JudgeOptions(), there) == signed(JudgeOptions(), JudgeSettings(model="m"))
