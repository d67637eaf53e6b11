"""What the barge-in score takes off: mixed translations, no answer, and the source's length, on whole captures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import (
    CORRECTION,
    EXAMPLE,
    MEANT,
    SAID,
    STATEMENT,
    TURNS,
    arrived,
    audio,
    correction,
    delta,
    document,
    evaluate,
    pair,
    sent,
    sentence,
    statement,
    write_capture,
)


@pytest.mark.parametrize("events", [[], [delta(9000, "alpha", STATEMENT)], [audio(9000, 500, STATEMENT)]])
def test_a_system_that_does_not_answer(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    """0.6 x 100 + 0.3 x 100 + 0 = 90 in the document; by default at most 30, and it says that this is a cap."""
    spec = pair(tmp_path, TURNS, events, profile="spec")
    assert (spec["score"], spec["response_time_ms"], spec["response_score"]) == (90.0, None, 0.0)
    assert (spec["caps"], spec["interpretation"]) == ([], "Excellent barge-in handling")
    capped = pair(tmp_path, TURNS, events)
    assert capped["score"] <= 30
    assert capped["response_time_ms"] is None
    assert len(capped["caps"]) == 1
    assert capped["interpretation"] == sentence(capped["score"])


SHARES = [
    ("alpha bravo charlie", "kilo lima mike", 0),
    # 3 of 10 words of the new translation are the old one's
    ("alpha", "kilo lima mike november oscar papa quebec alpha bravo charlie", 3 / 10),
    # 1 of 5 words of the old translation is the new one's
    ("alpha bravo charlie delta kilo", "kilo", 1 / 5),
    # the larger of 1 / 5 and 3 / 10, and of 2 / 5 and 1 / 4
    ("alpha bravo charlie delta kilo", "kilo lima mike november oscar papa quebec alpha bravo charlie", 3 / 10),
    ("alpha bravo charlie lima kilo", "kilo lima mike alpha", 2 / 5),
    # not more than a tenth, and a little more than a tenth
    ("alpha", "kilo lima mike november oscar papa quebec romeo sierra alpha", 1 / 10),
    ("alpha", "kilo lima mike november oscar papa quebec romeo alpha", 1 / 9),
    # words of neither count among the words of the output
    ("alpha", "kilo zulu yankee xray alpha", 1 / 5),
    ("Alpha!", "Kilo, lima, mike; ALPHA.", 1 / 4),
]


def test_the_share_that_is_mixed(tmp_path: Path) -> None:
    for n, (old, new, _) in enumerate(SHARES):
        events = [delta(9000, old, STATEMENT), delta(11_000, new, CORRECTION)]
        write_capture(tmp_path / "calls" / f"call-{n}", TURNS, events)
    evaluate(tmp_path / "calls", tmp_path / "out", "barge_in")
    for n, (old, new, share) in enumerate(SHARES):
        (found,) = document(tmp_path / "out", f"call-{n}")["details"]["turns"]
        assert found["mixing_share"] == pytest.approx(share, abs=1e-6), (old, new)
        assert found["mixing_detected"] is (share > 0.1), (old, new)
        assert found["mixing_score"] == pytest.approx(100 * (1 - share), abs=1e-4)
        assert found["score"] == pytest.approx(60 + 0.3 * 100 * (1 - share) + 10, abs=1e-4)
        assert found["caps"] == []


def test_words_of_both_expected_texts_are_not_mixed(tmp_path: Path) -> None:
    turns = [statement(expected_text="the pain is moderate"), correction(expected_text="the pain is severe")]
    events = [delta(9000, "the pain is moderate", STATEMENT), delta(11_000, "the pain is severe", CORRECTION)]
    assert pair(tmp_path, turns, events)["mixing_share"] == 0
    events[1] = delta(11_000, "the pain is moderate", CORRECTION)
    assert pair(tmp_path, turns, events)["mixing_share"] == pytest.approx(1 / 4)


def test_pieces_of_text_are_put_together_as_they_came(tmp_path: Path) -> None:
    pieces = ["ki", "lo ", "li", "ma ", "al", "pha"]
    events = [delta(9000, "alpha", STATEMENT), *(delta(11_000 + n, t, CORRECTION) for n, t in enumerate(pieces))]
    assert pair(tmp_path, TURNS, events)["mixing_share"] == pytest.approx(1 / 3, abs=1e-6)
    # the whole text that follows says the same again, and is not counted again
    whole = arrived(11_900, "translated_text", turn_id=CORRECTION, text="kilo lima alpha")
    found = pair(tmp_path, TURNS, [*events, whole])
    assert found["mixing_share"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["response_time_ms"] == 1000


def test_where_every_piece_ends_inside_a_word_the_whole_text_tells(tmp_path: Path) -> None:
    pieces = ["ki", "lo li", "ma al", "pha"]
    events = [
        delta(9000, "alpha", STATEMENT),
        *(delta(11_000 + n, text, CORRECTION) for n, text in enumerate(pieces)),
        arrived(11_900, "translated_text", turn_id=CORRECTION, text="kilo lima alpha"),
    ]
    assert pair(tmp_path, TURNS, events)["mixing_share"] == pytest.approx(1 / 3, abs=1e-6)


@pytest.mark.parametrize("new", ["kilo lima alpha bravo", "kilo alpha bravo charlie", SAID])
def test_half_mixed_or_more_stays_below_30(tmp_path: Path, new: str) -> None:
    found = pair(tmp_path, TURNS, [delta(9000, "alpha", STATEMENT), delta(11_000, new, CORRECTION)])
    assert found["mixing_share"] >= 0.5
    assert found["score"] == 29
    assert found["interpretation"] == "Very poor barge-in handling"
    assert len(found["caps"]) == 1
    # the document looks at times alone: 60 + 30 + 10
    events = [delta(9000, "alpha", STATEMENT), delta(11_000, new, CORRECTION)]
    assert pair(tmp_path, TURNS, events, profile="spec")["score"] == pytest.approx(100)


@pytest.mark.parametrize("whole", [False, True], ids=["word by word", "at once"])
@pytest.mark.parametrize(
    "new",
    [
        "kilo delta lima echo mike foxtrot november golf",  # 4 of 8
        "kilo lima mike november alpha bravo charlie delta",
        "kilo lima delta echo foxtrot mike golf hotel",  # 5 of 8
    ],
)
def test_half_mixed_or_more_stays_below_30_where_no_id_tells(tmp_path: Path, new: str, whole: bool) -> None:
    """An answer that begins with new words at 11200 is an answer, and it is mixed, however much of it is old."""
    old = [delta(8000 + 500 * n, f"{word} ") for n, word in enumerate(SAID.split()[:3])]
    answer = [delta(11_200 + 100 * n, f"{word} ") for n, word in enumerate(new.split())]
    found = pair(tmp_path, TURNS, [*old, *([delta(11_200, new)] if whole else answer)])
    assert found["mixing_detected"] is True
    assert found["score"] < 30
    assert found["response_time_ms"] == 1200


def test_a_cap_never_lifts_a_score(tmp_path: Path) -> None:
    """Everything wrong: 0.6 x 0 + 0.3 x 0 + 0.1 x 60 = 6."""
    events = [delta(13_000, SAID, CORRECTION), delta(25_000, "alpha", STATEMENT)]
    assert pair(tmp_path, TURNS, events)["score"] == pytest.approx(6)
    # no answer, and the old translation consists of the new one: 60 is capped at 30 and at 29
    found = pair(tmp_path, TURNS, [delta(9000, MEANT, STATEMENT)])
    assert found["score"] == 29
    assert len(found["caps"]) == 2


def test_the_document_s_mixing_rule(tmp_path: Path) -> None:
    """A delta of the new turn before the last of the old one, which is after the barge-in: 0 points of mixing."""
    mixed = [delta(10_400, "kilo", CORRECTION), delta(10_450, "alpha", STATEMENT)]
    spec = pair(tmp_path, TURNS, mixed, profile="spec")
    assert (spec["mixing_detected"], spec["mixing_score"]) == (True, 0)
    assert spec["score"] == pytest.approx(0.6 * 91 + 0 + 0.1 * 100)
    found = pair(tmp_path, TURNS, mixed)  # by content nothing is mixed
    assert (found["mixing_detected"], found["score"]) == (False, pytest.approx(0.6 * 91 + 30 + 10))
    # at the same moment is not before
    same = [delta(10_450, "kilo", CORRECTION), delta(10_450, "alpha", STATEMENT)]
    assert pair(tmp_path, TURNS, same, profile="spec")["mixing_detected"] is False


def test_without_text_the_timing_rule_holds_on_what_is_heard(tmp_path: Path) -> None:
    """Heard: old 9000 to 10200, new to 10700, old to 11200. New before the last of the old: 0.6 x 64 + 0 + 10."""
    events = [audio(9000, 1200, STATEMENT), audio(10_100, 500, CORRECTION), audio(10_150, 500, STATEMENT)]
    found = pair(tmp_path, TURNS, events)
    assert (found["cutoff_latency_ms"], found["response_time_ms"]) == (1200, 200)
    assert (found["mixing_detected"], found["mixing_score"]) == (True, 0)
    assert found["score"] == pytest.approx(0.6 * (40 + 30 * 800 / 1000) + 0 + 0.1 * 100)


def test_the_document_s_response_time_begins_with_the_first_message_sent(tmp_path: Path) -> None:
    events = [*EXAMPLE[:2], sent(10_300, CORRECTION), sent(10_320, CORRECTION), EXAMPLE[2]]
    assert pair(tmp_path, TURNS, events, profile="spec")["response_time_ms"] == 11_200 - 10_300
    assert pair(tmp_path, TURNS, EXAMPLE, profile="spec")["response_time_ms"] == 11_200 - 10_000
    assert pair(tmp_path, TURNS, events)["response_time_ms"] == 11_200 - 10_000


STRETCHED = [
    # seconds and words of the source, cutoff, stretch; what the cutoff is worth without it
    (10, 25, 500, 1, 90),
    (20, 50, 1000, 2, 70),  # 20 / 10, at 2.5 words a second
    (40, 100, 1000, 2, 70),  # not more than 2
    (4, 10, 250, 0.5, 95),  # not less than 0.5
    (10, 30, 600, 1.2, 86),  # 3 words a second / 2.5; 70 + 20 x 400 / 500
    (20, 100, 1250, 2.5, 62.5),  # 5 words a second: not more than 1.25; 40 + 30 x 750 / 1000
    (20, 20, 800, 1.6, 78),  # 1 word a second: not less than 0.8; 70 + 20 x 200 / 500
]


def test_adaptive_stretches_the_cutoff_curve(tmp_path: Path) -> None:
    """Both turns are equally long and fast. The cutoff is 500 ms x the stretch, which is then worth 90 points."""
    for n, (seconds, words, cutoff, _, _) in enumerate(STRETCHED):
        said, start = " ".join(["word"] * words), seconds * 1000
        turns = [statement(0, start, source_text=said), correction(start, 2 * start, source_text=said)]
        events = [delta(start + cutoff, "alpha", STATEMENT), delta(start + 35_000, "kilo", CORRECTION)]
        write_capture(tmp_path / "calls" / f"call-{n}", turns, events)
    evaluate(tmp_path / "calls", tmp_path / "plain", "barge_in")
    evaluate(tmp_path / "calls", tmp_path / "adaptive", "barge_in", set={"adaptive": True})
    for n, (_, _, cutoff, stretch, points) in enumerate(STRETCHED):
        assert cutoff == pytest.approx(500 * stretch)
        (plain,) = document(tmp_path / "plain", f"call-{n}")["details"]["turns"]
        (found,) = document(tmp_path / "adaptive", f"call-{n}")["details"]["turns"]
        assert plain["cutoff_latency_ms"] == found["cutoff_latency_ms"] == cutoff
        assert (plain["cutoff_score"], found["cutoff_score"]) == pytest.approx((points, 90))
        assert found["score"] == pytest.approx(0.6 * 90 + 0.3 * 100)


def test_adaptive_on_the_command_line(tmp_path: Path, cli: Cli) -> None:  # noqa: F811
    said = " ".join(["word"] * 50)
    turns = [statement(0, 20_000, source_text=said), correction(20_000, 40_000, source_text=said)]
    events = [delta(21_000, "alpha", STATEMENT), delta(22_000, "kilo", CORRECTION)]
    place = write_capture(tmp_path / "visit", turns, events)
    words = ("run", "interpreting", place, "--metrics", "barge_in", "--db", tmp_path / "db.sqlite", "--out")
    cli(*words, tmp_path / "plain")
    cli(*words, tmp_path / "adaptive", "--set", "adaptive=true")
    assert document(tmp_path / "plain", "visit")["score"] == pytest.approx(0.6 * 70 + 30 + 0.1 * 80)
    assert document(tmp_path / "adaptive", "visit")["score"] == pytest.approx(0.6 * 90 + 30 + 0.1 * 80)
