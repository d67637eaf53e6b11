"""Published numbers that must come out: a challenge experiment, its leaderboard, tau-voice and EVA."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import turnwise
from tests.shared_data import shared
from turnwise.duplex.metrics.challenge import challenge_total, delay_score

SCORES = shared("humdial/exp13/score")
TAU = shared("tau_voice")
EVA = shared("eva/record_1.1.2")

TOTALS = {
    "interruption_total_score": 89.7,
    "rejection_total_score": 50.0,
    "avg_latency_stop": 1.106,
    "avg_latency_resp": 2.461,
    "first_response_delay": 1.528,
    "total_delay": 1.698,
}
"""As the document prints them."""


def run(folder: Path, **options: Any) -> turnwise.Result:
    return turnwise.evaluate(suite="duplex", out=folder, **options)


@pytest.mark.parametrize("way", ["scores", "files"])
def test_the_published_experiment_comes_out_to_the_last_digit(way: str, tmp_path: Path) -> None:
    result = run(tmp_path, profile="spec", **{way: SCORES})
    assert json.loads((tmp_path / "all.json").read_text()) == json.loads((SCORES / "all.json").read_text())
    for metric, value in TOTALS.items():
        assert result.value(metric) == pytest.approx(value, abs=1e-12)
    assert [f for f in result.summary["run"]["findings"] if f["check"] == "stored value"] == []


@pytest.mark.parametrize("profile", ["spec", "turnwise"])
def test_every_category_file_follows_from_the_files_under_it(profile: str, tmp_path: Path) -> None:
    run(tmp_path, profile=profile, files=SCORES)
    stored = sorted(SCORES.glob("*/*/*_all.json"))
    assert len(stored) == 20
    for path in stored:
        made = json.loads((tmp_path / "score" / path.relative_to(SCORES)).read_text())
        assert made == pytest.approx(json.loads(path.read_text()), rel=1e-12)


@pytest.mark.parametrize("way", ["scores", "files"])
def test_by_default_a_delay_of_nothing_is_not_0(way: str, tmp_path: Path) -> None:
    result = run(tmp_path, **{way: SCORES})
    stored = [json.loads(path.read_text())["avg_first_time_delay"] for path in SCORES.glob("*/*/*_all.json")]
    delays = [value for value in stored if value]
    assert len(delays) == 18
    assert result.value("first_response_delay") == pytest.approx(sum(delays) / 18)
    written = json.loads((tmp_path / "all.json").read_text())
    assert written["First Response Delay"] == 1.698
    assert written["Total Delay"] == 1.755
    assert written["Interruption Total Score"] == 89.7
    assert written["reject"]["Third-party Speech_before"]["avg_first_time_delay"] is None
    said = [f["message"] for f in result.summary["run"]["findings"] if f["check"] == "diagnosis"]
    assert any("18 of 20 files" in text and "1.528" in text and "1.698" in text for text in said)


def test_what_is_rolled_up_from_labels_has_an_interval_and_averages_have_none(tmp_path: Path) -> None:
    from_labels = run(tmp_path / "a", files=SCORES).summary["results"]
    from_averages = run(tmp_path / "b", scores=SCORES).summary["results"]
    for results, there in ((from_labels, True), (from_averages, False)):
        total = next(
            r for r in results if r["metric"] == "interruption_total_score" and r["primary"] and not r["group"]
        )
        assert (total["low"] is not None) is there
        if there:
            assert total["low"] < 89.7 < total["high"]
            assert total["n_scored"] == 1000
        else:
            assert total["interval"] == "none: only the averages of the categories are known"


LEADERBOARD = {
    "Cookie-asr": (79.3, 72.2, 1.260, 79.9, 76.6),
    "Gemini-2.5": (79.8, 36.5, 1.301, 79.0, 62.3),
    "Moshi": (35.4, 22.8, 2.876, 56.3, 34.5),
    "Baseline": (75.9, 35.2, 2.531, 60.0, 56.4),
}


@pytest.mark.parametrize("system", LEADERBOARD)
def test_the_leaderboard_of_the_challenge(system: str) -> None:
    interruption, rejection, delay, scored, total = LEADERBOARD[system]
    score = delay_score({"total_delay": np.array([delay])})
    assert score[0] == pytest.approx(scored, abs=0.0501)
    inputs = {
        "interruption_total_score": np.array([interruption]),
        "rejection_total_score": np.array([rejection]),
        "delay_score": score,
    }
    assert challenge_total(inputs)[0] == pytest.approx(total, abs=0.0501)


# tau-voice


def test_tau_voice_comes_out_under_its_own_names(tmp_path: Path) -> None:
    expected = json.loads((TAU / "expected_metrics.json").read_text())
    counts = expected.pop("counts")
    result = run(tmp_path, profile="tau-voice", recordings=TAU / "experiment")
    for metric, value in {**expected, **counts}.items():
        assert result.value(metric, rollup="pooled") == pytest.approx(value, rel=1e-12), metric
    n_scored = {r["metric"]: r["n_scored"] for r in result.summary["results"] if not r["group"]}
    assert n_scored["response_rate"] == counts["response_total"]
    assert n_scored["yield_rate"] == counts["yield_total"]


def test_by_default_what_was_rightly_ignored_counts_too_and_nothing_else_differs(tmp_path: Path) -> None:
    expected = json.loads((TAU / "expected_metrics.json").read_text())
    result = run(tmp_path, recordings=TAU / "experiment")
    same = {
        "response_latency": "response_latency_mean",
        "stop_latency": "yield_latency_mean",
        "response_rate": "response_rate",
        "yield_rate": "yield_rate",
        "agent_interruption_rate": "agent_interruption_rate",
    }
    for ours, theirs in same.items():
        assert result.value(ours) == pytest.approx(expected[theirs], rel=1e-12), ours
    found = {
        r["output"]: (r["value"], r["n_scored"])
        for r in result.summary["results"]
        if r["metric"] == "selectivity" and r["primary"] and not r["group"]
    }
    assert found["vocal_tic"] == (pytest.approx(2 / 8), 8)
    assert found["non_directed"] == (pytest.approx(2 / 7), 7)
    assert found["backchannel"] == (pytest.approx(1 / 3), 3)


# EVA


def test_the_turns_of_an_eva_record(tmp_path: Path) -> None:
    expected = json.loads((EVA / "expected_processor_context.json").read_text())
    run(tmp_path, recordings=EVA)
    (path,) = (tmp_path / "contexts").iterdir()
    context = json.loads(path.read_text())
    named = {
        "audio_timestamps_assistant_turns",
        "audio_timestamps_user_turns",
        "num_assistant_turns",
        "num_user_turns",
        "latency_assistant_turns",
        "assistant_interrupted_turns",
        "user_interrupted_turns",
    }
    assert {name: context[name] for name in named} == {name: expected[name] for name in named}
