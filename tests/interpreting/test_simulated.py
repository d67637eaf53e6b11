"""Against the simulated interpreter in real time: each fault gets the score that the document's test plan wants."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.live.behaviours import behaviour_named
from turnwise.live.rehearsal import rehearse
from turnwise.live.scenario import load_scenarios

EXAMPLES = Path(__file__).parents[2] / "examples" / "interpreting"
SCENARIOS = ("patient_correction", "doctor_interrupts", "no_barge_in")
BEHAVIOURS = ("good", "slow_cutoff", "mixing", "no_response", "never_stops")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """The document's result of every scenario under every behaviour, all driven side by side."""
    folder = tmp_path_factory.mktemp("simulated")
    scenarios = load_scenarios([EXAMPLES / f"{name}.yaml" for name in SCENARIOS])
    short = [replace(scenario, tail_silence_ms=3500) for scenario in scenarios]

    def played(behaviour: str) -> None:
        rehearse(short, behaviour_named(behaviour), "acs", folder / behaviour, parallel=len(short), timeout_s=30)

    with ThreadPoolExecutor(len(BEHAVIOURS)) as pool:
        list(pool.map(played, BEHAVIOURS))
    found = {}
    for behaviour in BEHAVIOURS:
        out = folder / f"{behaviour}-scores"
        turnwise.evaluate({"captures": folder / behaviour}, suite="interpreting", out=out, metrics=["barge_in"])
        for name in SCENARIOS:
            found[behaviour, name] = json.loads((out / name / "barge_in.json").read_text())
    return found


@pytest.mark.parametrize("scenario", ["patient_correction", "doctor_interrupts"])
@pytest.mark.parametrize(
    ("behaviour", "least", "most"),
    [
        ("good", 90.0, 100.0),
        ("slow_cutoff", 40.0, 70.0),
        ("mixing", 0.0, 29.99),
        ("no_response", 0.0, 30.0),
        ("never_stops", 0.0, 70.0),
    ],
)
def test_a_fault_gets_the_score_it_should(
    results: dict[tuple[str, str], dict[str, Any]], scenario: str, behaviour: str, least: float, most: float
) -> None:
    found = results[behaviour, scenario]
    assert found["details"]["barge_in_count"] == 1
    assert least <= found["score"] <= most
    (pair,) = found["details"]["turns"]
    assert pair["attribution"] == "id"
    assert pair["kind"] == ("self_correction" if scenario == "patient_correction" else "interruption")


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_without_a_barge_in_there_is_nothing_to_score(
    results: dict[tuple[str, str], dict[str, Any]], behaviour: str
) -> None:
    assert results[behaviour, "no_barge_in"] == {
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
