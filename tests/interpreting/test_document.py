"""The document's barge-in score on whole captures: its curves, its sentences, its result, from the specification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import (
    CORRECTION,
    EXAMPLE,
    REQUIRED_OF_A_PAIR,
    SENTENCES,
    STATEMENT,
    TURNS,
    audio,
    barge_in,
    correction,
    delta,
    document,
    evaluate,
    sentence,
    statement,
    turn,
    write_capture,
)

BOTH = pytest.mark.parametrize("profile", ["turnwise", "spec"])
CUTOFFS = {
    0: 100,
    250: 95,
    500: 90,
    750: 80,
    1000: 70,
    1500: 55,
    2000: 40,
    3500: 25,
    5000: 10,
    10_000: 5,
    15_000: 0,
    16_000: 0,
}
RESPONSES = {
    0: 100,
    1000: 100,
    1500: 90,
    2000: 80,
    2500: 70,
    3000: 60,
    4000: 45,
    5000: 30,
    20_000: 15,
    35_000: 0,
    36_000: 0,
}
"""Milliseconds to points: the corners of the document's curves, what lies half-way between two, and what is beyond."""


def curve_captures(folder: Path, *, spoken: bool) -> None:
    """A capture for each point of each curve, as text or as audio of which only the length is known."""
    for ms in CUTOFFS:  # answered after 40 s, which is worth 0 points, so that the rest is 0.6 cutoff + 0.3 mixing
        if spoken:
            events = [audio(9000, 1000 + ms, STATEMENT), audio(50_000, 500, CORRECTION)]
        else:
            events = [delta(10_000 + ms, "alpha", STATEMENT), delta(50_000, "kilo", CORRECTION)]
        write_capture(folder / f"cutoff-{ms}", TURNS, events)
    for ms in RESPONSES:
        if spoken:
            events = [audio(9000, 1000, STATEMENT), audio(10_000 + ms, 500, CORRECTION)]
        else:
            events = [delta(9000, "alpha", STATEMENT), delta(10_000 + ms, "kilo", CORRECTION)]
        write_capture(folder / f"response-{ms}", TURNS, events)


@pytest.mark.parametrize(("profile", "spoken"), [("turnwise", False), ("turnwise", True), ("spec", False)])
def test_every_corner_of_both_curves(tmp_path: Path, profile: str, spoken: bool) -> None:
    curve_captures(tmp_path / "calls", spoken=spoken)
    evaluate(tmp_path / "calls", tmp_path / "out", "barge_in", profile=profile)
    for ms, points in CUTOFFS.items():
        (found,) = document(tmp_path / "out", f"cutoff-{ms}")["details"]["turns"]
        assert (found["cutoff_latency_ms"], found["response_time_ms"]) == (ms, 40_000)
        assert (found["cutoff_score"], found["mixing_score"], found["response_score"]) == pytest.approx(
            (points, 100, 0)
        )
        assert found["score"] == pytest.approx(0.6 * points + 0.3 * 100)
        assert found["interpretation"] == sentence(0.6 * points + 0.3 * 100)
        assert found["caps"] == []
    for ms, points in RESPONSES.items():
        (found,) = document(tmp_path / "out", f"response-{ms}")["details"]["turns"]
        assert (found["cutoff_latency_ms"], found["response_time_ms"]) == (0, ms)
        assert found["response_score"] == pytest.approx(points)
        assert found["score"] == pytest.approx(0.6 * 100 + 0.3 * 100 + 0.1 * points)


@BOTH
def test_the_example_of_the_document(tmp_path: Path, profile: str, cli: Cli) -> None:  # noqa: F811
    """cutoff 90 + (500 - 450) / 500 x 10 = 91; response 80 + (2000 - 1200) / 1000 x 20 = 96; 54.6 + 30 + 9.6 = 94.2."""
    place = write_capture(tmp_path / "visit", TURNS, EXAMPLE)
    out = tmp_path / "out"
    words = ("--metrics", "barge_in", "--profile", profile, "--out", out, "--db", tmp_path / "db.sqlite")
    cli("run", "interpreting", place, *words)
    found = document(out, "visit")
    assert (found["metric_name"], found["reason"]) == ("barge_in", None)
    assert found["score"] == pytest.approx(94.2)
    (one,) = found["details"].pop("turns")
    assert found["details"] == {
        "threshold": 70.0,
        "passed": True,
        "barge_in_count": 1,
        "overall_interpretation": "Excellent barge-in handling",
    }
    expected = {
        "previous_turn_id": STATEMENT,
        "barge_in_turn_id": CORRECTION,
        "barge_in_start_ms": 10_000,
        "cutoff_latency_ms": 450,
        "mixing_detected": False,
        "response_time_ms": 1200,
        "interpretation": "Excellent barge-in handling",
        "kind": "self_correction",
        "caps": [],
    }
    assert {name: one[name] for name in expected} == expected
    assert (one["cutoff_score"], one["mixing_score"], one["response_score"]) == pytest.approx((91, 100, 96))
    assert one["score"] == pytest.approx(94.2)
    (overall,) = [
        result
        for result in json.loads((out / "summary.json").read_text())["results"]
        if (result["metric"], result["output"], result["group"], result["primary"]) == ("barge_in", "value", {}, True)
    ]
    assert overall["value"] == pytest.approx(94.2)
    assert (overall["n_scored"], overall["n_total"]) == (1, 1)
    assert f"profile={profile}" in overall["signature"]


@BOTH
def test_one_shape_always(tmp_path: Path, profile: str) -> None:
    """Scored, unanswered, told by time alone, never begun: the same keys; nothing to score: the same, and no pair."""
    cases = {
        "scored": (TURNS, EXAMPLE),
        "spoken": (TURNS, [audio(9000, 1450, STATEMENT), audio(11_200, 500, CORRECTION)]),
        "dead": (TURNS, []),
        "time": (TURNS, [audio(9000, 500), audio(11_200, 500)]),
        "unbegun": ([statement(), correction(None, None)], []),
        "none": ([statement(), correction(barge_in=False)], EXAMPLE),
    }
    for name, (turns, events) in cases.items():
        write_capture(tmp_path / "calls" / name, turns, events)
    evaluate(tmp_path / "calls", tmp_path / "out", "barge_in", profile=profile)
    found = {name: document(tmp_path / "out", name) for name in cases}
    details = {"threshold", "passed", "barge_in_count", "turns", "overall_interpretation"}
    for one in found.values():
        assert set(one) == {"metric_name", "score", "reason", "details"}
        assert set(one["details"]) == details
    pairs = [one for result in found.values() for one in result["details"]["turns"]]
    assert len(pairs) == len(cases) - 1
    assert set(pairs[0]) >= REQUIRED_OF_A_PAIR
    assert all(set(one) == set(pairs[0]) for one in pairs)


@BOTH
def test_no_barge_in(tmp_path: Path, profile: str) -> None:
    place = write_capture(tmp_path / "visit", [statement(), correction(barge_in=False)], EXAMPLE)
    result = evaluate(place, tmp_path / "out", "barge_in", profile=profile)
    assert document(tmp_path / "out", "visit") == {
        "metric_name": "barge_in",
        "score": None,
        "reason": "No barge-in turns found in scenario",
        "details": {
            "threshold": 70.0,
            "passed": None,
            "barge_in_count": 0,
            "turns": [],
            "overall_interpretation": None,
        },
    }
    (score,) = [one for one in result.scores if one.output == "value"]
    assert (score.value, score.status.value) == (None, "not_applicable")
    assert score.reason == "No barge-in turns found in scenario"


@pytest.mark.parametrize(
    ("cutoff", "response", "score"),
    [
        (625, 1500, 90),  # 0.6 x 85 + 30 + 0.1 x 90
        (1500, 2500, 70),  # 0.6 x 55 + 30 + 0.1 x 70
        (4000, 2000, 50),  # 0.6 x 20 + 30 + 0.1 x 80
        (15_000, 35_000, 30),  # 0.6 x 0 + 30 + 0
    ],
)
def test_a_sentence_begins_at_its_score(tmp_path: Path, cutoff: int, response: int, score: int) -> None:
    late, answer = delta(10_000 + cutoff, "alpha", STATEMENT), delta(10_000 + response, "kilo", CORRECTION)
    found = barge_in(tmp_path, TURNS, [late, answer])
    assert found["score"] == pytest.approx(score)
    assert found["details"]["overall_interpretation"] == SENTENCES[score]
    worse = barge_in(tmp_path, TURNS, [{**late, "t_arrived_ms": 10_100 + cutoff}, answer])
    if cutoff < 15_000:
        assert worse["details"]["overall_interpretation"] == sentence(score - 1)


@BOTH
def test_several_pairs_are_averaged(tmp_path: Path, profile: str) -> None:
    """94.2, and 0.6 x 90 + 30 + 0.1 x 80 = 92."""
    turns = [*TURNS, turn("more", 20_000, 22_000, barge_in=True, expected_text="uniform victor whiskey")]
    events = [*EXAMPLE, delta(20_500, " lima", CORRECTION), delta(22_000, "uniform", "more")]
    found = barge_in(tmp_path, turns, events, profile=profile)
    names = [(one["previous_turn_id"], one["barge_in_turn_id"]) for one in found["details"]["turns"]]
    assert names == [(STATEMENT, CORRECTION), (CORRECTION, "more")]
    assert [one["score"] for one in found["details"]["turns"]] == pytest.approx([94.2, 92])
    assert found["score"] == pytest.approx((94.2 + 92) / 2)
    assert found["details"]["barge_in_count"] == 2


@pytest.mark.parametrize(("threshold", "passed"), [(94, True), (94.2, True), (95, False), (0, True)])
def test_the_threshold_is_the_scenario_s(tmp_path: Path, threshold: float, passed: bool) -> None:
    found = barge_in(tmp_path, TURNS, EXAMPLE, thresholds={"barge_in": threshold, "wer": 0.2})
    assert (found["details"]["threshold"], found["details"]["passed"]) == (threshold, passed)


def test_without_a_score_nothing_passes_or_fails(tmp_path: Path) -> None:
    found = barge_in(tmp_path, TURNS, [audio(9000, 500), audio(11_200, 500)], thresholds={"barge_in": 10})
    assert (found["score"], found["details"]["threshold"], found["details"]["passed"]) == (None, 10, None)


def test_a_folder_of_captures(tmp_path: Path) -> None:
    """94.2, 100 and one without barge-in: the mean is that of two of three."""
    calm = [delta(9000, "alpha", STATEMENT), delta(11_000, "kilo", CORRECTION)]
    write_capture(tmp_path / "calls" / "first", TURNS, EXAMPLE)
    write_capture(tmp_path / "calls" / "second", TURNS, calm)
    write_capture(tmp_path / "calls" / "third", [statement(), correction(barge_in=False)], calm)
    result = evaluate(tmp_path / "calls", tmp_path / "out", "barge_in")
    scores = {name: document(tmp_path / "out", name)["score"] for name in ("first", "second", "third")}
    assert scores == {"first": pytest.approx(94.2), "second": pytest.approx(100), "third": None}
    assert result.value("barge_in", output="value") == pytest.approx((94.2 + 100) / 2)
    (overall,) = [r for r in result.results if r["output"] == "value" and r["group"] == {} and r["primary"]]
    assert (overall["n_scored"], overall["n_total"]) == (2, 3)
    assert overall["missing"] == {"No barge-in turns found in scenario": 1}
