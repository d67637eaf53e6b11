"""Who interrupts whom, and what there is to say where a turn of the pair is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import (
    CORRECTION,
    EXAMPLE,
    STATEMENT,
    TURNS,
    barge_in,
    correction,
    delta,
    document,
    evaluate,
    is_the_example,
    pair,
    statement,
    turn,
    write_capture,
)

BOTH = pytest.mark.parametrize("profile", ["turnwise", "spec"])


# --- who interrupts whom --------------------------------------------------------------------------------------


@BOTH
def test_the_turn_before_is_the_one_that_started_before(tmp_path: Path, profile: str) -> None:
    turns = [correction(), turn("later", 30_000, 31_000), statement()]
    found = pair(tmp_path, turns, EXAMPLE, profile=profile)
    assert found["previous_turn_id"] == STATEMENT
    assert is_the_example(found)


@BOTH
def test_another_speaker_s_turn_before_makes_it_an_interruption(tmp_path: Path, profile: str) -> None:
    question = turn("question", 8500, 9500, "doctor", expected_text="uniform victor")
    events = [
        delta(10_450, "uniform", "question"),
        delta(10_900, "alpha", STATEMENT),
        delta(11_200, "kilo", CORRECTION),
    ]
    found = pair(tmp_path, [statement(), question, correction()], events, profile=profile)
    assert (found["previous_turn_id"], found["kind"]) == ("question", "interruption")
    assert is_the_example(found)


@pytest.mark.parametrize(
    ("opening", "kind"),
    [
        ("Sorry, I was wrong. It is the right knee.", "self_correction"),
        ("No, wait, it is the right knee.", "self_correction"),
        ("My right knee hurts.", "self_correction"),
        (None, "self_correction"),
        ("Also, my right knee hurts.", "addition"),
        ("And one more thing, I have a fever.", "addition"),
        ("By the way, when does the pharmacy close?", "topic_change"),
    ],
)
def test_the_kind_of_a_speaker_s_own_barge_in(tmp_path: Path, opening: str | None, kind: str) -> None:
    turns = [statement(source_text="My left knee hurts."), correction(source_text=opening)]
    assert pair(tmp_path, turns, EXAMPLE)["kind"] == kind
    if opening:  # said by somebody else, it is an interruption, whatever it begins with
        turns[1]["participant_id"] = "doctor"
        assert pair(tmp_path, turns, EXAMPLE)["kind"] == "interruption"


# --- what is not there ----------------------------------------------------------------------------------------


@BOTH
def test_a_barge_in_that_never_began(tmp_path: Path, profile: str) -> None:
    place = write_capture(tmp_path / "visit", [statement(), correction(None, None)], EXAMPLE[:1])
    result = evaluate(place, tmp_path / "out", "barge_in", profile=profile)
    found = document(tmp_path / "out", "visit")
    assert (found["score"], found["details"]["passed"]) == (None, None)
    assert found["reason"] not in (None, "No barge-in turns found in scenario")
    (score,) = [one for one in result.scores if one.output == "value"]
    assert (score.value, score.status.value) == (None, "skipped")
    # beside one that did begin it changes nothing
    turns = [*TURNS, turn("more", None, None, barge_in=True)]
    both = barge_in(tmp_path, turns, EXAMPLE, profile=profile)
    assert both["score"] == pytest.approx(94.2)


@BOTH
def test_a_first_turn_cannot_barge_in(tmp_path: Path, profile: str, cli: Cli) -> None:  # noqa: F811
    alone = barge_in(tmp_path, [statement(barge_in=True)], EXAMPLE[:1], profile=profile)
    assert alone["score"] is None
    assert alone["reason"]
    both = barge_in(tmp_path, [statement(barge_in=True), correction()], EXAMPLE, profile=profile)
    assert both["score"] == pytest.approx(94.2)
    scored = [one["barge_in_turn_id"] for one in both["details"]["turns"] if one["score"] is not None]
    assert scored == [CORRECTION]
    file = tmp_path / "visit.yaml"
    opening = "{id: opening, type: say, text: hello, barge_in: true}"
    file.write_text(f"id: visit\nparticipants: {{patient: {{}}}}\nturns:\n  - {opening}\n")
    said = cli("scenarios", "check", file, code=2)
    assert "barge_in" in said.out + said.err


def test_a_turn_before_that_was_not_spoken_is_passed_over(tmp_path: Path) -> None:
    unspoken = turn("unspoken", None, None, expected_text="uniform")
    found = pair(tmp_path, [statement(), unspoken, correction()], EXAMPLE)
    assert found["previous_turn_id"] == STATEMENT
    assert is_the_example(found)
