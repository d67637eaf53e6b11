"""A call in the terminal: everything is where its time says, it is said in words why, and nothing by colour alone."""

from __future__ import annotations

import re

import pytest

from tests.interpreting.drawn import BY_TIME, CONTENT, CORRECTION, MIXED, SILENT, STATEMENT, TEXT_ONLY, call, lines_of
from turnwise.interpreting.drawing import drawn_call
from turnwise.interpreting.lanes import draw_text

GUTTER = 9
"""Two more than the longest name has."""


# The terminal: 109 columns are 9 for the names and 100 for 10 s, so a column is 0.1 s and half of one 0.05 s


def lanes(lines: list[str]) -> list[str]:
    """What is under the labels and above the brackets, without the names."""
    names = ("patient ", "heard ", "doctor ")
    return [line[GUTTER:].ljust(100) for line in lines if line.startswith(names)]


def test_a_lane_of_speech_and_one_of_what_is_heard_for_everybody_who_spoke() -> None:
    spoken, heard, answer, silence = lanes(lines_of(call()))
    assert spoken == " " * 10 + "█1" + "█" * 18 + " " * 10 + "█2" + "█" * 18 + " " * 40
    # To 4.45 s, the middle of column 44; the barge-in at 4 s cuts it.
    assert heard == " " * 20 + "█1" + "█" * 18 + "│" + "███▌" + " " * 7 + "█2" + "█" * 26 + " " * 20
    assert answer == " " * 40 + "│" + " " * 44 + "█3" + "█" * 8 + " " * 5
    assert silence == "nothing came" + " " * 28 + "│" + " " * 59


def test_the_barge_in_is_named_and_its_brackets_span_their_times() -> None:
    lines = lines_of(call())
    assert " " * (GUTTER + 40) + "┬ barge-in, self correction: 94.2" in lines
    at = next(n for n, line in enumerate(lines) if "cutoff" in line)
    # 450 ms from column 40 are columns 40 to 44, 1200 ms columns 40 to 51.
    assert lines[at] == " " * (GUTTER + 40) + "├───┤ cutoff 450 ms"
    assert lines[at + 1] == " " * (GUTTER + 40) + "├╌╌╌╌╌╌╌╌╌╌┤ response 1200 ms"


def test_the_score_is_explained_in_words() -> None:
    said = draw_text(call(), 109)
    for line in (
        "barge-in of turn 2 (correction) at 4 s, during the translation of turn 1 (statement)",
        "  self correction, score 94.2: Excellent barge-in handling",
        "  cutoff 450 ms (as it is heard): 91.0 of 100",
        "  mixing 0% of the words: 100.0 of 100",
        "  response 1200 ms (as it is heard): 96.0 of 100",
        "1 statement, patient, 1 s",
        "  said: Mein linkes Knie tut weh.",
        "  expected: My left knee hurts.",
        "  came: My left knee hurts.",
        "3 answer, doctor, 8.5 s",
        "  came: nothing",
        "note: never spoken: goodbye",
        "note: pieces of a translation that came before anybody spoke: 2",
        "note: two events have the same number",
    ):
        assert f"\n{line}\n" in said
    assert said.startswith(
        "knee  acs, 10.0 s, barge-in 94.2, threshold 70 reached\nA patient corrects which knee it is.\n"
    )


def test_words_out_of_place_are_marked_where_they_stand() -> None:
    said = draw_text(call(MIXED), 109)
    assert "  came: No, the [Left] one [hurts]: right.\n" in said
    assert "  out of place in the translation of turn 2: left, hurts\n" in said
    assert "  mixing 50% of the words: 50.0 of 100\n" in said
    assert "  at most 29, because half of a translation or more belongs to the other turn\n" in said
    assert "barge-in, self correction: 29.0, mixed content" in said


def test_by_time_the_evidence_is_the_two_moments() -> None:
    timed = {"mixing_rule": "timing", "mixing_share": None, "mixing_detected": True}
    drawn = call({**timed, "mixing_evidence": [{"new_from_ms": 5200.0, "old_to_ms": 5310.5}]})
    said = draw_text(drawn, 109)
    assert "  mixing found: 100.0 of 100\n" in said
    assert "  the new translation begins at 5.2 s, the old one ends at 5.31 s\n" in said


def test_without_a_response_there_is_one_bracket_and_it_is_said() -> None:
    said = draw_text(call(SILENT), 109)
    assert "barge-in, self correction: 30.0, no response" in said
    assert "response 1200" not in said
    assert "  no response: 0.0 of 100\n  at most 30, because nothing of the new translation came\n" in said


def test_without_a_score_the_reason_is_there() -> None:
    said = draw_text(call(BY_TIME), 109)
    assert "barge-in, self correction: not scored\n" in said
    assert "  why: which turn it belongs to is known by time only\n" in said
    assert "cutoff" not in said
    assert "response 1200 ms" in said


def test_barge_ins_that_were_not_measured_are_still_lines() -> None:
    drawn = drawn_call("knee", CONTENT, None)
    assert " " * (GUTTER + 40) + "┬ barge-in" in lines_of(drawn)
    assert [pair.at for pair in drawn.pairs] == [4.0]


def test_a_barge_in_that_never_began_is_told_only() -> None:
    never = {
        **BY_TIME,
        "barge_in_start_ms": None,
        "previous_turn_id": None,
        "barge_in_turn_id": "goodbye",
        "kind": None,
    }
    said = draw_text(call({**never, "response_time_ms": None, "signal": None, "reason": "the call ended before"}), 109)
    assert "barge-in of goodbye never began\n  not scored\n  why: the call ended before\n" in said
    assert "┬" not in said


def test_a_turn_of_which_nothing_is_heard_has_ticks_where_its_text_arrived() -> None:
    _, heard = lanes(lines_of(call(turns=TEXT_ONLY)))
    # At 2.0 and 2.6 s, at 5.2 and 5.9 s; the numbers after the last ones.
    assert heard == " " * 20 + "╷" + " " * 5 + "╷1" + " " * 12 + "│" + " " * 11 + "╷" + " " * 6 + "╷2" + " " * 39


def test_translations_that_are_heard_at_once_have_lines_of_their_own() -> None:
    both = [STATEMENT, {**CORRECTION, "audible": [[4400.0, 7000.0]]}]
    lines = lines_of(call(turns=both))
    at = next(n for n, line in enumerate(lines) if line.startswith("heard"))
    assert lines[at][GUTTER:].rstrip().endswith("▌")
    assert lines[at + 1] == " " * (GUTTER + 40) + "│   █2" + "█" * 24
    # What only touches, by the rounding of what is kept, does not.
    assert len(lanes(lines_of(call(turns=[STATEMENT, {**CORRECTION, "audible": [[4449.9, 7000.0]]}])))) == 2


def test_the_response_of_either_profile_ends_where_the_new_translation_begins() -> None:
    # From a message that was sent 300 ms before the speech: 1500 ms to 5.2 s, which is 800 ms before its end at 6 s.
    (pair,) = call({"response_time_ms": 1500.0}).pairs
    assert pair.response == pytest.approx((3.7, 5.2))
    (unknown,) = call({"response_from_end_ms": None}).pairs
    assert unknown.response == pytest.approx((4.0, 5.2))


def test_ascii_where_the_encoding_has_no_blocks() -> None:
    drawn = call(MIXED, key="Gespräch")
    assert draw_text(drawn, 109, encoding="ascii").isascii()
    lines = lines_of(drawn, encoding="latin-1")
    assert lines[0].startswith("Gespräch")
    assert lanes(lines)[1] == " " * 20 + "#1" + "#" * 18 + "|" + "####" + " " * 7 + "#2" + "#" * 26 + " " * 20
    assert any(line.strip() == "|..........| response 1200 ms" for line in lines)


def test_colour_adds_nothing_but_colour() -> None:
    coloured = draw_text(call(MIXED), 90, colour=True)
    assert "\x1b[34m" in coloured
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == draw_text(call(MIXED), 90)
