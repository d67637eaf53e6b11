"""The stored captures of the examples: scored without a server, as the scenarios' faults deserve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import turnwise

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "examples" / "interpreting" / "captures"
SCHEMA = json.loads((ROOT / "docs" / "capture.schema.json").read_text())
SCENARIOS = {path.stem for path in (ROOT / "examples" / "interpreting").glob("*.yaml")}
WITH_BARGE_IN = {"patient_correction", "doctor_interrupts"}


def results(version: str, out: Path) -> dict[str, dict[str, Any]]:
    turnwise.evaluate({"captures": CAPTURES / version}, suite="interpreting", metrics=["barge_in"], out=out)
    return {path.parent.name: json.loads(path.read_text()) for path in out.glob("*/barge_in.json")}


@pytest.mark.parametrize(("version", "least", "most"), [("version-1", 40, 70), ("version-2", 90, 100)])
def test_each_version_scores_as_it_behaves(version: str, least: float, most: float, tmp_path: Path) -> None:
    found = results(version, tmp_path)
    assert set(found) == SCENARIOS
    for name, result in found.items():
        if name in WITH_BARGE_IN:
            assert least < result["score"] < most
        else:
            assert (result["score"], result["reason"]) == (None, "No barge-in turns found in scenario")


def test_the_captures_are_as_the_schema_says() -> None:
    events = {**SCHEMA, "$ref": "#/$defs/event"}
    for folder in sorted(CAPTURES.glob("*/*")):
        jsonschema.validate(json.loads((folder / "capture.json").read_text()), SCHEMA)
        for line in (folder / "events.jsonl").read_text().splitlines()[:50]:
            jsonschema.validate(json.loads(line), events)


def test_the_second_version_stops_sooner(tmp_path: Path) -> None:
    cutoffs = [
        turnwise.evaluate({"captures": CAPTURES / version}, suite="interpreting", metrics=["cutoff_latency"]).value(
            "cutoff_latency", "mean", "value"
        )
        for version in ("version-1", "version-2")
    ]
    assert cutoffs == pytest.approx([2500, 200], abs=100)  # what the simulated interpreter was told to do
