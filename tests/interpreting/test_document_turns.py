"""The other metrics of the room on simple turns, scenarios that replace expectations, and a published lag log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import (
    CORRECTION,
    STATEMENT,
    TURNS,
    arrived,
    audio,
    delta,
    document,
    evaluate,
    turn,
    write_capture,
)
from tests.shared_data import shared
from turnwise.kernel.score import Score

SPANISH = "Me duele mucho la cabeza desde ayer por la mañana, y también me duele el cuello."
ENGLISH = "My head has been hurting a lot since yesterday morning, and my neck hurts as well."


def scores(folder: Path, turns: list[Any], events: list[Any], *metrics: str) -> dict[tuple[str, str, str], Score]:
    """Every score of a capture by metric, output and turn."""
    place = write_capture(folder / "visit", turns, events)
    found = evaluate(place, folder / "out", *metrics).scores
    return {(one.metric.rpartition("/")[2], one.output, one.unit.id.rpartition("#")[2]): one for one in found}


def one_turn(folder: Path, metric: str, expected: str | None, text: str | None, **about: Any) -> Score:
    turns = [turn("answer", 1000, 5000, expected_text=expected, **about)]
    events = [] if text is None else [delta(2000, text, "answer")]
    return scores(folder, turns, events, metric)[metric, "value", "answer"]


# --- the words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "expected", "text", "value"),
    [
        ("wer", "the pain is severe", "the pain is severe", 0),
        ("wer", "the pain is severe", "the pain is very severe", 1 / 4),  # an insertion
        ("wer", "the pain is severe", "the pain severe", 1 / 4),  # a deletion
        ("wer", "the pain is severe", "the pain was mild", 2 / 4),  # two substitutions
        ("wer", "the pain is severe", None, 4 / 4),  # nothing came: everything is missing
        ("wer", "severe", "not so severe today", 3 / 1),  # more than 1 is possible
        ("cer", "severe", "sevore", 1 / 6),
        ("cer", "severe", None, 6 / 6),
        ("completeness", "severe headache yesterday", "yesterday severe", 2 / 3),
        ("completeness", "severe headache yesterday", "a severe headache since yesterday", 3 / 3),
        ("completeness", "severe headache yesterday", None, 0 / 3),
    ],
)
def test_words_against_the_expected_text(
    tmp_path: Path, metric: str, expected: str, text: str | None, value: float
) -> None:
    found = one_turn(tmp_path, metric, expected, text)
    assert (found.status.value, found.value) == ("scored", pytest.approx(value))


def test_function_words_are_no_content(tmp_path: Path) -> None:
    """Of "the headache is severe" two words say something, and one of them came."""
    text = "the headache is the"
    found = one_turn(tmp_path, "completeness", "the headache is severe", text, expected_language="en")
    assert found.value == pytest.approx(1 / 2)


@pytest.mark.parametrize("metric", ["wer", "cer"])
def test_an_empty_reference(tmp_path: Path, metric: str) -> None:
    silent = one_turn(tmp_path / "silent", metric, "", None)
    assert (silent.value, silent.status.value) == (None, "not_applicable")
    assert silent.reason
    spoke = one_turn(tmp_path / "spoke", metric, "", "hello there")
    assert (spoke.value, spoke.status.value) == (1.0, "scored")
    assert spoke.reason or (spoke.evidence or {}).get("reason")


@pytest.mark.parametrize("metric", ["wer", "cer", "completeness"])
def test_what_cannot_be_compared_is_not_0(tmp_path: Path, metric: str) -> None:
    unknown = one_turn(tmp_path / "unknown", metric, None, "hello there")
    assert (unknown.value, unknown.status.value) == (None, "skipped")
    turns = [turn("answer", 1000, 5000, expected_text="the pain is severe")]
    spoken = scores(tmp_path / "spoken", turns, [audio(2000, 900, "answer")], metric)[metric, "value", "answer"]
    assert (spoken.value, spoken.status.value) == (None, "skipped")


def test_turns_are_averaged_and_pooled(tmp_path: Path) -> None:
    """1 error in 4 words and none in 2: the mean of 1/4 and 0, and 1 in 6. The normaliser is named."""
    turns = [
        turn("a", 0, 1000, expected_text="the pain is severe"),
        turn("b", 5000, 6000, expected_text="thank you"),
        turn("c", 9000, 9500, expected_text=""),
    ]
    events = [delta(2000, "the pain is very severe", "a"), delta(7000, "thank you", "b")]
    result = evaluate(write_capture(tmp_path / "visit", turns, events), tmp_path / "out", "wer")
    assert result.value("wer", "mean") == pytest.approx(1 / 8)
    assert result.value("wer", "pooled") == pytest.approx(1 / 6)
    overall = next(r for r in result.results if r["group"] == {} and r["primary"])
    assert (overall["n_scored"], overall["n_total"]) == (2, 3)
    assert "normaliser=" in overall["signature"]


@pytest.mark.parametrize(
    ("language", "text", "value", "status"),
    [
        ("es", SPANISH, 1, "scored"),
        ("es", ENGLISH, 0, "scored"),
        ("en", ENGLISH, 1, "scored"),
        ("es-MX", SPANISH, 1, "scored"),
        ("efi", ENGLISH, None, "not_applicable"),  # Efik is unknown to the detector
        ("es", None, None, "skipped"),
        (None, SPANISH, None, "skipped"),
    ],
)
def test_the_language_of_the_translation(
    tmp_path: Path, language: str | None, text: str | None, value: float | None, status: str
) -> None:
    found = one_turn(tmp_path, "target_language", None, text, expected_language=language)
    assert (found.value, found.status.value) == (value, status)


# --- the times ------------------------------------------------------------------------------------------------


def test_latency_of_audio_text_and_completion(tmp_path: Path) -> None:
    """From the start of the turn: audio after 1, 2 and 3 s; the second turn's two pieces came at once."""
    turns = [turn("a", 1000, 5000), turn("b", 10_000, 12_000), turn("c", 20_000, 21_000), turn("d", 30_000, 31_000)]
    events = [
        *(delta(1500, "one", "a"), audio(2000, 1000, "a")),  # heard until 3000
        *(delta(11_000, "two", "b"), audio(12_000, 1000, "b"), audio(12_100, 1000, "b")),  # until 14000
        *(delta(21_500, "three", "c"), audio(23_000, 1000, "c")),  # until 24000
    ]
    place = write_capture(tmp_path / "visit", turns, events)
    result = evaluate(place, tmp_path / "out", "latency")
    by_output = {(one.output, one.unit.id.rpartition("#")[2]): (one.value, one.status.value) for one in result.scores}
    for output, values in {
        "first_audio": (1000, 2000, 3000),
        "first_text": (500, 1000, 1500),
        "completion": (2000, 4000, 4000),
    }.items():
        found = [by_output[output, name] for name in "abcd"]
        assert found == [*((value, "scored") for value in values), (None, "skipped")]
    assert result.value("latency", "p50", "first_audio") == 2000
    assert result.value("latency", "p90", "first_audio") == pytest.approx(2000 + 0.8 * 1000)
    assert result.value("latency", "p95", "first_audio") == pytest.approx(2000 + 0.9 * 1000)
    assert result.value("latency", "p50", "first_text") == 1000
    assert result.value("latency", "p50", "completion") == 4000


def test_overlap_of_speaker_and_translation(tmp_path: Path) -> None:
    """Speech 0 to 4 and 10 to 12 s, translation 2 to 6 and 13 to 14 s: 2 s of the 6 + 2 + 1 s that are not silent."""
    turns, events = [turn("a", 0, 4000), turn("b", 10_000, 12_000)], [audio(2000, 4000, "a"), audio(13_000, 1000, "b")]
    found = scores(tmp_path / "both", turns, events, "overlap")["overlap", "value", "visit"]
    assert found.value == pytest.approx(2 / 9)
    later = [audio(4000, 4000, "a"), audio(13_000, 1000, "b")]
    assert scores(tmp_path / "none", turns, later, "overlap")["overlap", "value", "visit"].value == 0
    silent = scores(tmp_path / "silent", turns, [], "overlap")["overlap", "value", "visit"]
    assert (silent.value, silent.status.value) == (None, "not_applicable")


# --- scenarios ------------------------------------------------------------------------------------------------

SCENARIO = """\
id: visit
participants: {patient: {source_language: es, target_language: en}}
turns:
  - {id: statement, type: say, text: hola, start_at_ms: 0, expected_text: uniform victor}
  - {id: correction, type: say, text: perdón, start_at_ms: 10000, barge_in: true, expected_text: whiskey xray}
thresholds: {barge_in: 95}
"""


def test_scenarios_replace_expected_texts_and_thresholds(tmp_path: Path, cli: Cli) -> None:  # noqa: F811
    """Half of "whiskey uniform" is the old text of the scenario; what the capture expects has none of these words."""
    events = [
        delta(9000, "uniform ", STATEMENT),
        delta(10_450, "victor", STATEMENT),
        delta(11_200, "whiskey uniform", CORRECTION),
    ]
    calls, files = tmp_path / "calls", tmp_path / "scenarios"
    write_capture(calls / "first", TURNS, events, scenario_id="visit", thresholds={"barge_in": 20})
    write_capture(calls / "second", TURNS, events, scenario_id="another", thresholds={"barge_in": 20})
    files.mkdir()
    (files / "visit.yaml").write_text(SCENARIO, "utf-8")
    words = ("run", "interpreting", calls, "--metrics", "barge_in,wer", "--db", tmp_path / "db.sqlite")
    cli(*words, "--out", tmp_path / "plain")
    cli(*words, "--out", tmp_path / "given", "--scenarios", files)
    for out, name in (("plain", "first"), ("plain", "second"), ("given", "second")):
        found = document(tmp_path / out, name)
        assert found["score"] == pytest.approx(94.2)
        assert (found["details"]["threshold"], found["details"]["passed"]) == (20, True)
    found = document(tmp_path / "given", "first")
    assert (found["score"], found["details"]["threshold"], found["details"]["passed"]) == (29, 95, False)
    assert found["details"]["turns"][0]["mixing_share"] == pytest.approx(1 / 2)
    # wer by scenario: 0 of 2, then 1 of 2 words
    summary = json.loads((tmp_path / "given" / "summary.json").read_text())
    (own,) = [
        r
        for r in summary["results"]
        if r["metric"] == "wer" and r["rollup"] == "mean" and r["group"] == {"scenario": "visit"}
    ]
    assert own["value"] == pytest.approx((0 / 2 + 1 / 2) / 2)


def test_a_capture_s_own_metrics_do_not_hide_what_is_asked_for(tmp_path: Path) -> None:
    events = [arrived(11_200, "translated_text", turn_id=CORRECTION, text="kilo")]
    place = write_capture(tmp_path / "visit", TURNS, events, metrics=["wer"])
    assert evaluate(place, tmp_path / "out", "barge_in").value("barge_in", output="value") == pytest.approx(99.6)


# --- lag ------------------------------------------------------------------------------------------------------

PUBLISHED = {
    ("yaal", "cu"): "1135.6097",
    ("al", "cu"): "1803.9192",
    ("laal", "cu"): "1857.7128",
    ("ap", "cu"): "0.7948",
    ("dal", "cu"): "3532.4812",
    ("yaal", "ca"): "1272.7485",
    ("al", "ca"): "2021.1781",
    ("laal", "ca"): "2071.7031",
    ("ap", "ca"): "0.8903",
    ("dal", "ca"): "3883.0303",
}
"""scores.tsv beside the log."""


def test_the_ten_published_values_of_a_lag_log(tmp_path: Path) -> None:
    names = list(dict.fromkeys(name for name, _ in PUBLISHED))
    result = evaluate(shared("simulst", "short_form", "instances.log"), tmp_path, *names)
    found = {(name, clock): result.value(name, "mean", clock) for name, clock in PUBLISHED}
    assert {key: f"{value:.4f}" for key, value in found.items()} == PUBLISHED
    totals = {r["n_total"] for r in result.results if r["group"] == {} and r["rollup"] == "mean"}
    assert totals == {2580}
